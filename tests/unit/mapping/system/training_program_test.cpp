// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/system/simulation.hpp"
#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"

namespace lacuna {
namespace {

using system::Held;
using system::ModelParts;
using system::Part;
using system::PartCost;
using system::Stage;
using system::Stages;
using system::SystemParams;
using system::TrainingParams;
using system::Use;

TrainingParams bert(unsigned pipeline, const char* layers) {
  TrainingParams training;
  training.pipeline = pipeline;
  training.set("layers", layers);
  return training;
}

std::string text(const Stages& stages) {
  std::string all;
  for (const Stage& stage : stages) {
    all += std::to_string(stage.chip) + ":" + (stage.embedding ? "E" : "") +
           std::to_string(stage.attention) + "+" + std::to_string(stage.ffn) +
           (stage.head ? "H " : " ");
  }
  return all;
}

TEST(Stages, TheHeadOfBertEndsThePipelineOnTheChipThatBeganIt) {
  const std::vector<Stages> phases = stages_of(bert(4, "3-7-7-7"), 24);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(text(phases[0]), "0:E3+3 1:7+7 2:7+7 3:7+7 0:0+0H ");
}

TEST(Stages, WhatTheListsLeaveOverIsWhereTheHeadIs) {
  TrainingParams training;
  training.pipeline = 2;
  training.set("attention", "0-12");
  training.set("ffn", "0-11");
  EXPECT_EQ(text(stages_of(training, 12)[0]), "0:E0+0 1:12+11 0:0+1H ");
}

TEST(Stages, PhasesShareTheBlocksEvenlyAndInOrder) {
  TrainingParams training;
  training.pipeline = 2;
  training.phases = 2;
  const std::vector<Stages> phases = stages_of(training, 4);
  ASSERT_EQ(phases.size(), 4U);
  EXPECT_EQ(text(phases[0]), "0:E0+0 ");
  EXPECT_EQ(text(phases[1]), "0:1+1 1:1+1 ");
  EXPECT_EQ(text(phases[2]), "0:1+1 1:1+1 ");
  EXPECT_EQ(text(phases[3]), "0:0+0H ");
}

TEST(Stages, MoreLayersThanTheModelHasAreRefused) {
  EXPECT_THROW(stages_of(bert(2, "12-13"), 24), ParameterError);
  EXPECT_THROW(stages_of(bert(3, "12-12"), 24), ParameterError);
  EXPECT_THROW(stages_of(bert(2, "12-twelve"), 24), ParameterError);
}

/// A step with costs of round numbers: a block takes 1000 cycles forward and 2000 backward, of
/// 1 GHz, and nothing else costs anything.
class Steps {
 public:
  explicit Steps(TrainingParams training) : training_(std::move(training)) {
    machine_.machines = 4;
    machine_.gateway.update_ms = 0;
    model_.layers = 4;
    model_.boundary_bytes = 100;
    PartCost block;
    block.forward.cycles = 1000;
    block.backward.cycles = 2000;
    block.trained = {1'000'000, 2'000'000, 2'000'000, 8'000'000};
    costs_.resize(training_.pipeline);
    for (auto& chip : costs_) {
      chip[static_cast<std::size_t>(Part::attention)] = block;
      chip[static_cast<std::size_t>(Part::ffn)] = block;
    }
    phases_ = stages_of(training_, model_.layers);
  }

  system::TrainingStep step() const {
    return {machine_, training_, model_, phases_, costs_, 1.0, 0};
  }

  system::ProgramResult run() const {
    return run_program(machine_, system::Fabric(machine_), training_program(step()), {});
  }

  std::uint64_t mean(Use use) const {
    const auto result = run();
    return result.stack()[static_cast<std::size_t>(use)];
  }

  SystemParams machine_;
  TrainingParams training_;
  ModelParts model_;
  system::ChipCosts costs_;
  std::vector<Stages> phases_;
};

std::vector<system::MemoryAccount> chips_of(const Steps& steps) {
  return training_memory(steps.step(), 1U << 30U).chips;
}

std::uint64_t streaming_bytes(const Steps& steps) {
  return training_memory(steps.step(), 1U << 30U).streaming.bytes;
}

TrainingParams small_training(unsigned pipeline, unsigned accumulation) {
  TrainingParams training;
  training.pipeline = pipeline;
  training.accumulation = accumulation;
  training.head_stage = pipeline - 1;
  return training;
}

// Four stages of two blocks, all of them 2 x 1000 forward, as long again, and 2 x 2000 backward:
// every chip works 8000 ns for each of 10 micro-batches whatever the schedule.
TEST(TrainingProgram, EveryStageWorksOnEveryMicroBatchOnce) {
  for (const char* const schedule : {"grouped", "sequential", "1f1b"}) {
    TrainingParams training = small_training(4, 10);
    training.set("schedule", schedule);
    const Steps steps(training);
    EXPECT_EQ(steps.mean(Use::forward), 4U * 10 * 2000);
    EXPECT_EQ(steps.mean(Use::recompute), 4U * 10 * 2000);
    EXPECT_EQ(steps.mean(Use::backward), 4U * 10 * 4000);
  }
}

// GA + 2 (p - 1) steps, of which p - 1 are forward only and p - 1 backward only: the sum of the
// steps' work is (GA + p - 1) (F + B), as long as the last step of the ramp has both; what lies
// beside it are transfers and barriers, well below 1 us a step.
TEST(TrainingProgram, ABalancedPipelineTakesItsClosedForm) {
  TrainingParams training = small_training(4, 10);
  training.tokens = 1;  // of which little comes from the host
  Steps steps(training);
  steps.machine_.gateway.host_ns = 1;
  steps.machine_.gateway.pcie_ns = 1;
  const std::uint64_t work = (10 + 3) * 8000;
  const std::uint64_t ns = steps.run().ns;
  EXPECT_GT(ns, work);
  EXPECT_LT(ns, work + (10 + 2 * 3 + 3) * 1000);
}

// Without common steps too a balanced pipeline takes (GA + p - 1) (F + B) and its transfers: with p
// micro-batches under way each of 10 waits for a 4th of the 6 transfers there and back, below 1 us.
TEST(TrainingProgram, APipelineWithoutCommonStepsTakesTheSameClosedForm) {
  TrainingParams training = small_training(4, 10);
  training.set("schedule", "1f1b");
  training.tokens = 1;
  Steps steps(training);
  steps.machine_.gateway.host_ns = 1;
  steps.machine_.gateway.pcie_ns = 1;
  const std::uint64_t work = (10 + 3) * 8000;
  const std::uint64_t ns = steps.run().ns;
  EXPECT_GT(ns, work);
  EXPECT_LT(ns, work + (6 * 10 / 4 + 6 + 3) * 1000);
}

std::uint64_t sent_bytes(const system::Program& program) {
  std::uint64_t bytes = 0;
  for (const system::Repeat& repeat : program.order) {
    for (const system::Transfer& transfer : program.segments[repeat.segment].transfers) {
      if (transfer.way == system::Way::links) bytes += transfer.bytes * repeat.times;
    }
  }
  return bytes;
}

// Four stages of 2 blocks, each pair of chips sends an all-reduce of B bytes once there and once
// back, 2 x 1 x B. A micro-batch has 8 blocks with 3 passes, of 100 bytes; the table's sum,
// forward; and logits in two parts: 3 numbers of 10 bytes forward, a gradient of 60 bytes backward.
// Between stages each of two chips sends its half, and the receivers give them to each other: 3
// boundaries, two ways, 100 bytes and 100 more. All of it whatever the order of steps.
TEST(TrainingProgram, ChipsThatShareMatricesReduceOnceForEachBlockAndPass) {
  for (const char* const schedule : {"grouped", "sequential", "1f1b"}) {
    TrainingParams training = small_training(4, 4);
    training.tensor = 2;
    training.set("schedule", schedule);
    Steps steps(training);
    steps.model_.logits = {2, 60, 10};
    const std::uint64_t blocks = 8U * 3 * 200;
    const std::uint64_t ends = 200 + 2 * (3 * 20 + 120);
    const std::uint64_t boundaries = 3U * 2 * (100 + 100);
    EXPECT_EQ(sent_bytes(training_program(steps.step())), 4 * (blocks + ends + boundaries));
  }
}

TEST(TrainingProgram, ChipsThatShareTheSequenceGatherOperandsOfTheBackwardPassOnceMore) {
  for (const char* const schedule : {"grouped", "1f1b"}) {
    TrainingParams training = small_training(4, 4);
    training.tensor = 2;
    training.share_sequence = true;
    training.set("schedule", schedule);
    const Steps steps(training);
    const std::uint64_t blocks = 8U * 3 * 200 + 200;
    const std::uint64_t boundaries = 3U * 2 * 100;  // halves stay halves
    const std::uint64_t gathers = 8 * 100;          // of two chips: 1 x 100 bytes
    EXPECT_EQ(sent_bytes(training_program(steps.step())), 4 * (blocks + boundaries + gathers));
  }
}

// 2 x 2 chips, 4 layers, one micro-batch, 3 passes. Attention, 12 times in two groups of two chips:
// the sum of 300 / 2 bytes to both, 2 (2 - 1) x 150, and a gather of 100 / 2. Feed-forward
// likewise: shares of 400 / 2, 1 x 200, and a gather of 200. Each of 24 blocks: the sum of 100 / 2
// over rows, and one norm with 40 bytes over columns. All four: the embedding's sum, 2 (4 - 1) x
// 100; of the logits in two parts 3 numbers of 12 bytes and a gradient of 60. Both ends take all
// features: a gather of 60 bytes for each part, and of 100.
TEST(TrainingProgram, AMatrixCutInTwoDimensionsIsSummedOverRowsAndColumns) {
  for (const char* const schedule : {"grouped", "1f1b"}) {
    TrainingParams training = small_training(1, 1);
    training.tensor = 4;
    training.tensor_columns = 2;
    training.set("schedule", schedule);
    Steps steps(training);
    steps.model_.first_bytes = {0, 300, 400, 0};
    steps.model_.last_bytes = {0, 100, 400, 0};
    steps.model_.norms = {{{{0, 0}, {1, 40}, {1, 40}, {0, 0}}}};
    steps.model_.logits = {2, 60, 12};
    const std::uint64_t attention = 12U * 2 * (2 * 150 + 50);
    const std::uint64_t ffn = 12U * 2 * (200 + 200);
    const std::uint64_t blocks = 24U * 2 * (2 * 50);
    const std::uint64_t norms = 24U * 2 * (2 * 40);
    const std::uint64_t ends = 6U * (100 + 2 * (3 * 12 + 60)) + 2U * (2 * 60 + 100);
    EXPECT_EQ(sent_bytes(training_program(steps.step())), attention + ffn + blocks + norms + ends);
  }
}

// The same on 4 x 2 chips: a first product's rows over four, so a quarter of its results in four
// groups of two; a block's 160 / 2 bytes over two groups of four, 2 (4 - 1) x 80.
TEST(TrainingProgram, RowsAndColumnsOfAMatrixAreNotTheSame) {
  TrainingParams training = small_training(1, 1);
  training.tensor = 8;
  training.tensor_columns = 2;
  Steps steps(training);
  steps.model_.boundary_bytes = 160;
  steps.model_.first_bytes = {0, 320, 400, 0};
  steps.model_.last_bytes = {0, 160, 800, 0};
  steps.model_.norms = {{{{0, 0}, {1, 40}, {1, 40}, {0, 0}}}};
  steps.model_.logits = {2, 64, 16};
  const std::uint64_t attention = 12U * 4 * (2 * 80 + 40);
  const std::uint64_t ffn = 12U * 4 * (100 + 200);
  const std::uint64_t blocks = 24U * 2 * (6 * 80);
  const std::uint64_t norms = 24U * 4 * (2 * 40);
  const std::uint64_t ends = 14U * (160 + 2 * (3 * 16 + 64)) + 4U * (2 * 64 + 160);
  EXPECT_EQ(sent_bytes(training_program(steps.step())), attention + ffn + blocks + norms + ends);
}

// Two stages of 4 x 2 chips. The four chips of a row group have the same columns of what comes in,
// and give it to each other: between two stages each of eight sends an eighth of 160 bytes, and the
// two groups need 160 / 2 each, 3 x 80, in each direction.
TEST(TrainingProgram, AStageGathersTheInputOfItsColumnsFromItsRows) {
  const auto sent = [](unsigned pipeline) {
    TrainingParams training = small_training(pipeline, 1);
    training.tensor = 8;
    training.tensor_columns = 2;
    Steps steps(training);
    steps.model_.boundary_bytes = 160;
    return sent_bytes(training_program(steps.step()));
  };
  EXPECT_EQ(sent(2) - sent(1), 2U * (160 + 2 * 240));
}

// Embedding, two phases of blocks and the head are there, forward, before any is updated; then each
// is, in the order of the backward pass.
TEST(TrainingProgram, PhasesAreUpdatedOnTheWayBack) {
  TrainingParams training = small_training(1, 4);
  training.phases = 2;
  const system::Program program = training_program(Steps(training).step());
  std::string order;
  for (const system::Repeat& repeat : program.order) {
    const std::string& name = program.segments[repeat.segment].name;
    if (name == "load weights") order += "L";
    if (name == "update") order += "U";
  }
  EXPECT_EQ(order, "LLLLULULULU");
}

// 24 passes through a block, each with so many norms; each norm takes the same: two steps of a ring
// of two chips, which begin with a barrier.
TEST(TrainingProgram, NormsOverSharedFeaturesTakeTheirTime) {
  const auto ns = [](unsigned norms) {
    TrainingParams training = small_training(1, 1);
    training.tensor = 4;
    training.tensor_columns = 2;
    Steps steps(training);
    steps.model_.norms = {{{{0, 0}, {norms, 4096}, {norms, 4096}, {0, 0}}}};
    return steps.run().ns;
  };
  const std::uint64_t none = ns(0);
  const std::uint64_t one = ns(1);
  EXPECT_GE(one - none, 24U * 2 * SystemParams().sync_ns(2));
  EXPECT_EQ(ns(2) - one, one - none);
}

TEST(TrainingParams, ColumnsAreAPartOfTheChipsThatShareAMatrix) {
  TrainingParams training;
  training.tensor = 8;
  training.tensor_columns = 4;
  EXPECT_EQ(training.tensor_rows(), 2U);
  EXPECT_NO_THROW(training.check());
  training.tensor_columns = 3;
  EXPECT_THROW(training.check(), ParameterError);
}

// In phases all that is streamed is so whenever it comes; a stream is cut into the steps of a pass,
// 8 without a ramp, and its last bytes are rounded up.
TEST(TrainingProgram, WhatStreamsInTheBackgroundIsTheSameAndNotWaitedFor) {
  const auto steps_with = [](const char* prefetch) {
    TrainingParams training = small_training(1, 8);
    training.phases = 2;
    training.io_tiles = 64;
    training.set("prefetch", prefetch);
    Steps steps(training);
    for (auto& chip : steps.costs_) {  // 8 ms for 16 MB of weights
      for (PartCost& part : chip) {
        part.forward.cycles *= 1000;
        part.backward.cycles *= 1000;
      }
    }
    return steps;
  };
  const auto streamed = [](const system::ProgramResult& run, const SystemParams& machine) {
    const system::Fabric fabric(machine);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < run.bytes.size(); ++i) {
      if (fabric.resources()[i].kind == system::ResourceKind::ddr) bytes += run.bytes[i];
    }
    return bytes;
  };
  const auto waits = [](const system::ProgramResult& run) {
    return run.stack()[static_cast<std::size_t>(Use::streaming)];
  };
  const Steps none = steps_with("none");
  const Steps weights = steps_with("weights");
  const Steps all = steps_with("all");
  const std::uint64_t bytes = streamed(none.run(), none.machine_);
  EXPECT_GE(streamed(weights.run(), weights.machine_), bytes);
  EXPECT_LT(streamed(weights.run(), weights.machine_), bytes + 64);
  EXPECT_GE(streamed(all.run(), all.machine_), bytes);
  EXPECT_LT(streamed(all.run(), all.machine_), bytes + 128);
  EXPECT_LT(waits(weights.run()), waits(none.run()));
  EXPECT_LT(waits(all.run()), waits(weights.run()) / 2);
}

TEST(TrainingProgram, ASequentialScheduleHasOneStageAtWork) {
  TrainingParams training = small_training(4, 10);
  training.set("schedule", "sequential");
  EXPECT_GT(Steps(training).run().ns, 10U * 4 * 8000);
}

// Four replicas of one chip: (r - 1) x bytes for the reduction, and as much to gather the weights.
TEST(TrainingProgram, GradientsAndWeightsOfAllReplicasPassTheLinksOnce) {
  TrainingParams training = small_training(1, 1);
  training.replicas = 4;
  training.rts_state = 4;
  Steps steps(training);
  steps.machine_.machines = 1;
  const system::Program program = training_program(steps.step());
  std::uint64_t bytes = 0;
  for (const system::Segment& segment : program.segments) {
    for (const system::Transfer& transfer : segment.transfers) {
      if (transfer.way == system::Way::links) bytes += transfer.bytes;
    }
  }
  const std::uint64_t elements = 8 * 1'000'000;
  EXPECT_EQ(bytes, 2 * 3 * 2 * elements);
}

TEST(TrainingProgram, MoreMicroBatchesHideTheRamp) {
  const auto bubble = [](unsigned accumulation) {
    const Steps steps(small_training(4, accumulation));
    const auto result = steps.run();
    return static_cast<double>(result.stack()[static_cast<std::size_t>(Use::bubble)]) /
           static_cast<double>(result.ns);
  };
  EXPECT_GT(bubble(4), bubble(16));
  EXPECT_GT(bubble(16), bubble(64));
}

TEST(TrainingProgram, OffloadedActivationsCostTimeAndStreamingMemoryInsteadOfMemory) {
  TrainingParams training = small_training(2, 4);
  const Steps kept(training);
  training.set("activations", "offloaded");
  const Steps offloaded(training);
  EXPECT_EQ(kept.mean(Use::streaming), 0U);
  EXPECT_GT(offloaded.mean(Use::streaming), 0U);
  EXPECT_GT(streaming_bytes(offloaded), streaming_bytes(kept));
  EXPECT_LT(chips_of(offloaded)[0].use.of(Held::activations),
            chips_of(kept)[0].use.of(Held::activations));
}

// 1 / (t p): four stages of 4 layers have 2 blocks of 10^6 each; the state 8 bytes over rts'. A
// replica keeps 1 / rts of the weights, and gathers the rest for each step of the pipeline.
TEST(MemoryAccount, WeightsAreWholeWhileAStageWorksAndStateIsShared) {
  TrainingParams training = small_training(4, 8);
  training.replicas = 4;
  training.rts = 2;
  training.rts_state = 4;
  const Steps steps(training);
  for (const system::MemoryAccount& account : chips_of(steps)) {
    EXPECT_EQ(account.use.of(Held::weights), 2U * 2'000'000);
    EXPECT_EQ(account.use.of(Held::gradients), 2U * 2'000'000);
    EXPECT_EQ(account.use.of(Held::state), 8U * 2'000'000 / 4);
  }
}

// The first of four stages keeps 2 x 3 + 1 = 7 inputs, the last one; two blocks make one layer.
TEST(MemoryAccount, AStageKeepsInputsOfAllMicroBatchesUnderWay) {
  const Steps steps(small_training(4, 100));
  const auto accounts = chips_of(steps);
  EXPECT_EQ(accounts[0].use.of(Held::activations), 7U * 100);
  EXPECT_EQ(accounts[3].use.of(Held::activations), 1U * 100);
}

// 2 phases of a layer on each of 2 chips: weights whole, 2 x 2,000,000 B, and gradients as many. In
// the update, after the reduction, a replica of 4 has a quarter of both, and of the state of the
// larger part 8 x 1,000,000 / 4. Work makes the passes the fuller moment, or not.
TEST(MemoryAccount, AStreamedPhaseIsFullestInItsPassesOrInItsUpdate) {
  TrainingParams training = small_training(2, 8);
  training.replicas = 4;
  training.rts = 4;
  training.rts_state = 4;
  training.phases = 2;
  const Steps steps(training);
  EXPECT_EQ(chips_of(steps)[2].use.of(Held::weights), 4'000'000U);
  EXPECT_EQ(chips_of(steps)[2].use.of(Held::state), 0U);
  training.rts_state = 2;  // then all of the gradients is there, and half of the state
  const Steps update(training);
  const system::MemoryAccount account = chips_of(update)[2];
  EXPECT_EQ(account.use.of(Held::weights), 2'000'000U);
  EXPECT_EQ(account.use.of(Held::gradients), 4'000'000U);
  EXPECT_EQ(account.use.of(Held::state), 8U * 1'000'000 / 2);
}

// The first of four stages has 4 inputs where stages go on by themselves.
TEST(MemoryAccount, OneForwardOneBackwardKeepsAnInputForEachStage) {
  TrainingParams training = small_training(4, 100);
  training.set("schedule", "1f1b");
  const Steps steps(training);
  const auto accounts = chips_of(steps);
  EXPECT_EQ(accounts[0].use.of(Held::activations), 4U * 100);
  EXPECT_EQ(accounts[3].use.of(Held::activations), 1U * 100);
}

// Phases of 2 blocks of 10^6 on each of 2 chips: beside its own 4 MB of weights the first phase of
// blocks has those of the next while it goes forward. With all, it goes backward beside the state
// of its own blocks and what the update before it has changed: 4 MB of weights and 16 MB of state.
TEST(MemoryAccount, WhatStreamsInTheBackgroundIsThereTwice) {
  TrainingParams training = small_training(2, 8);
  training.phases = 2;
  training.io_tiles = 64;
  const auto account = [](const TrainingParams& with, std::uint64_t state = 8'000'000) {
    Steps steps(with);
    for (auto& chip : steps.costs_) {
      for (PartCost& part : chip) {
        part.trained.state = part.trained.elements == 0 ? 0 : state;
        if (state == 0) part.trained.gradients = 0;
      }
    }
    return chips_of(steps)[1 * 2];  // first phase of blocks
  };
  EXPECT_EQ(account(training).use.of(Held::weights), 2U * 2'000'000);
  training.set("prefetch", "weights");
  // fullest in the update, beside 8 MB of state, when the next phase's weights, none, are there
  EXPECT_EQ(account(training).use.of(Held::weights), 2U * 2'000'000);
  // without state and gradients it is fullest going forward, beside the next phase's weights
  EXPECT_EQ(account(training, 0).use.of(Held::weights), 2U * 2'000'000 + 2U * 2'000'000);
  training.set("prefetch", "all");
  EXPECT_EQ(account(training).use.of(Held::weights), 2U * 2'000'000 + 2U * 2'000'000);
  EXPECT_EQ(account(training).use.of(Held::state), 2 * 8U * 2'000'000);
}

TEST(TrainingParams, BackgroundStreamsNeedTilesAndPhases) {
  TrainingParams training;
  training.set("prefetch", "all");
  training.phases = 2;
  EXPECT_THROW(training.check(), ParameterError);
  training.io_tiles = 32;
  EXPECT_NO_THROW(training.check());
}

TEST(TrainingParams, TheBatchOfAllIsThatOfAReplicaTimesReplicas) {
  TrainingParams training;
  training.packing = 2;
  training.micro_batch = 2;
  training.accumulation = 192;
  training.replicas = 4;
  EXPECT_EQ(training.global_batch(), 3072);
}

TEST(TrainingParams, SharesOfReplicasComeOutEven) {
  TrainingParams training;
  training.replicas = 4;
  training.rts = 3;
  EXPECT_THROW(training.check(), ParameterError);
}

}  // namespace
}  // namespace lacuna
