// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/machine.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::test {
namespace {

/// Any row of a trace on any chip: one that is sold, or one that differs in several parameters.
struct Scenario {
  std::unique_ptr<Machine> machine;
  LayerOp op;
  std::optional<Mask> mask;
  double sigma = 0;
  std::string text;

  void set(const std::string& path, const std::string& value) {
    machine->set(path, value, "");
    text += path + "=" + value + " ";
  }
};

std::string pick(Random& random, const std::vector<const char*>& words) {
  return words[random.bounded(words.size())];
}

std::uint32_t side(Random& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(1 + random.bounded(most));
}

void draw_chip(Random& random, Scenario& s) {
  const std::string preset = pick(random, {"gc2", "gc200", "bow", "c600", "any", "any"});
  s.machine = make_machine(standard_machines(), preset == "any" ? "c600" : preset);
  s.text = preset + " ";
  s.set("ipu.tiles", pick(random, {"2", "4", "8", "14", "32", "46", "92"}));
  s.set("round", pick(random, {"nearest", "stochastic"}));
  s.set("planner.serial_columns", pick(random, {"false", "true"}));
  if (preset != "any") return;
  s.set("tile.workers", pick(random, {"1", "2", "3", "4", "5", "6", "7", "8"}));
  s.set("tile.issue_interval", pick(random, {"1", "4", "6", "9"}));
  const std::uint64_t width = 4U << random.bounded(4);  // columns of the AMP: 4 to 32
  s.set("tile.amp.fp16_macs", std::to_string(4 * width));
  s.set("tile.amp.fp16_fp32_macs", std::to_string(2 * width));
  s.set("tile.amp.fp32_macs", std::to_string(width));
  s.set("tile.amp.weight_bytes", pick(random, {"8", "16"}));
  s.set("tile.amp.depth", pick(random, {"1", "2", "4", "8"}));
  s.set("tile.amp.column_bytes", pick(random, {"16", "32", "64"}));
  s.set("tile.amp.latency", pick(random, {"0", "1", "7"}));
  const std::string inputs = pick(random, {"8", "16"});
  s.set("tile.amp.input_bytes", inputs);
  if (inputs == "16") s.set("tile.memory.load_bytes", "32");
  s.set("tile.launch", pick(random, {"0", "11", "50"}));
  s.set("tile.memory.kib", pick(random, {"64", "256", "624"}));
  s.set("exchange.latency", pick(random, {"floor_plan", "constant"}));
  s.set("exchange.control_events", pick(random, {"0", "3", "9"}));
  s.set("exchange.paired", pick(random, {"true", "false"}));
  s.set("exchange.paired_words", pick(random, {"2", "32", "128"}));
  s.set("sync.cycles", pick(random, {"2", "150", "600"}));
}

/// A mask of blocks of `block` for an operand of rows x cols, which are made multiples of it.
void draw_mask(Random& random, Scenario& s, std::uint32_t& rows, std::uint32_t& cols) {
  const std::vector<std::uint32_t> sides{1, 4, 8, 16};
  const std::uint32_t block = sides[random.bounded(sides.size())];
  PatternSpec spec;
  spec.name = block == 1 ? "unstructured" : "block";
  spec.block_rows = spec.block_cols = block;
  spec.density = Decimal{random.bounded(10), 1};
  rows = (rows + block - 1) / block * block;
  cols = (cols + block - 1) / block * block;
  s.op.pattern = spec;
  s.mask = generate_mask(spec, rows, cols, random.next());
}

/// gemm, spmm, bmm with a dense, static or dynamic operand.
void draw_product(Random& random, Scenario& s) {
  s.op.m = side(random, 80);
  s.op.k = side(random, 80);
  s.op.n = side(random, 48);
  s.op.batch = random.bounded(4) == 0 ? side(random, 3) : 1;
  s.op.dtype = random.bounded(3) == 0 ? DType::fp32 : DType::fp16;
  if (s.op.op == "bmm" && random.bounded(3) == 0) {
    s.op.fn = pick(random, {"l1", "l2"});
    return;
  }
  const std::vector<Mode> modes{Mode::automatic, Mode::static_, Mode::dynamic};
  s.op.mode = s.op.op == "spmm" ? modes[1 + random.bounded(2)] : modes[random.bounded(3)];
  if (s.op.mode != Mode::automatic) {
    draw_mask(random, s, s.op.m, s.op.k);
    return;
  }
  const bool bytes = s.text.find("c600") == 0 || s.text.find("any") == 0;
  if (bytes && random.bounded(3) == 0) s.op.dtype = DType::fp8;
  if (s.op.dtype != DType::fp32 && random.bounded(3) == 0) s.op.partials = Partials::fp32;
}

/// The backward of a layer: W^T dY from the forward's buckets, or the kept elements of dY X^T.
void draw_backward(Random& random, Scenario& s) {
  s.op.phase = Phase::bwd;
  s.op.m = side(random, 80);
  s.op.k = side(random, 80);
  s.op.n = side(random, 48);
  s.op.dtype = random.bounded(2) == 0 ? DType::fp32 : DType::fp16;
  if (s.op.op == "sddmm") {
    s.op.mode = random.bounded(2) == 0 ? Mode::static_ : Mode::dynamic;
    s.op.batch = random.bounded(4) == 0 ? side(random, 3) : 1;
    draw_mask(random, s, s.op.m, s.op.n);
    return;
  }
  if (random.bounded(3) == 0) return;  // a dense layer
  s.op.mode = Mode::dynamic;
  draw_mask(random, s, s.op.m, s.op.k);
  s.op.pattern.name = "ref";
  s.op.pattern.args = {{"of", "forward"}, {"transpose", "1"}};
}

/// An operation of a layer that is no product.
void draw_layer_operation(Random& random, Scenario& s) {
  s.op.phase = random.bounded(2) == 0 ? Phase::fwd : Phase::bwd;
  const OpKind& kind = kind_of(s.op);
  if (!kind.functions.empty()) s.op.fn = kind.functions[random.bounded(kind.functions.size())];
  s.op.dtype = random.bounded(2) == 0 ? DType::fp32 : DType::fp16;
  s.op.m = side(random, 120);
  s.op.n = side(random, 60);
  s.op.batch = side(random, 3);
  if (s.op.op == "embed") s.op.k = side(random, 90);
  if (s.op.op == "optim") {
    s.op.k = side(random, 90);
    s.op.n = 0;
    s.op.dtype = DType::fp32;
    if (random.bounded(2) == 0) {
      s.op.args = {{"weights", pick(random, {"fp16", "fp32"})},
                   {"rounding", pick(random, {"nearest", "stochastic"})}};
    }
    if (random.bounded(2) == 0) draw_mask(random, s, s.op.m, s.op.k);
  }
  if (s.op.op == "softmax" && random.bounded(2) == 0) draw_mask(random, s, s.op.m, s.op.n);
}

Scenario draw(std::uint64_t seed) {
  Random random(seed);
  Scenario s;
  draw_chip(random, s);
  s.op.id = "row";
  s.op.op = pick(random, {"gemm", "gemm", "spmm", "bmm", "gemm^T", "sddmm", "softmax", "layernorm",
                          "rmsnorm", "eltwise", "optim", "embed"});
  const std::string name = s.op.op;
  if (name == "gemm^T") s.op.op = "gemm";
  if (name == "gemm^T" || name == "sddmm") {
    draw_backward(random, s);
  } else if (name == "gemm" || name == "spmm" || name == "bmm") {
    draw_product(random, s);
  } else {
    draw_layer_operation(random, s);
  }
  const double sigmas[] = {0, 0, 0.05, 1, 4};
  s.sigma = sigmas[random.bounded(5)];
  s.text += "normal:" + std::to_string(s.sigma) + " " + name + " " + s.op.fn + " " +
            std::to_string(s.op.m) + "x" + std::to_string(s.op.k) + "x" + std::to_string(s.op.n) +
            " batch " + std::to_string(s.op.batch) + " " + word(s.op.dtype) + " " +
            word(s.op.mode) + " " + word(s.op.phase) + " block " +
            std::to_string(s.op.pattern.block_rows) + " seed " + std::to_string(seed);
  return s;
}

OpResult run(const Scenario& s, Engine engine, std::uint64_t shuffle) {
  Execution execution;
  execution.engine = engine;
  execution.shuffle = shuffle;
  execution.event_log = true;
  execution.values = true;
  execution.sigma = s.sigma;
  return s.machine->run(s.op, s.mask ? &*s.mask : nullptr, 7, execution);
}

/// True if the product fits the chip.
bool agree(std::uint64_t seed) {
  const Scenario s = draw(seed);
  SCOPED_TRACE(s.text);
  try {
    const OpResult event = run(s, Engine::event, 0);
    const OpResult clocked = run(s, Engine::clocked, seed + 1);
    EXPECT_EQ(event.cycles, clocked.cycles);
    EXPECT_TRUE(event.stack == clocked.stack);
    EXPECT_TRUE(event.events == clocked.events);
    EXPECT_EQ(event.statistics.size(), clocked.statistics.size());
    for (std::size_t i = 0; i < event.statistics.size(); ++i) {
      EXPECT_EQ(event.statistics[i].value, clocked.statistics[i].value) << event.statistics[i].name;
    }
    EXPECT_EQ(event.values->wrong, 0U);
    EXPECT_EQ(event.values->largest_error, clocked.values->largest_error);
    EXPECT_EQ(event.values->rms_error, clocked.values->rms_error);
    EXPECT_EQ(event.values->overflows, clocked.values->overflows);
    EXPECT_EQ(event.values->underflows, clocked.values->underflows);
    return true;
  } catch (const OutOfMemoryError&) {
    return false;
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("overflow in buckets"), std::string::npos)
        << error.what();
    return false;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return false;
  }
}

// $LACUNA_LONG asks for so many cases in place of 160.
TEST(RandomChips, EnginesAgreeInCyclesCountersEventsAndValuesOnAnyChip) {
  const char* const asked = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t cases = asked == nullptr ? 160 : std::stoull(asked);
  std::uint64_t ran = 0;
  for (std::uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) ran += agree(seed) ? 1 : 0;
  EXPECT_TRUE(HasFailure() || ran > cases * 9 / 10) << "too few scenarios that fit: " << ran;
}

}  // namespace
}  // namespace lacuna::test
