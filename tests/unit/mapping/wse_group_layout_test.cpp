// SPDX-License-Identifier: Apache-2.0
// Where products in groups of columns have their operands and results, and what is moved there.
#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "tests/support/wse/first_gradient.hpp"
#include "tests/support/wse/layout_places.hpp"
#include "workloads/mapping/wse/gradient.hpp"
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
                             {3, Share::tokens, Lie::interleaved, Exchange::next},
                             {2, Share::tokens, Lie::side_by_side, Exchange::next},
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

/// Groups that share what cores hold have no results to leave to the next operation.
bool possible(const Way& way, bool resident) {
  const bool holds_all = (way.share == Share::tokens) == resident;
  return way.groups == 1 || holds_all || way.exchange == Exchange::product;
}

/// Of a product whose rows of sums are `rows`, each of `elements`.
StreamingPlan planned(const Way& way, KPartition partition, std::uint32_t rows,
                      std::uint32_t elements, bool resident) {
  StreamingJob job;
  job.resident = resident;
  job.gemm.m = resident ? elements : rows;
  job.gemm.k = kFeatures;
  job.gemm.n = resident ? rows : elements;
  return plan_streaming(job, setup_of(way, partition));
}

/// Of resident weights a row of sums is a token, and outputs are elements.
void expect_results(const Way& way, KPartition partition, bool resident) {
  const StreamingSetup setup = setup_of(way, partition);
  const StreamingPlan plan = planned(way, partition, kFeatures, kTokens, resident);
  const LayoutPlaces said = places_of(
      product_layout(setup.wafer, {setup.ws, setup.io}, kFeatures, kTokens, nullptr, resident),
      kFeatures, kTokens);
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

TEST(GroupLayouts, AreWhereTheProgramKeepsResults) {
  for (const Way& way : kWays) {
    for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
      for (const bool resident : {false, true}) {
        if (!possible(way, resident)) continue;
        expect_results(way, partition, resident);
      }
    }
  }
}

// With resident weights what is streamed is activations. A group whose stream has a token takes
// the features of its places where its streams enter: in its own columns, or only in those that
// others have copies of.
TEST(GroupLayouts, OfActivationsThatAreStreamedAreWhereTheyEnter) {
  for (const Way& way : kWays) {
    for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
      if (!possible(way, true)) continue;
      const StreamingSetup setup = setup_of(way, partition);
      const StreamingPlan plan = planned(way, partition, kTokens, 9, true);
      const std::vector<std::uint64_t> load(kFeatures, 1);
      const LayoutPlaces said = places_of(
          entry_layout(setup.wafer, {setup.ws, setup.io}, load, kTokens, 9), kFeatures, kTokens);
      const ColumnGroups& groups = plan.program.kernel.groups;
      const std::vector<std::uint32_t> place =
          assign_features(partition, kFeatures, groups.width, {});
      LayoutPlaces enters(said.size());
      for (std::size_t i = 0; i < plan.row_of_step.size(); ++i) {
        if (plan.row_of_step[i] == kNoRow) continue;
        const auto group = static_cast<std::uint32_t>(i % groups.count);
        for (std::uint32_t f = 0; f < kFeatures; ++f) {
          const std::uint32_t column = groups.column_of(group, place[f]);
          if (!plan.program.has_stream(column)) continue;
          enters[std::size_t{f} * kTokens + plan.row_of_step[i]].insert(
              {plan.program.entry, column});
        }
      }
      EXPECT_EQ(said, enters);
    }
  }
}

// X is in the columns whose index counts it, for all tokens of their group, and dY in the one that
// sends it round the ring of its group.
TEST(GroupLayouts, OfAGradientAreWhereItsProgramHasThem) {
  for (const Way& way : kWays) {
    if (!possible(way, false)) continue;
    for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
      const StreamingSetup setup = setup_of(way, partition);
      GradientJob job;
      job.m = kFeatures;
      job.n = 10;
      job.tokens = kTokens;
      const GradientPlan plan = test::plan_gradient(job, setup);
      const StreamingKernel& kernel = plan.program.kernel;
      LayoutPlaces x(std::size_t{job.n} * kTokens);
      LayoutPlaces dy(std::size_t{job.m} * kTokens);
      const auto add = [&](LayoutPlaces& places, std::uint32_t feature, std::uint32_t column) {
        std::uint32_t before = 0;
        for (std::uint32_t r = 0; r < kernel.tokens.size(); ++r) {
          const std::uint32_t n = kernel.tokens[r];
          const std::uint32_t first =
              first_element(plan.element_shares, before, n, kernel.groups.group_of(column));
          before += n;
          for (std::uint32_t t = first; t < first + n && t < kTokens; ++t) {
            places[std::size_t{feature} * kTokens + t].insert({r, column});
          }
        }
      };
      for (std::uint32_t c = 0; c < plan.feature_of.size(); ++c) {
        for (const std::uint32_t j : plan.feature_of[c]) add(x, j, c);
      }
      for (std::size_t i = 0; i < plan.row_of_step.size(); ++i) {
        if (plan.row_of_step[i] != kNoRow) add(dy, plan.row_of_step[i], kernel.final_column[i]);
      }
      const GradientLayouts said = gradient_layouts(job, setup);
      EXPECT_EQ(places_of(said.x, job.n, kTokens), x) << way.groups;
      EXPECT_EQ(places_of(said.dy, job.m, kTokens), dy) << way.groups;
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
      if (possible(way, false)) {
        layouts.push_back(product_layout(setup.wafer, stream, kFeatures, kTokens, &load));
        layouts.push_back(product_layout(setup.wafer, stream, kFeatures, kTokens, nullptr));
      }
      if (possible(way, true)) {
        layouts.push_back(entry_layout(setup.wafer, stream, load, kTokens, kFeatures));
      }
    }
  }
  for (const FeatureLayout& from : layouts) {
    for (const FeatureLayout& to : layouts) {
      CoreMover mover(layer, Element::fp16);
      LayoutMove({from, 0, to, 0, kFeatures, kTokens}).add_to(mover, 2);
      std::vector<std::uint64_t> left;
      mover.most_bytes(left);
      std::vector<std::uint64_t> expected(24, 0);
      for (const auto& cores : places_of(to, kFeatures, kTokens)) {
        for (const auto& [row, column] : cores) expected[row * 6 + column] += 2;
      }
      EXPECT_EQ(left, expected);
      // Nothing goes where nothing is missing.
      bool missing = false;
      const LayoutPlaces have = places_of(from, kFeatures, kTokens);
      const LayoutPlaces want = places_of(to, kFeatures, kTokens);
      for (std::size_t i = 0; i < want.size(); ++i) {
        for (const auto& core : want[i]) missing = missing || have[i].count(core) == 0;
      }
      EXPECT_EQ(mover.stages("move").empty(), !missing);
    }
  }
}

/// Lengths of the vectors that the cores of a move send.
std::vector<std::uint32_t> sent_vectors(const CoreMover& mover) {
  std::vector<std::uint32_t> lengths;
  for (const LayerStage& stage : mover.stages("move")) {
    for (const TaskProgram& part : stage.parts) {
      for (const CoreProgram& core : part.cores) {
        for (const Task& task : core.tasks) {
          for (const Step& step : task.steps) {
            const bool sends = step.vector.to.kind == Operand::Kind::fabric;
            if (step.kind == Step::Kind::vector && sends) lengths.push_back(step.vector.length);
          }
        }
      }
    }
  }
  return lengths;
}

// Eight tokens of one feature, which column 0 has, go to two groups of two columns: of the first
// four, whose results are kept at the first place, the second and fourth go to group 1, of the
// others, dealt from group 1 on, the first and third. So tokens 1 and 3 are one vector and 4 and 6
// are one, each of two; the rest is where it belongs.
TEST(GroupLayouts, TokensThatAreDealtAreAVectorForEachPlace) {
  LayerSetup layer;
  layer.wafer.columns = 4;
  layer.wafer.rows = 1;
  StreamingParams ws;
  ws.groups = 2;
  ws.share = Share::tokens;
  const IoParams io;
  const FeatureLayout to = entry_layout(layer.wafer, {ws, io}, {1}, 8, 5);
  CoreMover mover(layer, Element::fp16);
  const FeatureLayout from = block_layout(layer.wafer, 1, 8);
  LayoutMove({from, 0, to, 0, 1, 8}).add_to(mover, 2);
  EXPECT_EQ(sent_vectors(mover), (std::vector<std::uint32_t>{2, 2}));
}

// A product that has no row below those that copy is refused, but its moves may be asked for first.
TEST(GroupLayouts, NothingEntersWhereRowsThatCopyLeaveNone) {
  WaferParams wafer;
  wafer.columns = 4;
  wafer.rows = 1;
  StreamingParams ws;
  ws.groups = 2;
  ws.lie = Lie::interleaved;
  const IoParams io;
  EXPECT_TRUE(token_parts(entry_layout(wafer, {ws, io}, {1, 1}, 8, 5)).empty());
  wafer.rows = 2;
  EXPECT_EQ(token_parts(entry_layout(wafer, {ws, io}, {1, 1}, 8, 5)).at(0).row, 1U);
}

}  // namespace
}  // namespace lacuna::wse
