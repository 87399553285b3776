// SPDX-License-Identifier: Apache-2.0
// What each core did in each step is the same however the rows are simulated: folded in lanes, each
// row in lanes, core by core in any order, with a module for each core.
#include "sim/report/unit_series.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {
namespace {

struct Case {
  LayerOp op;
  Mask mask;
  std::map<std::string, std::string> settings;
};

std::string draw_between(Random& random, const std::vector<std::string>& words) {
  return words[random.bounded(words.size())];
}

Case random_case(std::uint64_t seed) {
  Random random(stream_seed(seed, "unit series"));
  Case c;
  c.op.op = "gemm";
  c.op.m = 1 + static_cast<std::uint32_t>(random.bounded(40));
  c.op.k = 1 + static_cast<std::uint32_t>(random.bounded(40));
  c.op.n = 1 + static_cast<std::uint32_t>(random.bounded(60));
  c.op.dtype = random.bounded(4) == 0 ? DType::fp32 : DType::fp16;
  c.op.residency = Residency::streamed;
  c.op.batch = random.bounded(4) == 0 ? 2 : 1;
  c.mask.rows = c.op.m;
  c.mask.cols = c.op.k;
  c.mask.offsets.push_back(0);
  const std::uint64_t percent = random.bounded(101);
  for (std::uint32_t r = 0; r < c.op.m; ++r) {
    for (std::uint32_t j = 0; j < c.op.k; ++j) {
      if (random.bounded(100) < percent) c.mask.columns.push_back(j);
    }
    c.mask.offsets.push_back(c.mask.columns.size());
  }
  c.settings["wafer.columns"] = std::to_string(2 + random.bounded(8));
  c.settings["wafer.rows"] = std::to_string(1 + random.bounded(9));
  c.settings["ws.lookahead"] = std::to_string(1 + random.bounded(9));
  c.settings["ws.ring"] = draw_between(random, {"fp16", "fp32"});
  c.settings["ws.row_order"] = draw_between(random, {"ring", "rotate", "natural"});
  c.settings["ws.k_partition"] = draw_between(random, {"block", "cyclic", "balanced"});
  c.settings["io.share"] = draw_between(random, {"0", "0.3", "1"});
  c.settings["map.align"] = draw_between(random, {"good", "bad"});
  c.settings["mem.fma16_stalls"] = draw_between(random, {"0", "3"});
  c.settings["ws.zero_filter"] = draw_between(random, {"true", "true", "false"});
  c.settings["core.sched"] = draw_between(random, {"ut_first", "main_first", "round_robin"});
  c.settings["ws.reduce"] = draw_between(random, {"ring", "chain", "two_phase"});
  c.settings["ws.inject"] = draw_between(random, {"column_top", "middle_row"});
  return c;
}

OpResult run_series(const Case& c, const Execution& execution) {
  const auto machine = make_wse_machine("wse2");
  for (const auto& [path, text] : c.settings) machine->set(path, text, "");
  machine->check();
  return machine->run(c.op, &c.mask, 5, execution);
}

/// Every number of every core, whatever rows are stored once.
std::map<std::string, std::vector<std::uint64_t>> unfolded(const UnitSeries& series) {
  std::map<std::string, std::vector<std::uint64_t>> all;
  for (const UnitChannel& channel : series.channels) {
    std::vector<std::uint64_t>& values = all[channel.name];
    for (std::size_t step = 0; step < (channel.timed() ? series.ends.size() : 1); ++step) {
      for (std::size_t row = 0; row < series.rows; ++row) {
        for (std::size_t c = 0; c < series.columns; ++c) {
          values.push_back(channel.timed()
                               ? series.value(channel, step, row, c)
                               : channel.values[series.source[row] * series.columns + c]);
        }
      }
    }
  }
  return all;
}

TEST(UnitSeriesOfAWafer, IsTheSameHoweverRowsAreSimulated) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    Execution folded;
    folded.view = 1 + seed % 9;
    OpResult first;
    try {
      first = run_series(c, folded);
    } catch (const std::exception&) {
      continue;  // what a machine refuses it refuses without a view too
    }
    ++seen;
    ASSERT_NE(first.units_in_time, nullptr);
    const auto expected = unfolded(*first.units_in_time);
    Execution rows = folded;
    rows.fold = false;
    Execution cores = folded;
    cores.engine = Engine::clocked;
    cores.shuffle = 7;
    Execution clocked = folded;
    clocked.engine = Engine::clocked;
    for (const Execution& execution : {rows, cores, clocked}) {
      const OpResult other = run_series(c, execution);
      EXPECT_EQ(other.units_in_time->ends, first.units_in_time->ends);
      EXPECT_EQ(other.units_in_time->behind, first.units_in_time->behind);
      ASSERT_EQ(unfolded(*other.units_in_time), expected);
    }
  }
  EXPECT_GT(seen, 25);
}

// 16 rows of 16 weights, half of them zero: 8 x 16 zeros never leave the sender, and every core of
// a column that holds 4 features comes to the end of 16 rows.
TEST(UnitSeriesOfAWafer, CountsTheZerosThatWereKeptOut) {
  Case c;
  c.op.op = "gemm";
  c.op.m = c.op.k = 16;
  c.op.n = 8;
  c.op.residency = Residency::streamed;
  c.mask.rows = c.mask.cols = 16;
  c.mask.offsets.push_back(0);
  for (std::uint32_t r = 0; r < 16; ++r) {
    for (std::uint32_t j = r % 2; j < 16; j += 2) c.mask.columns.push_back(j);
    c.mask.offsets.push_back(c.mask.columns.size());
  }
  c.settings = {{"wafer.columns", "4"}, {"wafer.rows", "2"}};
  Execution execution;
  execution.view = 5;
  const OpResult result = run_series(c, execution);
  const auto all = unfolded(*result.units_in_time);
  const auto sum = [&](const char* name) {
    const std::vector<std::uint64_t>& values = all.at(name);
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum("zeros kept out"), 2U * 128);  // by each of the two rows of cores
  EXPECT_EQ(sum("rows done"), 8U * 16);
  EXPECT_EQ(result.units_in_time->ends.size(), 5U);
}

TEST(UnitSeriesOfAChip, IsTheSameWithBothEngines) {
  for (const char* const gemm : {"dense", "sparse"}) {
    SCOPED_TRACE(gemm);
    LayerOp op;
    op.op = "gemm";
    op.m = 96;
    op.k = 80;
    op.n = 48;
    Random random(stream_seed(3, gemm));
    Mask mask;
    mask.rows = op.m;
    mask.cols = op.k;
    mask.offsets.push_back(0);
    for (std::uint32_t r = 0; r < op.m; ++r) {
      for (std::uint32_t j = 0; j < op.k; ++j) {
        if (random.bounded(10) == 0) mask.columns.push_back(j);
      }
      mask.offsets.push_back(mask.columns.size());
    }
    const bool sparse = gemm == std::string("sparse");
    if (sparse) op.pattern.name = "unstructured";
    const auto machine = make_ipu_machine("bow");
    machine->set("ipu.tiles", "32", "");
    Execution execution;
    execution.view = 1;
    const OpResult event = machine->run(op, sparse ? &mask : nullptr, 5, execution);
    execution.engine = Engine::clocked;
    const OpResult clocked = machine->run(op, sparse ? &mask : nullptr, 5, execution);
    const UnitSeries& series = *event.units_in_time;
    EXPECT_EQ(series.ends, clocked.units_in_time->ends);
    EXPECT_EQ(series.step_names, clocked.units_in_time->step_names);
    EXPECT_EQ(unfolded(series), unfolded(*clocked.units_in_time));
    EXPECT_EQ(series.ends.back(), event.cycles);
    // each cycle of each tile has one cause
    std::uint64_t cycles = 0;
    for (const UnitChannel& channel : series.channels) {
      if (channel.group != UnitChannel::Group::stack) continue;
      cycles += std::accumulate(channel.values.begin(), channel.values.end(), std::uint64_t{0});
    }
    EXPECT_EQ(cycles, 32 * event.cycles);
  }
}

}  // namespace
}  // namespace lacuna
