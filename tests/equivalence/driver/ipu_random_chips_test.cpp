// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/driver/machine.hpp"

namespace lacuna::test {
namespace {

/// Any product on any chip; half of the chips differ from what is sold in several parameters.
struct Scenario {
  std::unique_ptr<Machine> machine = make_ipu_machine("random");
  LayerOp op;
  std::optional<Mask> mask;
  std::string text;

  void set(const std::string& path, const std::string& value) {
    machine->set(path, value, "");
    text += path + "=" + value + " ";
  }
};

std::string pick(Random& random, const std::vector<const char*>& words) {
  return words[random.bounded(words.size())];
}

void draw_chip(Random& random, Scenario& s) {
  s.set("ipu.tiles", pick(random, {"2", "4", "8", "14", "32", "46", "92"}));
  if (random.bounded(2) == 0) return;
  s.set("tile.workers", pick(random, {"1", "2", "3", "4", "5", "6", "7", "8"}));
  s.set("tile.issue_interval", pick(random, {"1", "4", "6", "9"}));
  const std::uint64_t width = 4U << random.bounded(4);  // columns of the AMP: 4 to 32
  s.set("tile.amp.fp16_macs", std::to_string(4 * width));
  s.set("tile.amp.fp16_fp32_macs", std::to_string(2 * width));
  s.set("tile.amp.fp32_macs", std::to_string(width));
  s.set("tile.amp.weight_bytes", pick(random, {"8", "16"}));
  s.set("tile.launch", pick(random, {"0", "11", "50"}));
  s.set("tile.memory.kib", pick(random, {"64", "256", "624"}));
  s.set("exchange.latency", pick(random, {"floor_plan", "constant"}));
  s.set("exchange.control_events", pick(random, {"0", "3", "9"}));
  s.set("exchange.paired", pick(random, {"true", "false"}));
  s.set("exchange.paired_words", pick(random, {"2", "32", "128"}));
  s.set("sync.cycles", pick(random, {"2", "150", "600"}));
  s.set("round", pick(random, {"nearest", "stochastic"}));
}

void draw_product(Random& random, Scenario& s) {
  const auto side = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  s.op.id = "product";
  s.op.op = "gemm";
  s.op.m = side(80);
  s.op.k = side(80);
  s.op.n = side(48);
  s.op.batch = random.bounded(4) == 0 ? side(3) : 1;
  s.op.dtype = random.bounded(3) == 0 ? DType::fp32 : DType::fp16;
  const std::vector<Mode> modes{Mode::dense, Mode::static_, Mode::dynamic};
  s.op.mode = modes[random.bounded(modes.size())];
  if (s.op.mode == Mode::dense) {
    s.op.mode = Mode::automatic;
  } else {
    PatternSpec spec;
    const std::vector<std::uint32_t> sides{1, 4, 8, 16};
    const std::uint32_t block = sides[random.bounded(sides.size())];
    spec.name = block == 1 ? "unstructured" : "block";
    spec.block_rows = spec.block_cols = block;
    spec.density = Decimal{random.bounded(10), 1};
    s.op.m = (s.op.m + block - 1) / block * block;
    s.op.k = (s.op.k + block - 1) / block * block;
    s.op.pattern = spec;
    s.mask = generate_mask(spec, s.op.m, s.op.k, random.next());
  }
  s.text += std::to_string(s.op.m) + "x" + std::to_string(s.op.k) + "x" + std::to_string(s.op.n) +
            " batch " + std::to_string(s.op.batch) + " " + word(s.op.dtype) + " " +
            word(s.op.mode) + " block " + std::to_string(s.op.pattern.block_rows);
}

OpResult run(const Scenario& s, Engine engine, std::uint64_t shuffle) {
  Execution execution;
  execution.engine = engine;
  execution.shuffle = shuffle;
  execution.event_log = true;
  execution.values = true;
  return s.machine->run(s.op, s.mask ? &*s.mask : nullptr, 7, execution);
}

/// True if the product fits the chip.
bool agree(std::uint64_t seed) {
  Random random(seed);
  Scenario s;
  draw_chip(random, s);
  draw_product(random, s);
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
    return true;
  } catch (const OutOfMemoryError&) {
    return false;
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("overflow in buckets"), std::string::npos)
        << error.what();
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
