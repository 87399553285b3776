// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/driver/system/report.hpp"
#include "tests/support/agreement/training.hpp"
#include "tests/support/system/collective_bytes.hpp"

namespace lacuna::test {
namespace {

using system::Held;
using system::Use;
using system::Way;

SmallTraining base(unsigned layers) {
  SmallTraining training;
  for (const char* const word : {"model=bert-base", "tokens=128", "predictions=20",
                                 "state=streaming", "optimizer=adam", "micro_batch=8"}) {
    training.set(std::string("training.") + word);
  }
  training.set("chip.ipu.tiles=1472").set("training.model_layers=" + std::to_string(layers));
  return training;
}

// 30 layers of BERT-Base have 7,087,872 weights each, the ends 23,837,184 (tables, norm) and
// 1,183,490 (transformations, norm of the head): 237,656,834 halves. A step gathers all of them.
TEST(SystemLedger, GatheredWeightsTakeAsMuchMemoryAsOwnOnes) {
  SmallTraining training = base(30).set("training.replicas=4").set("training.rts=4");
  const system::MemoryUse use = training.account().memory.at(0).use;
  EXPECT_EQ(use.of(Held::weights), use.of(Held::gradients));
  EXPECT_NEAR(static_cast<double>(use.of(Held::weights)), 475e6, 1e6);
  EXPECT_NE(training.refusal(), "");
}

TEST(SystemLedger, NineteenLayersFitWithSharedWeightsIfAndOnlyIfTheyFitWithOwnOnes) {
  SmallTraining training = base(19).set("training.replicas=4").set("training.micro_batch=32");
  const bool own = training.refusal().empty();
  EXPECT_EQ(training.set("training.rts=4").refusal().empty(), own);
}

// A block's matrices have a master copy of 4 B for each weight, beside Adam's 8.
TEST(SystemLedger, ARecipeSaysTheTypesOfWeightsGradientsAndState) {
  const auto use = [](const char* recipe, const char* dtype) {
    SmallTraining training;
    training.set(std::string("training.recipe=") + recipe)
        .set(std::string("training.dtype=") + dtype)
        .set("training.optimizer=adam");
    return training.account().memory.at(0).use;
  };
  const system::MemoryUse mixed = use("ipu-mixed", "fp16");
  const system::MemoryUse single = use("plain", "fp32");
  for (const Held what : {Held::weights, Held::gradients, Held::activations}) {
    EXPECT_EQ(single.of(what), 2 * mixed.of(what)) << system::kHeldNames[what];
  }
  EXPECT_EQ(single.of(Held::state), mixed.of(Held::state));
  // two layers of 4 x 128^2 + 2 x 128 x 512, tables of 30,522 + 512 + 2 rows, two head matrices
  const std::uint64_t matrices =
      2 * (4 * 128 * 128 + 2 * 128 * 512) + (30522 + 512 + 2) * 128 + 2 * 128 * 128 + 2 * 128;
  EXPECT_EQ(use("conventional", "fp16").of(Held::state), mixed.of(Held::state) + 4 * matrices);
  EXPECT_EQ(use("unit-scaling", "fp16").of(Held::weights), 2 * mixed.of(Held::weights));
}

// Llama 2's head has a table of its own: 32,000 x 4,096 halves over 4 chips are 65,536,000 B, and
// the last of four stages has as many layers as the second.
TEST(SystemLedger, AnUntiedHeadHasItsOwnTableAlone) {
  SmallTraining training;
  for (const char* const word :
       {"model=llama2-7b", "model_layers=4", "tokens=512", "predictions=0", "micro_batch=1",
        "accumulation=8", "tensor=4", "pipeline=4", "head_stage=3", "optimizer=adam",
        "state=streaming", "head_parts=4"}) {
    training.set(std::string("training.") + word);
  }
  training.set("chip.ipu.tiles=1472");
  const TrainingResult result = training.account();
  const auto weights = [&](std::size_t place) {
    return result.memory.at(place).use.of(Held::weights);
  };
  EXPECT_EQ(weights(3), weights(1) + 65'536'000 + 4096 * 2);  // with the norm before the head
  EXPECT_NEAR(static_cast<double>(weights(3)), 166.7e6, 0.1e6);
}

// 192 tiles, 184 of which work: what they hold is in 184 tiles, and the other 8 draw as much as
// waiting ones all the time.
TEST(SystemLedger, TilesForTransfersDrawPowerAndHoldNothing) {
  SmallTraining training;
  const TrainingResult all = training.run();
  const TrainingResult apart = training.set("training.io_tiles=8").run();
  EXPECT_EQ(apart.memory.at(0).capacity, all.memory.at(0).capacity / 192 * 184);
  const TrainingResult slow = training.set("gateway.update_ms=1000").run();
  const SmallTraining waits = SmallTraining().set("gateway.update_ms=1000");
  const auto watts = [](const TrainingResult& of) {
    return of.energy.total().nominal / of.seconds();
  };
  EXPECT_NEAR(watts(slow), watts(waits.run()), 0.001 * watts(slow));
}

TEST(SystemLedger, APatternUpdateIsInTimeStackAndJoules) {
  SmallTraining training;
  training.set("training.pattern=block16:0.5").set("training.mode=dynamic");
  const TrainingResult stays = training.run();
  const TrainingResult changes = training.set("training.pattern_every=1").run();
  const TrainingResult rarely = training.set("training.pattern_every=10").run();
  EXPECT_GT(changes.run.ns, stays.run.ns);
  EXPECT_GT(changes.energy.total().nominal, stays.energy.total().nominal);
  std::uint64_t ns = 0;
  for (const std::uint64_t each : rarely.run.stack()) ns += each;
  EXPECT_EQ(ns, rarely.run.ns * rarely.run.chips.size());
  EXPECT_NEAR(static_cast<double>(rarely.run.ns - stays.run.ns),
              static_cast<double>(changes.run.ns - stays.run.ns) / 10, 1);
}

// The table of BERT-Tiny has 30,522 x 128 halves. Two chips that both have it send each other half
// of it twice to have the sum of both gradients: one time all of it each.
TEST(SystemLedger, ATableOnTwoChipsHasTheSumOfBothGradients) {
  const auto links = [](const char* head) {
    SmallTraining training;
    training.set("training.pipeline=2").set("training.layers=1-1").set("training.state=chip");
    training.set(std::string("training.head_stage=") + head);
    const TrainingResult result = training.run();
    std::uint64_t bytes = 0;
    for (const system::Segment& segment : result.program.segments) {
      if (segment.name != "reduce gradients") continue;
      for (const system::Transfer& transfer : segment.transfers) bytes += transfer.bytes;
    }
    return bytes;
  };
  const std::uint64_t table = 2 * 30522 * 128;
  EXPECT_EQ(links("0"), 0U);
  EXPECT_EQ(links("1"), collective_bytes(system::Collective::all_reduce, table, 2));
}

// Four chips of equal blocks, the ends small beside them: (p - 1) / (m + p - 1) of the time is
// bubble, whatever the schedule, and chips that take part in nothing are unused.
TEST(SystemLedger, BubbleIsThatOfTheoryAndUnusedChipsAreUnused) {
  for (const char* const schedule : {"grouped", "1f1b"}) {
    for (const unsigned m : {8U, 16U, 64U}) {
      SmallTraining training;
      training.set("training.model=bert-base").set("training.model_layers=32");
      training.set("training.tokens=128").set("training.pipeline=4").set("training.head_stage=3");
      training.set("training.optimizer=sgd").set("training.state=chip");
      training.set("chip.ipu.tiles=1472").set("gateway.update_ms=0");
      training.set("training.accumulation=" + std::to_string(m));
      training.set(std::string("training.schedule=") + schedule);
      const TrainingResult result = training.run();
      const system::TimeStack stack = result.run.stack();
      const double all = static_cast<double>(result.run.ns) * 4;
      const double theory = 3.0 / (m + 3.0);
      const double bubble = static_cast<double>(stack[static_cast<std::size_t>(Use::bubble)]) / all;
      EXPECT_NEAR(bubble, theory, 0.15 * theory) << schedule << " " << m;
      EXPECT_EQ(stack[static_cast<std::size_t>(Use::unused)], result.run.ns * 12);
    }
  }
}

/// TransE with vectors of 64 numbers in FP32, updated by Adam.
SmallTraining embeddings(const std::string& entities) {
  return SmallTraining().set(
      "training.rows=kge score=transe width=64 relations=10 positives=8 "
      "optimizer=adamw entities=" +
      entities);
}

// 1,010 vectors of 64 numbers, of 4 B in FP32 as their gradients, and 8 B of state. With 20 times
// as many entities 20.5 MB are more than 192 tiles of 100 KiB have.
TEST(SystemLedger, RowsOfATraceHaveAnAccountAndARoom) {
  SmallTraining rows = embeddings("1000");
  const system::MemoryUse use = rows.run().memory.at(0).use;
  const std::uint64_t numbers = 1010 * 64;
  EXPECT_EQ(use.of(Held::weights), 4 * numbers);
  EXPECT_EQ(use.of(Held::gradients), 4 * numbers);
  EXPECT_EQ(use.of(Held::state), 8 * numbers);
  SmallTraining large = embeddings("20000");
  EXPECT_GT(large.run().run.ns, 0U);
  large.set("chip.tile.memory.kib=100");
  EXPECT_THROW(large.run(), OutOfMemoryError);
}

// Activations of a stored pass do not fit; recomputing them does, before they go elsewhere.
TEST(SystemLedger, WhatIsNearestIsWhatNeedsLeastElse) {
  SmallTraining training = base(12).set("training.micro_batch=64");
  training.set("training.activations=stored").set("training.state=streaming");
  ASSERT_NE(training.refusal(), "");
  EXPECT_NE(training.advice().find("--set training.activations=recomputed"), std::string::npos)
      << training.advice();
  SmallTraining no_room = base(2);
  no_room.set("gateway.ddr_gb=0.001");
  ASSERT_NE(no_room.refusal(), "");
  EXPECT_NE(no_room.advice().find("--set training.state=chip"), std::string::npos)
      << no_room.advice();
}

TEST(SystemLedger, AnIntervalIsOfLayoutsAndRecipesLikeThePublishedOnes) {
  system::TrainingParams training;
  for (const std::string& file : shipped_trainings()) {
    if (file.find("bert_large_mlperf_v1_0_pod16.yaml") != std::string::npos) {
      training = read_training(file, {});
    }
  }
  const SystemMachine machine = make_system("pod16", {});
  EXPECT_TRUE(errors_of(machine, training).has_value());
  for (const char* const word : {"recipe=plain", "tokens=128", "activations=stored", "tensor=2",
                                 "accumulation=8192", "optimizer=sgd", "model_layers=12"}) {
    system::TrainingParams other = training;
    const std::string text = word;
    other.set(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    EXPECT_FALSE(errors_of(machine, other).has_value()) << word;
  }
}

}  // namespace
}  // namespace lacuna::test
