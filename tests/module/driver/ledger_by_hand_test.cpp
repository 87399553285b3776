// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "models/system/ledger.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "workloads/mapping/system/inference_program.hpp"
#include "workloads/mapping/system/training_program.hpp"

namespace lacuna {
namespace {

using system::Held;
using system::Part;
using system::TrainingParams;

/// Steps whose numbers are round: a block has 10^6 weights in halves, 8 B of state for each, and
/// takes 1000 ns and 1 J forward, 2000 ns and 2 J backward, 3 J of its update. Inputs of layers
/// have 100 B, and nothing stands or waits for a price.
class ByHand {
 public:
  explicit ByHand(TrainingParams training) : training_(std::move(training)) {
    machine_.gateway.update_ms = 0;
    machine_.machine_w = 0;
    training_.tokens = 1;
    training_.head_stage = training_.pipeline - 1;
    model_.boundary_bytes = 100;
    model_.layers = 4;
    system::PartCost block;
    block.forward.cycles = 1000;
    block.forward.joules = {1, 1, 1};
    block.backward.cycles = 2000;
    block.backward.joules = {2, 2, 2};
    block.update.joules = {3, 3, 3};
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

  /// What a chip holds beside code and buffers.
  std::uint64_t held(unsigned place) const {
    const system::TrainingMemory memory = training_memory(step(), 1U << 30U);
    const system::MemoryUse& use = memory.chips.at(place).use;
    return use.total() - use.of(Held::code) - use.of(Held::buffers);
  }

  std::uint64_t streaming() const { return training_memory(step(), 1U << 30U).streaming.bytes; }

  ByHand& machines_of(unsigned chips) {
    machine_.machine_chips = chips;
    return *this;
  }

  /// The joules of a step, of which so many bytes go over links and to streaming memory.
  double joules(double links, double memory = 0) const {
    const system::Program program = training_program(step());
    const system::Fabric fabric(machine_);
    const system::ProgramResult run = run_program(machine_, fabric, program, {});
    EXPECT_EQ(run.carried.links, links);
    EXPECT_EQ(run.carried.memory, memory);
    return energy_of(machine_, run, work_of(program).joules, {}).total().nominal;
  }

 private:
  system::SystemParams machine_;
  TrainingParams training_;
  system::ModelParts model_;
  system::ChipCosts costs_;
  std::vector<system::Stages> phases_;
};

TrainingParams plain(unsigned pipeline, unsigned accumulation) {
  TrainingParams training;
  training.pipeline = pipeline;
  training.accumulation = accumulation;
  return training;
}

constexpr double kLink = 8 * 8e-12;     // J for a byte on a link
constexpr double kMemory = 8 * 20e-12;  // and of streaming memory

void expect_joules(double value, double by_hand) { EXPECT_NEAR(value, by_hand, 1e-12 * by_hand); }

double part_of(const EnergyAccount& account, const std::string& key) {
  for (const SystemEnergyPart& part : account.parts) {
    if (part.key == key) return part.joules.nominal;
  }
  return -1;
}

// Four stages of a layer, 10 micro-batches. A chip has 2 blocks: 4 MB of weights, as many of
// gradients, 16 MB of state; the first keeps 7 inputs, the last one, and a layer that goes
// backward has the input of its second block beside them. Work: 4 chips, 10 times 2 + 2
// + 4 J, and 6 J of each update. Links: 10 times 100 B there and back, over 1 + 2 + 1 of them, as
// chip 1 and 2 are on different rails. Host: 10 times 16 B come and 4 B of each chip go, each over
// two ways.
TEST(LedgerByHand, APipelineOfFour) {
  const ByHand step(plain(4, 10));
  EXPECT_EQ(step.held(0), 4'000'000U + 4'000'000 + 16'000'000 + 7 * 100 + 100);
  EXPECT_EQ(step.held(3), 4'000'000U + 4'000'000 + 16'000'000 + 1 * 100 + 100);
  const double bytes = 10 * 100 * 2 * (1 + 2 + 1) + 2 * 10 * 16 + 2 * 4 * 4;
  expect_joules(step.joules(bytes), 4 * 10 * 8 + 4 * 6 + bytes * kLink);
}

// Four replicas that share weights and state, 2 micro-batches. A chip has 8 blocks: of 16 MB of
// weights it keeps 4 and gathers 12 for each step, beside 16 MB of gradients, 64 / 4 of state, 4
// inputs of 100 B and one within a layer. Gathering 16 MB puts 3 x 16 MB on links, in both steps;
// reducing the gradients as many. Neighbours of a ring are one link apart. Nothing is gathered
// after the update.
TEST(LedgerByHand, ReplicasThatShareWeights) {
  TrainingParams training = plain(1, 2);
  training.replicas = 4;
  training.rts = 4;
  training.rts_state = 4;
  const ByHand step(training);
  EXPECT_EQ(step.held(0), 16'000'000U + 16'000'000 + 16'000'000 + 4 * 100 + 100);
  const double bytes = 3 * 3 * 16e6 + 4 * (2 * 2 * 16 + 2 * 4);
  expect_joules(step.joules(bytes), 4 * (2 * 32 + 24) + bytes * kLink);
}

// One chip, 3 micro-batches, 4 inputs of 100 B that go to streaming memory and come back: it has
// those of one micro-batch, the chip too, and one within a layer.
TEST(LedgerByHand, OffloadedActivations) {
  TrainingParams training = plain(1, 3);
  training.set("activations", "offloaded");
  const ByHand step(training);
  EXPECT_EQ(step.held(0), 16'000'000U + 16'000'000 + 64'000'000 + 4 * 100 + 100);
  EXPECT_EQ(step.streaming(), 4U * 100);
  const double bytes = 3 * 2 * 400;
  const double host = 2 * (3 * 16 + 4);
  expect_joules(step.joules(bytes + host, bytes),
                3 * 32 + 24 + bytes * (kLink + kMemory) + host * kLink);
}

// Four stages of 2, 1, 1 and no layers, two chips in a machine: a layer has 16 MB of state, so that
// the first machine keeps 48 MB and the other 16.
TEST(LedgerByHand, StateInTheMemoryOfTheFullestMachine) {
  TrainingParams training = plain(4, 1);
  training.set("layers", "2-1-1-0");
  training.set("state", "streaming");
  EXPECT_EQ(ByHand(training).machines_of(2).streaming(), 48'000'000U);
  EXPECT_EQ(ByHand(training).machines_of(4).streaming(), 64'000'000U);
}

// Four stages of a layer, many micro-batches, inputs of 100 B in streaming memory: those of 7, 5, 3
// and 1 micro-batches at once, two stages in a machine.
TEST(LedgerByHand, ActivationsInTheMemoryOfTheFullestMachine) {
  TrainingParams training = plain(4, 10);
  training.set("activations", "offloaded");
  EXPECT_EQ(ByHand(training).machines_of(2).streaming(), (7U + 5) * 100);
  EXPECT_EQ(ByHand(training).machines_of(4).streaming(), (7U + 5 + 3 + 1) * 100);
}

// Two chips share a layer: sums of 64 B after the embedding and both blocks put 2 x 64 B on the
// links of the pair, and each chip tells the other 8 B of its logits.
TEST(LedgerByHand, DecodingOnTwoChips) {
  system::SystemParams machine;
  machine.machine_w = 0;
  system::InferencePass pass;
  pass.tensor = 2;
  pass.kinds.resize(1);
  pass.kinds[0].attention.joules = {5, 5, 5};
  pass.kinds[0].ffn.joules = {7, 7, 7};
  pass.stages = {{{0, 3}}};
  pass.hidden_bytes = 64;
  pass.choice_bytes = 8;
  const system::Program program = pass_program(machine, pass);
  const system::Fabric fabric(machine);
  const system::ProgramResult run = run_program(machine, fabric, program, {});
  const double bytes = (1 + 2 * 3) * 2 * 64 + 2 * 8;
  EXPECT_EQ(run.carried.links, bytes);
  expect_joules(energy_of(machine, run, work_of(program).joules, {}).total().nominal,
                2 * 3 * (5 + 7) + bytes * kLink);
}

// A tile of a stage of three layers: 3 x 100 B of weights, 50 of the table and 60 of the head; 3 x
// 40 of keys and values; 12 for the results that most wait for; 30 for the row that needs most, the
// embedding's; 10 of code and buffers. Streamed weights are those of two layers; of all three they
// lie in streaming memory, which two of its chips share.
TEST(LedgerByHand, ATileThatDecodes) {
  system::InferencePass pass;
  pass.kinds.resize(1);
  pass.kinds[0].tile = {100, 40, 8, 16};
  pass.stages = {{{0, 3}}};
  pass.embedding_tile = {50, 0, 4, 30};
  pass.head_tile = {60, 0, 12, 10};
  pass.code_bytes = 7;
  pass.buffer_bytes = 3;
  const auto held = [&] { return memory_of(pass_entries(pass), 1, 0).chips.at(0).use.total(); };
  EXPECT_EQ(held(), 300U + 50 + 60 + 120 + 12 + 30 + 10);
  pass.streamed_weights = 2;
  EXPECT_EQ(held(), 200U + 50 + 60 + 120 + 12 + 30 + 10);
  pass.kinds[0].weights_elsewhere = 4000;
  EXPECT_EQ(memory_of(pass_entries(pass), 1, 0, {{2}}).streaming.total(), 2U * 3 * 4000);
}

// 64 x 64 weights in halves, 8192 B, come from the store over its link and one of each of four
// wafers, which hold 64 x 8 halves that they make; what no row makes is not theirs. A wafer works
// for 1 J.
TEST(LedgerByHand, AStoreWithFourWafers) {
  const std::vector<std::string> none;
  const auto machines = make_machines(standard_machines(), {"cs2x4"}, none);
  WorkloadTrace workload;
  LayerOp op;
  op.id = "product";
  op.op = "gemm";
  op.phase = Phase::fwd;
  op.m = op.k = 64;
  op.n = 8;
  workload.ops = {op};
  RowCosts costs(1);
  costs[0].cycles = 850;  // at 0.85 GHz: 1000 ns
  costs[0].joules = {1, 1, 1};
  const Pricing pricing(config_folder());
  const WaferSystemRun run = run_wafer_system(*machines[0], workload, costs, {}, pricing);
  EXPECT_EQ(run.memory.at(0).use.total(), 8192U);
  EXPECT_EQ(run.memory.at(1).use.total(), 2U * 64 * 8);
  EXPECT_EQ(run.energy.work().nominal, 4);
  EXPECT_EQ(run.result.carried.memory, 8192);
  EXPECT_EQ(run.result.carried.links, 5 * 8192);
  expect_joules(part_of(run.energy, "streaming"), 8192 * kMemory);
  expect_joules(part_of(run.energy, "links"), 5 * 8192 * kLink);
  const double waits = 4.0 * (static_cast<double>(run.result.ns) - 1000) * 1e-9;
  expect_joules(part_of(run.energy, "idle"), waits * idle_watts(*machines[0], pricing).nominal);
}

}  // namespace
}  // namespace lacuna
