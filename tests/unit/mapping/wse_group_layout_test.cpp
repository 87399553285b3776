// SPDX-License-Identifier: Apache-2.0
// Where products in groups of columns have their operands and results, and what is moved there.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "workloads/mapping/wse/layers/layout_move.hpp"
#include "workloads/mapping/wse/layers/move.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

struct Way {
  unsigned groups;
  Share share;
  Lie lie;
  Exchange exchange;
};

const std::vector<Way> kWays{{1, Share::rows, Lie::side_by_side, Exchange::product},
                             {2, Share::rows, Lie::side_by_side, Exchange::product},
                             {3, Share::rows, Lie::interleaved, Exchange::product},
                             {2, Share::rows, Lie::interleaved, Exchange::next},
                             {3, Share::rows, Lie::side_by_side, Exchange::next},
                             {2, Share::tokens, Lie::interleaved, Exchange::product},
                             {3, Share::tokens, Lie::side_by_side, Exchange::product}};

StreamingSetup setup_of(const Way& way, KPartition partition = KPartition::block) {
  StreamingSetup setup;
  setup.wafer.columns = 6;
  setup.wafer.rows = 4;
  setup.ws.groups = way.groups;
  setup.ws.share = way.share;
  setup.ws.lie = way.lie;
  setup.ws.exchange = way.exchange;
  setup.ws.buses = 1;
  setup.ws.k_partition = partition;
  return setup;
}

constexpr std::uint32_t kFeatures = 13;
constexpr std::uint32_t kTokens = 17;

/// Cores of each element, by feature and token.
using Places = std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>>;

/// Written from what a layout is said to be, token by token.
Places places_of(const FeatureLayout& layout) {
  Places places(std::size_t{kFeatures} * kTokens);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_token;  // row, share
  for (std::uint32_t r = 0; r < layout.tokens.size(); ++r) {
    for (std::uint32_t t = 0; t < layout.tokens[r]; ++t) {
      of_token.emplace_back(r, layout.split ? t / (layout.tokens[r] / layout.groups.count) : 0);
    }
  }
  for (std::uint32_t f = 0; f < kFeatures; ++f) {
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      const auto [row, share] = of_token[t];
      for (std::uint32_t g = 0; g < layout.groups.count; ++g) {
        if (layout.split && g != share) continue;
        places[std::size_t{f} * kTokens + t].insert(
            {row, layout.groups.count == 1 ? layout.column[f]
                                           : layout.groups.column_of(g, layout.column[f])});
      }
    }
  }
  return places;
}

StreamingPlan planned(const Way& way, KPartition partition, std::uint32_t m, std::uint32_t k) {
  StreamingJob job;
  job.gemm.m = m;
  job.gemm.k = k;
  job.gemm.n = kTokens;
  return plan_streaming(job, setup_of(way, partition));
}

TEST(GroupLayouts, AreWhereTheProgramKeepsResults) {
  for (const Way& way : kWays) {
    for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
      const StreamingSetup setup = setup_of(way, partition);
      const StreamingPlan plan = planned(way, partition, kFeatures, 5);
      const Places said =
          places_of(product_layout(setup.wafer, {setup.ws, setup.io}, kFeatures, kTokens, nullptr));
      const StreamingKernel& kernel = plan.program.kernel;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < plan.row_of_step.size(); ++i) {
        if (plan.row_of_step[i] == kNoRow) continue;
        const std::uint32_t column = kernel.final_column[i];
        std::uint32_t before = 0;
        for (std::uint32_t r = 0; r < plan.program.rows; ++r) {
          const std::uint32_t first = first_element(plan.element_shares, before, kernel.tokens[r],
                                                    kernel.groups.group_of(column));
          before += kernel.tokens[r];
          for (std::uint32_t t = first; t < first + kernel.tokens[r] && t < kTokens; ++t, ++kept) {
            EXPECT_EQ(said[std::size_t{plan.row_of_step[i]} * kTokens + t].count({r, column}), 1U);
          }
        }
      }
      EXPECT_EQ(kept, std::size_t{kFeatures} * kTokens);  // each in one core; its copies come later
    }
  }
}

TEST(GroupLayouts, AreWhatAMoveLeavesInEachCore) {
  LayerSetup layer;
  layer.wafer.columns = 6;
  layer.wafer.rows = 4;
  std::vector<FeatureLayout> layouts{block_layout(layer.wafer, kFeatures, kTokens)};
  for (const Way& way : kWays) {
    for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
      const StreamingSetup setup = setup_of(way, partition);
      const std::vector<std::uint64_t> load(kFeatures, 1);
      const StreamSettings stream{setup.ws, setup.io};
      layouts.push_back(product_layout(setup.wafer, stream, kFeatures, kTokens, &load));
      layouts.push_back(product_layout(setup.wafer, stream, kFeatures, kTokens, nullptr));
    }
  }
  for (const FeatureLayout& from : layouts) {
    for (const FeatureLayout& to : layouts) {
      CoreMover mover(layer, Element::fp16);
      LayoutMove({from, 0, to, 0, kFeatures, kTokens}).add_to(mover, 2);
      std::vector<std::uint64_t> left;
      mover.most_bytes(left);
      std::vector<std::uint64_t> expected(24, 0);
      for (const auto& cores : places_of(to)) {
        for (const auto& [row, column] : cores) expected[row * 6 + column] += 2;
      }
      EXPECT_EQ(left, expected);
      // Nothing goes where nothing is missing.
      bool missing = false;
      const Places have = places_of(from);
      const Places want = places_of(to);
      for (std::size_t i = 0; i < want.size(); ++i) {
        for (const auto& core : want[i]) missing = missing || have[i].count(core) == 0;
      }
      EXPECT_EQ(mover.stages("move").empty(), !missing);
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
