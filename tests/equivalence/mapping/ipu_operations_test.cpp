// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/seeds.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

using test::pick;
using test::ragged_mask;
using test::run_both;
using test::upto;

/// An operation that is no product, on a small chip.
struct OperationScenario {
  LayerOp op;
  std::optional<Mask> mask;
  unsigned tiles = 0;
  std::uint64_t seed = 0;
  std::string text;
};

void shape(Random& random, OperationScenario& s) {
  LayerOp& op = s.op;
  op.m = upto(random, 120);
  op.n = upto(random, 60);
  op.batch = upto(random, 3);
  if (op.op == "optim" || op.op == "embed") op.k = upto(random, 90);
  if (op.op == "optim") op.n = 0;
  if (op.op == "optim") op.dtype = DType::fp32;
  if ((op.op == "optim" || op.op == "softmax") && random.bounded(2) == 0) {
    s.mask = ragged_mask(random, op.m, op.op == "optim" ? op.k : op.n);
  }
}

// Seeds from here on are of rows that take the largest out, which have no backward.
constexpr std::uint64_t kOfChoices = 1000;

OperationScenario operation_scenario(std::uint64_t seed) {
  Random random(seed);
  OperationScenario s;
  s.seed = seed;
  s.tiles = pick(random, std::vector<unsigned>{2, 4, 6, 16, 30, 64});
  LayerOp& op = s.op;
  op.id = "row";
  op.op = pick(random, std::vector<std::string>{"eltwise", "eltwise", "eltwise", "softmax",
                                                "layernorm", "rmsnorm", "optim", "embed"});
  op.phase = pick(random, std::vector<Phase>{Phase::fwd, Phase::bwd});
  if (seed >= kOfChoices) {
    op.op = "take_max";
    op.phase = Phase::fwd;
  }
  const OpKind& kind = kind_of(op);
  if (!kind.functions.empty()) op.fn = pick(random, kind.functions);
  op.dtype = pick(random, std::vector<DType>{DType::fp16, DType::fp32});
  shape(random, s);
  s.text = op.op + " " + op.fn + " " + word(op.phase) + " " + word(op.dtype) + " m " +
           std::to_string(op.m) + " k " + std::to_string(op.k) + " n " + std::to_string(op.n) +
           " x " + std::to_string(op.batch) + (s.mask ? ", masked, " : ", ") +
           std::to_string(s.tiles) + " tiles";
  return s;
}

OpResult run_operation(const OperationScenario& s, const Execution& execution) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", std::to_string(s.tiles), "");
  return machine->run(s.op, s.mask ? &*s.mask : nullptr, s.seed, execution);
}

std::uint64_t counted(const OpResult& result, const std::string& name) {
  for (const StatEntry& entry : result.statistics) {
    if (entry.name == name) return entry.value;
  }
  ADD_FAILURE() << "no statistic " << name;
  return 0;
}

class IpuOperation : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(IpuOperation, NeitherEngineNorOrderNorValuesChangeTheResultAndTheNumbersAreRight) {
  for (const std::uint64_t seed : test::seeds_from(GetParam())) {
    const OperationScenario scenario = operation_scenario(seed);
    SCOPED_TRACE(scenario.text);
    const auto [event, reference] = run_both(
        [&](const Execution& execution) { return run_operation(scenario, execution); }, seed);
    ASSERT_TRUE(reference.values);
    EXPECT_EQ(reference.values->wrong, 0U) << reference.values->largest_error;
    EXPECT_TRUE(scenario.mask || reference.values->compared > 0);
    Execution with_values;
    with_values.values = true;
    EXPECT_EQ(run_operation(scenario, with_values).values->wrong, 0U);
    std::uint64_t height = 0;
    for (const StackPart& part : event.stack) height += part.cycles;
    EXPECT_EQ(height, event.units * event.cycles);
    EXPECT_GE(counted(event, "exch_received"), counted(event, "exch_sent"));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, IpuOperation,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{201},
                                          test::kSeedsAtOnce));
INSTANTIATE_TEST_SUITE_P(Choices, IpuOperation,
                         ::testing::Range(kOfChoices, kOfChoices + 20, test::kSeedsAtOnce));

LayerOp row(const char* op, const char* fn, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp result;
  result.id = "row";
  result.op = op;
  result.fn = fn;
  result.m = m;
  result.k = k;
  result.n = n;
  return result;
}

TEST(IpuOperations, AnOperationThatAnIpuCannotRunIsAnErrorThatNamesIt) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  for (const char* const op : {"allreduce", "io", "opaque"}) {
    try {
      machine->run(row(op, "", 8, 0, 8), nullptr, 1, {});
      ADD_FAILURE() << op << " was run";
    } catch (const UnsupportedError& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("not ") + op), std::string::npos);
    }
  }
}

TEST(IpuOperations, OperandsThatDoNotFitAreOutOfMemoryWithTheBytes) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const LayerOp large = row("eltwise", "add", 4096, 0, 4096);
  try {
    machine->run(large, nullptr, 1, {});
    ADD_FAILURE() << "it fitted";
  } catch (const OutOfMemoryError& error) {
    // Three tensors of 2^23 halves each on a tile.
    EXPECT_NE(std::string(error.what()).find("50331648 bytes"), std::string::npos) << error.what();
  }
}

// 32 x 48 weights are six blocks of 16 x 16, three for each of two tiles: one for a worker. A block
// of halves takes 18 + 4 (12 + 4 x 2) = 98 bundles after 29 of the entry: 11 + 7 + 6 (29 + 98) =
// 780 clocks. The product that follows takes what it takes in the forward.
TEST(IpuOperations, TheBackwardOfDenseWeightsTransposesThemFirst) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  LayerOp product = row("gemm", "", 32, 48, 8);
  const OpResult forward = machine->run(product, nullptr, 1, {});
  product.phase = Phase::bwd;
  const OpResult backward = machine->run(product, nullptr, 1, {});
  EXPECT_EQ(backward.cycles, forward.cycles + 780);
  EXPECT_EQ(counted(backward, "sram_reads_weight"), counted(forward, "sram_reads_weight") + 6 * 64);
  Execution execution;
  execution.engine = Engine::clocked;
  execution.values = true;
  const OpResult clocked = machine->run(product, nullptr, 1, execution);
  EXPECT_EQ(clocked.cycles, backward.cycles);
  EXPECT_EQ(clocked.values->wrong, 0U);
}

// A gradient of 32 x 48 dense weights over 24 tokens: 32 x 24 gradients are three blocks of 16 x
// 16, 24 x 48 inputs five. Of eight each of two tiles has four, one for a worker: 780 clocks, as
// above. Heads of attention, products of sparse results and forward products find their operands as
// they want them.
TEST(IpuOperations, TheGradientOfDenseWeightsTransposesBothOperandsFirst) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  LayerOp product = row("bmm", "dot", 32, 24, 48);
  const OpResult forward = machine->run(product, nullptr, 1, {});
  product.phase = Phase::bwd;
  Execution execution;
  execution.values = true;
  const OpResult backward = machine->run(product, nullptr, 1, execution);
  EXPECT_EQ(backward.cycles, forward.cycles + 780);
  EXPECT_EQ(counted(backward, "sram_reads_weight"), counted(forward, "sram_reads_weight") + 8 * 64);
  EXPECT_EQ(backward.values->wrong, 0U);
  execution.engine = Engine::clocked;
  EXPECT_EQ(machine->run(product, nullptr, 1, execution).cycles, backward.cycles);
  product.batch = 2;
  const OpResult heads = machine->run(product, nullptr, 1, {});
  product.phase = Phase::fwd;
  EXPECT_EQ(heads.cycles, machine->run(product, nullptr, 1, {}).cycles);
}

/// What the note of the phases says.
std::string phases_of(const OpResult& result) {
  const auto phases = std::find_if(result.notes.begin(), result.notes.end(),
                                   [](const auto& note) { return note.first == "phases"; });
  return phases == result.notes.end() ? "" : phases->second;
}

// Six workers of two tiles have a pair of a row and a column each, of 8 halves: two vectors. A pair
// takes 9 bundles and 3 for each two vectors: 11 + 12 + 6 (37 + 9 + 3) = 317 clocks. The rows go
// to both tiles, each of which has half of them at home: 4 of 8 words.
TEST(IpuOperations, DistancesTakeThreeBundlesForEachTwoVectorsOfAPair) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  for (const char* const fn : {"l1", "l2"}) {
    const OpResult result = machine->run(row("bmm", fn, 2, 8, 6), nullptr, 1, {});
    EXPECT_NE(phases_of(result).find("distances 317"), std::string::npos) << phases_of(result);
    EXPECT_EQ(counted(result, "exch_sent"), 8U);
    EXPECT_EQ(counted(result, "sram_reads_weight"), 24U);  // two for each of 12 pairs
    const bool squares = std::string(fn) == "l2";
    EXPECT_EQ(counted(result, "vec_add_fp16"), squares ? 96U : 192U);
    EXPECT_EQ(counted(result, "vec_mul_fp16"), squares ? 96U : 0U);
  }
}

/// A bmm of phase bwd: gradients of distances.
LayerOp gradient_row(const char* fn, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp op = row("bmm", fn, m, k, n);
  op.phase = Phase::bwd;
  return op;
}

// Two rows of 24 columns in FP16: both rows on two tiles, with two of three groups of 8 columns and
// one. A worker has a group at most: 33 bundles, 12 for its row, 12 for its group, and for each of
// 10 vectors 5 (l2: two differences, two products, an accumulation) or 11 (l1: in place of each
// difference and product two comparisons, two masks and a difference): 11 + 12 + 6 (57 + 50) = 665
// and 23 + 6 (57 + 110) = 1025 clocks. The gradients, 2 x 10 padded to 16 halves, 16 words, are at
// home half on each tile.
TEST(IpuOperations, GradientsOfDistancesTakeFiveOrElevenBundlesForEachVector) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  for (const bool squares : {false, true}) {
    const OpResult result =
        machine->run(gradient_row(squares ? "l2" : "l1", 2, 10, 24), nullptr, 1, {});
    const char* const text = squares ? "gradient of distances 665" : "gradient of distances 1025";
    EXPECT_NE(phases_of(result).find(text), std::string::npos) << phases_of(result);
    EXPECT_EQ(counted(result, "exch_sent"), 16U);
    // Of 6 groups and 10 vectors: 16 differences and sums, or 16 comparisons twice, 8 differences
    // of masks and 8 sums; 8 products, and 8 more for each group where the sums are doubled.
    EXPECT_EQ(counted(result, "vec_add_fp16"), 60U * (squares ? 16 : 32));
    EXPECT_EQ(counted(result, "vec_mul_fp16"), squares ? 60U * 8 + 6 * 8 : 0U);
    EXPECT_EQ(counted(result, "sram_reads_weight"), 60U);
  }
}

// One pair of 4096 halves on two tiles: each has half of both vectors, 256 times two 64-bit
// vectors: 11 + 12 + 6 (37 + 9 + 3 x 256) = 4907 clocks. The second sends its sum to the first,
// which adds the two: 11 + 6 (32 + 2 x 2 + 13) = 305.
TEST(IpuOperations, DistancesOfOnePairCutTheContraction) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const OpResult result = machine->run(row("bmm", "l1", 1, 4096, 1), nullptr, 1, {});
  EXPECT_NE(phases_of(result).find("distances 4907"), std::string::npos) << phases_of(result);
  EXPECT_NE(phases_of(result).find("reduce 305"), std::string::npos) << phases_of(result);
  EXPECT_EQ(counted(result, "exch_sent"), 1U);
  EXPECT_EQ(counted(result, "sram_writes_partial"), 2U);
  EXPECT_EQ(counted(result, "sram_reads_weight"), 1024U);
}

// One row and two columns of 256 halves on two tiles. Whole, a tile takes 11 + 12 + 6 (37 + 9 + 3 x
// 32) = 875 clocks and holds two vectors, 1024 bytes, and a result; in halves 11 + 12 + 6 (37 + 9 +
// 48) = 587, but then a barrier and a sum of 305 follow, and it holds three halves, 768 bytes. In a
// memory of one element the two loads of a difference lose a slot: 6 x 32 clocks more, 779.
TEST(IpuOperations, DistancesCutTheContractionWhereItIsSoonerOverOrMemoryIsShort) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const LayerOp op = row("bmm", "l2", 1, 256, 2);
  const std::string whole = phases_of(machine->run(op, nullptr, 1, {}));
  EXPECT_NE(whole.find("distances 875"), std::string::npos) << whole;
  machine->set("tile.memory.kib", "1", "");
  const std::string halves = phases_of(machine->run(op, nullptr, 1, {}));
  EXPECT_NE(halves.find("distances 779"), std::string::npos) << halves;
  EXPECT_THROW(machine->run(row("bmm", "l2", 1, 600, 2), nullptr, 1, {}), OutOfMemoryError);
}

// One row and group of 8 columns, 1000 vectors (l2) in two parts of 504 and 496: 11 + 12 + 6 (33 +
// 12 + 12 + 2 more stores for sums in FP32 + 5 x 504) = 15497 clocks. The own vectors, 4 words, are
// at home half on each tile; each sends the 4 sums that are the other's: 4 + 8 words. Sums of 4
// outputs and 2 parts: 11 + 6 (32 + 3 x 2 + 6) = 275.
TEST(IpuOperations, GradientsOfDistancesOfFewRowsCutTheContraction) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const OpResult result = machine->run(gradient_row("l2", 1, 1000, 8), nullptr, 1, {});
  EXPECT_NE(phases_of(result).find("gradient of distances 15497"), std::string::npos)
      << phases_of(result);
  EXPECT_NE(phases_of(result).find("reduce 275"), std::string::npos) << phases_of(result);
  EXPECT_EQ(counted(result, "exch_sent"), 12U);
  EXPECT_EQ(counted(result, "sram_writes_partial"), 8U);
}

TEST(IpuOperations, DistancesAndTheirGradientsAreRightInBothEngines) {
  unsigned cut_products = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const char* const fn = random.bounded(2) == 0 ? "l1" : "l2";
    // Every third is of few results, so that its contraction is cut.
    const bool cut = seed % 3 == 0;
    const std::uint32_t m = upto(random, cut ? 2 : 40);
    const std::uint32_t k = cut ? 300 + upto(random, 600) : upto(random, 30);
    LayerOp op = gradient_row(fn, m, k, upto(random, cut ? 9 : 50));
    if (random.bounded(3) == 0) op.phase = Phase::fwd;
    op.batch = upto(random, 3);
    op.dtype = random.bounded(2) == 0 ? DType::fp16 : DType::fp32;
    const std::unique_ptr<Machine> machine = make_ipu_machine("test");
    machine->set("ipu.tiles", pick(random, std::vector<std::string>{"1", "2", "6", "30"}), "");
    Execution execution;
    execution.values = true;
    execution.sigma = random.bounded(2) == 0 ? 0 : 1;
    execution.event_log = true;
    const OpResult event = machine->run(op, nullptr, seed, execution);
    execution.engine = Engine::clocked;
    execution.shuffle = seed;
    const OpResult clocked = machine->run(op, nullptr, seed, execution);
    SCOPED_TRACE(seed);
    EXPECT_EQ(event.cycles, clocked.cycles);
    EXPECT_EQ(event.stack, clocked.stack);
    EXPECT_TRUE(event.events == clocked.events);
    EXPECT_EQ(event.values->compared, std::uint64_t{op.m} * op.n * op.batch);
    EXPECT_EQ(event.values->wrong, 0U);
    EXPECT_EQ(clocked.values->wrong, 0U);
    if (phases_of(event).find("reduce") != std::string::npos) ++cut_products;
  }
  EXPECT_GT(cut_products, 5U);
}

// 96 halves become bytes on two tiles, 48 each, 8 in a vector: one for each worker. A vector takes
// two loads in one instruction and two conversions: 11 + 12 + 6 (37 + 2) = 257 clocks.
TEST(IpuOperations, ACastToBytesRunsWhereTheChipHasThem) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  LayerOp cast = row("eltwise", "cast", 8, 0, 12);
  cast.dtype = DType::fp8;
  EXPECT_THROW(machine->run(cast, nullptr, 1, {}), UnsupportedError);
  machine->set("tile.amp.fp8_macs", "128", "");
  Execution execution;
  execution.values = true;
  execution.sigma = 1;
  const OpResult result = machine->run(cast, nullptr, 1, execution);
  EXPECT_EQ(result.cycles, 257U);
  EXPECT_EQ(result.values->compared, 96U);
  EXPECT_EQ(result.values->wrong, 0U);
}

TEST(IpuOperations, ATypeThatTheVectorUnitLacksIsRefusedWithTheReason) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  for (const DType type : {DType::bf16, DType::int8, DType::fp8}) {
    LayerOp op = row("softmax", "", 8, 0, 8);
    op.dtype = type;
    try {
      machine->run(op, nullptr, 1, {});
      ADD_FAILURE() << word(type);
    } catch (const UnsupportedError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(std::string("not in ") + word(type) + ": "), std::string::npos) << text;
    }
  }
}

// 24 halves on two tiles: three vectors each, so three workers have one of them. Launch 11, then
// 12 of the supervisor, then 6 x (37 + 1) for the longest worker: 251 clocks. A sum reads two
// vectors and writes one in each bundle.
TEST(IpuOperations, ASumTakesOneBundleForEachVectorBesideItsEntry) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const OpResult result = machine->run(row("eltwise", "add", 4, 0, 6), nullptr, 1, {});
  EXPECT_EQ(result.cycles, 251U);
  EXPECT_EQ(counted(result, "sram_reads_input"), 12U);
  EXPECT_EQ(counted(result, "sram_writes_output"), 6U);
  EXPECT_EQ(counted(result, "vec_add_fp16"), 24U);
}

// Twelve rows of 16 on two tiles, one for each worker: 37 to begin, 8 for each of three passes,
// and for each of four vectors 1 (maximum) + 4 (difference, two exps, sum) + 1 (product):
// 11 + 12 + 6 (37 + 24 + 24) = 533.
TEST(IpuOperations, SoftmaxTakesSixBundlesForEachVectorOfARow) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "2", "");
  const OpResult result = machine->run(row("softmax", "", 12, 0, 16), nullptr, 1, {});
  EXPECT_EQ(result.cycles, 533U);
  EXPECT_EQ(counted(result, "sfu_fp16"), 192U);
  EXPECT_EQ(counted(result, "exch_sent"), 0U);
}

}  // namespace
}  // namespace lacuna
