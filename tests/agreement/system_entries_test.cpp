// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/agreement/request.hpp"
#include "tests/support/agreement/training.hpp"
#include "workloads/mapping/system/row_program.hpp"

namespace lacuna::test {
namespace {

using system::Held;
using system::MemoryAccount;
using system::Use;
using system::Way;

std::uint64_t all_of(const system::TimeStack& stack) {
  return std::accumulate(stack.begin(), stack.end(), std::uint64_t{0});
}

std::uint64_t held(const TrainingResult& result, Held what) {
  std::uint64_t sum = 0;
  for (const MemoryAccount& account : result.memory) sum += account.use.of(what);
  return sum;
}

/// Draws layouts until one goes.
SmallTraining drawn(Random& random) {
  for (;;) {
    SmallTraining training(random);
    if (training.refusal().empty()) return training;
  }
}

TEST(SystemEntries, TimeStackAndJoulesAreTheSumsOfTheEntries) {
  for_each_draw([](Random& random) {
    const SmallTraining training = drawn(random);
    const TrainingResult result = training.run();
    EXPECT_EQ(all_of(result.run.stack()), result.run.ns * result.run.chips.size());
    std::uint64_t ns = 0;
    double joules = 0;
    for (const system::Repeat& repeat : result.program.order) {
      ns += result.run.segments[repeat.segment].ns * repeat.times;
      joules += result.program.segments[repeat.segment].joules.nominal *
                static_cast<double>(repeat.times);
    }
    EXPECT_EQ(ns, result.run.ns);
    EXPECT_NEAR(result.energy.work().nominal, joules, 1e-12 * joules);
    joules = 0;
    for (const SystemEnergyPart& part : result.energy.parts) joules += part.joules.nominal;
    EXPECT_NEAR(result.energy.total().nominal, joules, 1e-12 * joules);
  });
}

// The mean of the power, over the segments' time, is that of the step; the most of the memory over
// time is what the account says.
TEST(SystemEntries, PowerAndMemoryOverTimeAreThoseOfTheStep) {
  for_each_draw([](Random& random) {
    SmallTraining training = drawn(random);
    training.set("training.schedule=grouped");  // turns of 1f1b depend on times
    if (!training.refusal().empty()) return;
    const TrainingResult result = training.run();
    const unsigned places = training.training.pipeline;
    const auto memory = memory_over(result.program, places);
    std::vector<std::uint64_t> most(places);
    double joules = 0;
    for (std::size_t i = 0; i < result.program.order.size(); ++i) {
      const system::Repeat& repeat = result.program.order[i];
      const auto ns = result.run.segments[repeat.segment].ns * repeat.times;
      joules += result.watts.at(i) * static_cast<double>(ns) * 1e-9;
      for (unsigned place = 0; place < places; ++place) {
        most[place] = std::max(most[place], memory[i][place].total());
      }
    }
    EXPECT_NEAR(joules, result.energy.total().nominal, 1e-9 * joules);
    for (const MemoryAccount& account : result.memory) {
      EXPECT_LE(account.use.total(), most[account.chip]);
    }
  });
}

TEST(SystemEntries, WhatOnlyTakesLongerTakesNoFewerJoules) {
  for_each_draw([](Random& random) {
    SmallTraining training = drawn(random);
    const TrainingResult quick = training.run();
    const std::vector<std::string> slower = {"gateway.update_ms=0.1", "links.link_gbps=2",
                                             "gateway.ddr_gbps=1", "links.hop_ns=500"};
    const TrainingResult slow = training.set(slower[random.bounded(slower.size())]).run();
    EXPECT_GE(slow.run.ns, quick.run.ns);
    EXPECT_GE(slow.energy.total().nominal, quick.energy.total().nominal * (1 - 1e-12));
    EXPECT_EQ(slow.energy.work().nominal, quick.energy.work().nominal);
  });
}

// Sizes alone are enough for the account; the program that runs holds the same.
TEST(SystemEntries, TheAccountBeforeARunIsThatOfTheRun) {
  for_each_draw([](Random& random) {
    SmallTraining training = drawn(random);
    training.set("training.schedule=grouped");
    if (!training.refusal().empty()) return;
    const TrainingResult result = training.run();
    const std::vector<MemoryAccount> read =
        memory_of(result.program, training.training.pipeline.value(), 0).chips;
    const std::vector<MemoryAccount> before = training.account().memory;
    ASSERT_EQ(before.size(), read.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(before[i].use.bytes, read[i].use.bytes);
    }
  });
}

// With one chip for each matrix all that moves over links are numbers of the type of the trace.
TEST(SystemEntries, TwiceTheBytesOfATypeAreTwiceTheBytesOfMemoryLinksAndStreams) {
  for_each_draw([](Random& random) {
    SmallTraining training(random);
    training.set("training.tensor=1").set("training.recipe=plain").set("training.optimizer=sgd");
    if (!training.refusal().empty()) return;
    const TrainingResult half = training.run();
    training.set("training.dtype=fp32");
    if (!training.refusal().empty()) return;
    const TrainingResult whole = training.run();
    for (const Held what : {Held::weights, Held::gradients, Held::activations}) {
      EXPECT_EQ(held(whole, what), 2 * held(half, what)) << system::kHeldNames[what];
    }
    for (const Way way : {Way::links, Way::load, Way::store}) {
      EXPECT_NEAR(static_cast<double>(bytes_of(whole.program, way)),
                  2.0 * static_cast<double>(bytes_of(half.program, way)), 4096)
          << "parts of a collective and of a stream are rounded";
    }
  });
}

// Without other chips in a replica all that comes over links in a step are gathered weights.
TEST(SystemEntries, WhatIsGatheredHasItsPlace) {
  for_each_draw([](Random& random) {
    SmallTraining training(random);
    for (const char* const word : {"pipeline=1", "head_stage=0", "tensor=1", "replicas=2", "rts=2",
                                   "phases=1", "activations=recomputed"}) {
      training.set(std::string("training.") + word);
    }
    if (!training.refusal().empty()) return;
    const system::Program program = training.run().program;
    for (const system::Segment& segment : program.segments) {
      if (segment.name != "pipeline step" && segment.name != "one forward, one backward") continue;
      std::uint64_t comes = 0;
      std::uint64_t placed = 0;
      for (const system::Transfer& transfer : segment.transfers) {
        if (transfer.way == Way::links && transfer.to == 0) comes += transfer.bytes;
      }
      for (const system::Holding& entry : segment.memory) {
        const bool taken = entry.what == Held::weights && entry.bytes > 0;
        if (taken) placed += static_cast<std::uint64_t>(entry.bytes);
      }
      EXPECT_GT(placed, 0U);
      EXPECT_NEAR(static_cast<double>(comes), static_cast<double>(placed), 64);
    }
  });
}

// A model on one chip, and the rows of its step as those of a trace: each matrix has one place, and
// what a micro-batch keeps is the same. The model's account goes block by block, the trace's row by
// row: an input of a block is there a row longer or shorter.
TEST(SystemEntries, RowsOfATraceHoldWhatTheirModelHolds) {
  std::uint64_t compared = 0;
  for_each_draw([&](Random& random) {
    SmallTraining training(random);
    for (const char* const word :
         {"pipeline=1", "head_stage=0", "tensor=1", "replicas=1", "rts=1", "rts_state=1",
          "phases=1", "io_tiles=0", "accumulation=1", "state=chip", "activations=stored"}) {
      training.set(std::string("training.") + word);
    }
    training.set("training.model_layers=" + std::to_string(1 + random.bounded(2)));
    if (!training.refusal().empty()) return;
    const system::MemoryUse model = training.account().memory.at(0).use;
    system::RowLoop loop;
    loop.code_bytes = model.of(Held::code);
    loop.buffer_bytes = model.of(Held::buffers);
    const WorkloadTrace rows = model_trace(training.training, layers_of(training.training), false);
    const system::MemoryUse use = memory_of(row_entries(rows.ops, loop), 1, 0).chips.at(0).use;
    for (const Held what :
         {Held::weights, Held::gradients, Held::state, Held::code, Held::buffers}) {
      EXPECT_EQ(use.of(what), model.of(what)) << system::kHeldNames[what];
    }
    const auto at_work = [](const system::MemoryUse& of) {
      return static_cast<double>(of.of(Held::activations) + of.of(Held::working));
    };
    EXPECT_NEAR(at_work(use), at_work(model), 0.1 * at_work(model));
    ++compared;
  });
  EXPECT_GE(2 * compared, draws());
}

TEST(SystemEntries, TheAdviceOfARefusalRuns) {
  for_each_draw([](Random& random) {
    SmallTraining training(random);
    training.set("chip.tile.memory.kib=" + std::to_string(97 + random.bounded(60)));
    if (training.refusal().find(" of a replica needs ") == std::string::npos) return;
    const std::string advice = training.advice();
    const std::size_t at = advice.find("--set");
    if (at == std::string::npos) return;
    training.set_all(advice.substr(at));
    EXPECT_EQ(training.refusal(), "") << advice;
    EXPECT_GT(training.run().run.ns, 0U);
  });
}

}  // namespace
}  // namespace lacuna::test
