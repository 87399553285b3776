// SPDX-License-Identifier: Apache-2.0
// Weights that enter at the west edge and run along rows of routers to their columns.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {
namespace {

using test::expect_equal;

using Settings = std::map<std::string, std::string>;

std::unique_ptr<Machine> machine(const Settings& settings) {
  auto made = make_wse_machine("wse");
  for (const auto& [path, text] : settings) made->set(path, text, "test");
  made->check();
  return made;
}

LayerOp product(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp op;
  op.m = m;
  op.k = k;
  op.n = n;
  return op;
}

/// I/O that holds nothing up.
Settings fast(std::uint32_t columns, std::uint32_t rows) {
  return {{"wafer.columns", std::to_string(columns)},
          {"wafer.rows", std::to_string(rows)},
          {"io.gbit", "10000000"},
          {"io.share", "1"},
          {"ws.index_bits", "16"}};
}

Cycle cycles(Settings settings, const LayerOp& op, const char* inject, const char* dist_rows) {
  settings["ws.inject"] = inject;
  settings["io.dist_rows"] = dist_rows;
  return machine(settings)->run(op, nullptr, 1, {}).cycles;
}

// The only column is the first of its row: its words turn south at once and come to the first row
// with tokens a hop later than from the top. The row at the edge holds no tokens, so a wafer with
// one more is compared.
TEST(WestEdge, OneColumnHasItsWordsAHopLater) {
  const LayerOp op = product(3, 5, 8);
  EXPECT_EQ(cycles(fast(1, 3), op, "west_edge", "1"),
            cycles(fast(1, 2), op, "column_top", "0") + 1);
}

// Eight columns of 32 weights and 4 commands each. With a row for each column nothing is shared.
// With one row for all, 7 x 36 words cross its second link, one a cycle: the last of them cannot
// be there before cycle 252.
TEST(WestEdge, ARowCarriesAWordACycleForAllItsColumns) {
  const LayerOp op = product(4, 64, 1);
  Settings settings = fast(8, 9);
  settings["core.dispatch"] = "0";
  settings["core.cmd_cycles"] = "0";
  const Cycle alone = cycles(settings, op, "west_edge", "8");
  const Cycle shared = cycles(settings, op, "west_edge", "1");
  EXPECT_LT(alone, 150U);
  EXPECT_GT(shared, 252U);
  EXPECT_LT(shared, 252U + alone);
}

TEST(WestEdge, ColumnsOfARowNeedAColorEach) {
  wse::IoParams io;
  const auto rows = [&](std::uint32_t columns) {
    return wse::rows_for_streams(io, columns, wse::reduction_colors(wse::Reduce::ring, columns));
  };
  EXPECT_EQ(rows(750), 40U);  // 24 colors, 4 of the ring, one of other streams
  EXPECT_EQ(rows(19), 1U);
  EXPECT_EQ(rows(20), 2U);
  io.dist_rows = 39;
  EXPECT_THROW((void)rows(750), UnsupportedError);
}

// A router has one way for a color, so no two columns of a color may meet in one.
TEST(WestEdge, ColumnsOfAColorNeverCross) {
  for (const std::uint32_t columns : {2U, 7U, 19U, 20U, 41U}) {
    for (const std::uint32_t rows : {3U, 5U, 8U}) {
      wse::StreamingSetup setup;
      setup.wafer.columns = columns;
      setup.wafer.rows = rows + 2;
      setup.ws.inject = wse::Inject::west_edge;
      setup.io.dist_rows = rows;
      wse::StreamingJob job;
      job.gemm.m = job.gemm.k = job.gemm.n = 8;
      for (const wse::RouterProgram& router : plan_streaming(job, setup).program.routers) {
        std::set<unsigned> colors;
        for (const wse::Route& route : router.routes) {
          EXPECT_TRUE(colors.insert(static_cast<unsigned>(route.color)).second)
              << columns << " columns, " << rows << " rows";
        }
      }
    }
  }
}

TEST(WestEdge, NeedsARowForTokens) {
  EXPECT_THROW((void)cycles(fast(4, 2), product(3, 5, 8), "west_edge", "2"), UnsupportedError);
}

std::string pick_between(Random& random, std::initializer_list<const char*> from) {
  return *(from.begin() + random.bounded(from.size()));
}

struct Scenario {
  Settings settings;
  LayerOp op;
  Mask mask;
};

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed);
  const auto upto = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  Scenario s;
  const std::uint32_t columns = upto(7);
  const std::uint32_t edge = upto(std::min(3U, columns));
  s.settings = {{"wafer.columns", std::to_string(columns)},
                {"wafer.rows", std::to_string(edge + upto(6))},
                {"io.dist_rows", std::to_string(edge)},
                {"ws.inject", "west_edge"},
                {"ws.lookahead", std::to_string(upto(4))},
                {"io.gbit", pick_between(random, {"40", "1200", "100000"})},
                {"io.share", "1"},
                {"ws.row_order", pick_between(random, {"ring", "rotate", "natural"})},
                {"ws.k_partition", pick_between(random, {"block", "cyclic", "balanced"})},
                {"ws.reduce", pick_between(random, {"ring", "ring", "chain", "tree", "two_phase"})},
                {"io.stream", pick_between(random, {"per_column", "row_ordered"})},
                {"router.arbiter", pick_between(random, {"round_robin", "fixed"})},
                {"router.multicast", pick_between(random, {"independent", "lockstep"})},
                {"router.entries", pick_between(random, {"1", "2", "3"})},
                {"router.hop", pick_between(random, {"1", "2"})},
                {"core.dispatch", pick_between(random, {"0", "4"})}};
  s.op = product(upto(12), upto(20), upto(30));
  s.op.pattern.name = "unstructured";
  s.mask = {s.op.m, s.op.k, 1, 1, {0}, {}};
  for (std::uint32_t i = 0; i < s.op.m; ++i) {
    for (std::uint32_t j = 0; j < s.op.k; ++j) {
      if (random.bounded(3) == 0) s.mask.columns.push_back(j);
    }
    s.mask.offsets.push_back(s.mask.columns.size());
  }
  return s;
}

TEST(WestEdge, NeitherEngineNorOrderNorFoldingChangesTheOutcome) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Scenario s = random_scenario(seed);
    const auto made = machine(s.settings);
    Execution execution;
    execution.engine = Engine::clocked;
    execution.fold = false;
    execution.event_log = true;
    const OpResult expected = made->run(s.op, &s.mask, 1, execution);
    execution.engine = Engine::event;
    execution.shuffle = seed;
    expect_equal(made->run(s.op, &s.mask, 1, execution), expected);
    execution.fold = true;
    const OpResult folded = made->run(s.op, &s.mask, 1, execution);
    if (folded.exact) expect_equal(folded, expected);
  }
}

TEST(WestEdge, ProductsAreRight) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Scenario s = random_scenario(seed);
    Execution execution;
    execution.values = true;
    execution.jitter = seed % 2 == 0 ? 3 : 0;
    const OpResult result = machine(s.settings)->run(s.op, &s.mask, seed, execution);
    ASSERT_TRUE(result.values.has_value());
    EXPECT_EQ(result.values->compared, std::uint64_t{s.op.m} * s.op.n);
    EXPECT_EQ(result.values->wrong, 0U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lacuna
