// SPDX-License-Identifier: Apache-2.0
// Operands on their way to and from products in groups of columns.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/wse/layout_places.hpp"
#include "tests/support/wse/moves.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/move.hpp"

namespace lacuna {
namespace {

using test::upto;
using wse::FeatureLayout;
using wse::LayoutPlaces;

/// A wafer of some columns in groups, as the program and a planner of moves are told of it.
struct Grouped {
  std::unique_ptr<Machine> machine;
  wse::WaferParams wafer;
  wse::StreamingParams ws;
  wse::IoParams io;
  std::string text;

  wse::StreamSettings stream() const { return {ws, io}; }

  void set(const std::string& name, const std::string& value) {
    machine->set("ws." + name, value, "test");
    text += name + "=" + value + " ";
  }
};

template <class Enum>
Enum pick(Random& random, Enum one, Enum other) {
  return random.bounded(2) == 0 ? one : other;
}

Grouped drawn(Random& random, bool resident) {
  Grouped made;
  const auto groups = static_cast<std::uint32_t>(2 + random.bounded(2));
  made.ws.groups = groups;
  made.wafer.columns = groups * static_cast<std::uint32_t>(1 + random.bounded(3));
  made.wafer.rows = static_cast<std::uint32_t>(3 + random.bounded(4));
  made.ws.share = pick(random, wse::Share::rows, wse::Share::tokens);
  made.ws.lie = pick(random, wse::Lie::side_by_side, wse::Lie::interleaved);
  made.ws.copies = pick(random, wse::Copies::routed, wse::Copies::idealised);
  made.ws.k_partition = pick(random, wse::KPartition::block, wse::KPartition::cyclic);
  // What stays in its group has to be shared by the program and by the layout after it.
  const bool may_stay = !resident && made.ws.share == wse::Share::rows;
  if (may_stay) made.ws.exchange = pick(random, wse::Exchange::product, wse::Exchange::next);
  made.machine = machine(made.wafer.columns, made.wafer.rows);
  made.text = std::to_string(made.wafer.columns.value()) + "x" +
              std::to_string(made.wafer.rows.value()) + " ";
  made.set("groups", std::to_string(groups));
  made.set("share", made.ws.share.value_text());
  made.set("lie", made.ws.lie.value_text());
  made.set("copies", made.ws.copies.value_text());
  made.set("k_partition", made.ws.k_partition.value_text());
  made.set("exchange", made.ws.exchange.value_text());
  return made;
}

/// Links that all elements take which are not yet where they belong: each from the nearest core
/// that has it, along the row of cores first. An FP32 element is a word.
class Distances {
 public:
  void add(const std::pair<std::uint32_t, std::uint32_t>& from,
           const std::pair<std::uint32_t, std::uint32_t>& to) {
    rows_.add(from.first, from.second, to.second);
    columns_.add(to.second, from.first, to.first);
  }

  void add(const std::set<std::pair<std::uint32_t, std::uint32_t>>& have,
           const std::pair<std::uint32_t, std::uint32_t>& to) {
    auto nearest = *have.begin();
    for (const auto& core : have) {
      if (apart(core.second, to.second) < apart(nearest.second, to.second)) nearest = core;
    }
    add(nearest, to);
  }

  std::uint64_t sum() const { return rows_.sum() + columns_.sum(); }

 private:
  LineHops rows_;
  LineHops columns_;
};

/// Both engines and no folding say the same of the cycles and of every counter.
OpResult run_both(const Grouped& on, const LayerOp& op) {
  Execution execution;
  execution.engine = Engine::clocked;
  const OpResult expected = on.machine->run(op, nullptr, 1, execution);
  for (const bool fold : {false, true}) {
    execution.engine = Engine::event;
    execution.fold = fold;
    const OpResult actual = on.machine->run(op, nullptr, 1, execution);
    EXPECT_EQ(actual.cycles, expected.cycles) << on.text;
    EXPECT_EQ(actual.stack, expected.stack) << on.text;
    EXPECT_EQ(actual.statistics.size(), expected.statistics.size());
    for (std::size_t s = 0; s < actual.statistics.size(); ++s) {
      EXPECT_EQ(actual.statistics[s].value, expected.statistics[s].value)
          << on.text << actual.statistics[s].name;
    }
  }
  return expected;
}

// X of a product with resident weights goes from where a product or a function has left it to where
// it enters the columns, and the result, of which columns have tokens, to every core that has it
// after a product with streamed weights.
TEST(GroupMoves, OfResidentWeightsTakeAsManyLinksAsTheirCoresAreApart) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    const Grouped on = drawn(random, true);
    LayerOp op;
    op.m = upto(random, 11);
    op.k = upto(random, 11);
    op.n = upto(random, 11);
    op.dtype = DType::fp32;
    op.residency = Residency::resident;
    op.share.result_taken = true;
    op.sources = {activations(op.k, op.n)};
    op.sources[0].of_product = random.bounded(2) == 0;
    const std::vector<std::uint64_t> load(op.k, op.n);
    const LayoutPlaces x_from = places_of(
        op.sources[0].of_product ? wse::product_layout(on.wafer, on.stream(), op.k, op.n, nullptr)
                                 : wse::block_layout(on.wafer, op.k, op.n),
        op.k, op.n);
    const LayoutPlaces x_to =
        places_of(wse::entry_layout(on.wafer, on.stream(), load, op.n, op.m), op.k, op.n);
    Distances operand;
    for (std::size_t e = 0; e < x_to.size(); ++e) {
      for (const auto& core : x_to[e]) operand.add(x_from[e], core);
    }
    // tokens have columns: of the layout they are the features
    const LayoutPlaces y_from = places_of(
        wse::product_layout(on.wafer, on.stream(), op.n, op.m, nullptr, true), op.n, op.m);
    const LayoutPlaces y_to =
        places_of(wse::product_layout(on.wafer, on.stream(), op.m, op.n, nullptr), op.m, op.n);
    Distances result;
    for (std::uint32_t f = 0; f < op.m; ++f) {
      for (std::uint32_t t = 0; t < op.n; ++t) {
        for (const auto& core : y_to[std::size_t{f} * op.n + t]) {
          result.add(y_from[std::size_t{t} * op.m + f], core);
        }
      }
    }
    const OpResult ran = run_both(on, op);
    EXPECT_EQ(hops(ran, "move operand"), operand.sum()) << on.text << i;
    EXPECT_EQ(hops(ran, "move result"), result.sum()) << on.text << i;
  }
}

/// The side of a product's square, its slots, and the columns of a slot, as notes of the result and
/// the rectangle tell them.
std::uint32_t number_after(const OpResult& result, const std::string& word) {
  for (const auto& [key, text] : result.notes) {
    if (key != "plan") continue;
    const std::size_t at = word.empty() ? 0 : text.find(word) + word.size();
    return static_cast<std::uint32_t>(std::strtoul(text.c_str() + at, nullptr, 10));
  }
  return 0;
}

// Queries of two heads of two sequences come from a product in groups, and what they make of values
// goes to one: of several groups that have a query the nearest to its block sends it, and every
// group that is to have a result gets it.
TEST(GroupMoves, OfHeadsTakeAsManyLinksAsTheirCoresAreApart) {
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const Grouped on = drawn(random, false);
    const std::uint32_t tokens = upto(random, 7);
    const std::uint32_t width = upto(random, 5);
    const std::uint32_t heads = 2;
    LayerOp op;
    op.op = "bmm";
    op.m = tokens;
    op.k = width;
    op.n = width;
    op.batch = 2 * heads;
    op.dtype = DType::fp32;
    op.sources.resize(3);
    op.sources[0] = activations(heads * width, 2 * tokens);
    op.sources[2] = activations(heads * width, 2 * tokens);
    op.sources[0].of_product = op.sources[2].of_product = true;
    const OpResult ran = run_both(on, op);
    const std::uint32_t side = number_after(ran, " on ");
    const std::uint32_t slots = number_after(ran, "");
    ASSERT_NE(slots, 0U);
    const wse::LayerLayout layout(on.wafer, op.n, op.m, op.batch);
    ASSERT_EQ(layout.slots(), slots);
    const LayoutPlaces places =
        places_of(wse::product_layout(on.wafer, on.stream(), heads * width, 2 * tokens, nullptr),
                  heads * width, 2 * tokens);
    Distances queries;
    Distances results;
    for (std::uint32_t f = 0; f < heads * width; ++f) {
      for (std::uint32_t t = 0; t < 2 * tokens; ++t) {
        const std::uint32_t slot = (t / tokens * heads + f / width) % slots;
        const std::pair<std::uint32_t, std::uint32_t> block{
            layout.slot_row(slot) + piece(t % tokens, tokens, side),
            layout.slot_column(slot) + piece(f % width, width, side)};
        const auto& whole = places[std::size_t{f} * 2 * tokens + t];
        queries.add(whole, block);
        for (const auto& core : whole) results.add(block, core);
      }
    }
    EXPECT_EQ(hops(ran, "move W"), queries.sum()) << on.text << i;
    EXPECT_EQ(hops(ran, "move Y"), results.sum()) << on.text << i;
  }
}

}  // namespace
}  // namespace lacuna
