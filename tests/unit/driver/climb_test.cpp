// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/climb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/driver/layout/climb_rows.hpp"
#include "sim/machines/plans_layouts.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;

/// A line of layouts `at` 0, 1, 2, ..., each with its cycles; 0: it cannot be. A step is one place
/// up or down, up first.
struct Line {
  std::vector<Cycle> cycles;
  std::vector<std::size_t> tried = {};

  static Layout at(std::size_t place) { return {{"at", std::to_string(place)}}; }
  static std::size_t place(const Layout& layout) { return std::stoul(layout[0].second); }

  LayoutFound climb_from(const std::vector<std::size_t>& places, const ClimbEffort& effort = {}) {
    std::vector<Layout> starts;
    for (const std::size_t each : places) starts.push_back(at(each));
    return climb(
        starts,
        [&](const Layout& layout) {
          std::vector<Layout> steps;
          if (place(layout) + 1 < cycles.size()) steps.push_back(at(place(layout) + 1));
          if (place(layout) != 0) steps.push_back(at(place(layout) - 1));
          return steps;
        },
        [&](const Layout& layout, double /*best*/) {
          tried.push_back(place(layout));
          const Cycle found = cycles[place(layout)];
          if (found == 0) return Tried{Tried::Fate::impossible};
          return Tried{Tried::Fate::simulated, static_cast<double>(found)};
        },
        effort);
  }
};

// From 2 up to 3 and 4, where both sides are slower; what was tried is not tried again.
TEST(Climb, GoesToTheFirstStepThatIsFasterUntilNoneIs) {
  Line line{{1, 50, 40, 30, 20, 60}};
  const LayoutFound found = line.climb_from({2});
  EXPECT_EQ(found.layout, Line::at(4));
  EXPECT_EQ(found.cycles, 20U);
  EXPECT_EQ(found.planned, 40U);
  EXPECT_EQ(found.simulated, 4U);
  EXPECT_FALSE(found.cut_off);
  EXPECT_THAT(line.tried, ElementsAre(2, 3, 4, 5));
}

TEST(Climb, BeginsAtTheBestOfItsStarts) {
  Line line{{10, 50, 40, 30, 90, 60}};
  const LayoutFound found = line.climb_from({4, 1, 5});
  EXPECT_EQ(found.planned, 50U);
  EXPECT_EQ(found.layout, Line::at(3));
  EXPECT_THAT(line.tried, ElementsAre(4, 1, 5, 2, 3));
}

// What is planned is the best of three, which a budget of one would not have found: 90 of the
// first.
TEST(Climb, TriesAllItsStartsWhateverItsBudget) {
  Line line{{10, 50, 40, 30, 90, 60}};
  const LayoutFound found = line.climb_from({4, 1, 5}, {1, 1});
  EXPECT_EQ(found.planned, 50U);
  EXPECT_EQ(found.cycles, 50U);
  EXPECT_TRUE(found.cut_off);
  EXPECT_THAT(line.tried, ElementsAre(4, 1, 5));
}

TEST(Climb, EndsWithItsBudgetOrItsPatience) {
  Line line{{9, 8, 7, 6, 5, 4}};
  EXPECT_EQ(line.climb_from({0}, {3, 0}).cycles, 7U);
  EXPECT_TRUE(line.climb_from({0}, {3, 0}).cut_off);
  Line hill{{1, 9, 5, 9}};  // both sides of 2 are in vain
  EXPECT_TRUE(hill.climb_from({2}, {48, 1}).cut_off);
  EXPECT_FALSE(hill.climb_from({2}, {48, 3}).cut_off);
}

TEST(Climb, AStartThatCannotBeHasNeighboursThatMay) {
  Line line{{0, 0, 7, 0}};
  const LayoutFound found = line.climb_from({1});
  EXPECT_EQ(found.cycles, 7U);
  EXPECT_EQ(found.planned, 0U);
  EXPECT_EQ(found.impossible, 2U) << "1 itself, and 3 behind the best";
  EXPECT_EQ(line.climb_from({0}).cycles, 0U) << "none can be";
}

TEST(Climb, WhatWasFoundIsALineAndBack) {
  Line line{{9, 8, 7}};
  const LayoutFound found = line.climb_from({0});
  const auto back = decode_found(encode_found(found));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->layout, found.layout);
  EXPECT_EQ(back->cycles, found.cycles);
  EXPECT_EQ(back->planned, found.planned);
  EXPECT_TRUE(back->kept);
  EXPECT_FALSE(decode_found("no line").has_value());
}

struct SideParams : ParameterSet {
  Param<unsigned> side = param(this, "side", 0U, range(0U, 2U), "", "Where operands lie.");
};

/// Products that may lie on three sides. Each takes 100 cycles, on side 1 what `gain` says less,
/// and 30 to move what was left on another side.
class Sided final : public Machine, public PlansLayouts {
 public:
  explicit Sided(Cycle gain) : gain_(gain) {}

  const char* kind() const override { return "sided"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return energy_; }
  std::vector<DeclaredStatistic> statistics() const override { return {}; }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  void check() const override {}
  Mode default_mode() const override { return Mode::dense; }
  std::string extent() const override { return ""; }
  std::unique_ptr<Machine> clone() const override { return std::make_unique<Sided>(*this); }
  const std::vector<LayoutSpace>& layouts() const override {
    static const std::vector<LayoutSpace> spaces = {
        {"product", {{"side", {"0", "1"}, "", LayoutChoice::Seen::moves}}}};
    return spaces;
  }
  const LayoutSpace* layout_space(const LayerOp&, const Mask*) const override {
    return layouts().data();
  }
  OpResult run(const LayerOp&, const Mask*, std::uint64_t, const Execution&) const override {
    OpResult result;
    result.cycles = 100 - (params_.side == 1 ? gain_ : 0);
    return result;
  }

  std::unique_ptr<Machine> taking_from(const std::vector<const Machine*>& makers) const override {
    auto made = std::make_unique<Sided>(*this);
    const auto* const maker = dynamic_cast<const Sided*>(makers.empty() ? nullptr : makers[0]);
    made->from_ = maker == nullptr ? params_.side.value() : maker->params_.side.value();
    return made;
  }
  Cycle operand_moves(const LayerOp&, const Mask*, std::uint64_t) const override {
    return from_ == params_.side ? 0 : 30;
  }
  void share_runs(std::shared_ptr<ProductRuns>) override {}

  std::vector<Pairs> planned(const LayerOp&, const Mask*, const Pairs&) const override {
    return {{}};
  }
  std::vector<Pairs> around(const LayerOp&, const Mask*, const Pairs&) const override {
    return {{{"side", "1"}}, {{"side", "0"}}};
  }

 private:
  std::string name_ = "sided";
  SideParams params_;
  EnergyParams energy_;
  Cycle gain_;
  unsigned from_ = 0;
};

/// Cycles of b, which takes what a has left and leaves it to c.
Cycle cycles_between(Cycle gain) {
  RelatedOn way;
  way.machine = std::make_unique<Sided>(gain);
  for (const std::string id : {"a", "b", "c"}) {
    LayerOp op;
    op.id = id;
    op.op = "gemm";
    op.m = op.k = op.n = id == "a" ? 8 : id == "b" ? 16 : 32;
    OperandSource source;
    source.of_product = true;
    if (id != "a") op.sources = {source};
    way.workload.ops.push_back(op);
  }
  way.makers = {{}, {"a"}, {"b"}};
  std::vector<RelatedOn> ways;
  ways.push_back(std::move(way));
  const RowsFound found =
      climb_rows(ways, [](const LayerOp&) -> const Mask* { return nullptr; }, 1, {});
  return found.rows[1]->cycles;
}

// Row by row, others as they are: a takes 100 - gain + 30 if it changes sides alone. At a gain of
// 40 it does, and b, which has less to move then, too: 60. At 20 no row gains alone: 100.
TEST(ClimbRows, ARowChangesSidesIfThatGainsMoreThanItMoves) {
  EXPECT_EQ(cycles_between(40), 60U);
  EXPECT_EQ(cycles_between(20), 100U);
}

}  // namespace
}  // namespace lacuna::test
