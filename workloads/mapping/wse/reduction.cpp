// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/reduction.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace lacuna::wse {
namespace {

/// A way from a column to another. Those of one family use one color, two if they follow each
/// other, so that a column never takes in and sends on the same.
struct Link {
  std::uint32_t to = 0;
  std::uint32_t family = 0;
};

constexpr std::uint32_t kNeighbours = 0;  // families of a chain: even and odd columns
constexpr std::uint32_t kGroups = 2;      // of the chain of groups, or of blocks
constexpr std::uint32_t kRounds = 4;      // of the tree, one for each round

bool is_east(std::uint32_t column, std::uint32_t keeper) { return keeper > column; }

Link next_in_chain(std::uint32_t column, std::uint32_t keeper) {
  return {is_east(column, keeper) ? column + 1 : column - 1, kNeighbours + column % 2};
}

/// Round q takes blocks of 2^q columns, of which the one nearest to the keeper has the block's
/// sum: its number ends in q ones west of the keeper, in q zeros east of it. Blocks end at 2^most.
Link next_in_tree(std::uint32_t column, std::uint32_t keeper, std::uint32_t most) {
  const bool east = is_east(column, keeper);
  std::uint32_t round = 0;
  while (round < most && (column >> round & 1U) == (east ? 1U : 0U)) ++round;
  const std::uint32_t hops = 1U << round;
  const bool whole = east ? column + hops <= keeper : column - hops >= keeper;
  if (!whole && round != 0) return {next_in_chain(column, keeper).to, kNeighbours};
  if (round == most) return {east ? column + hops : column - hops, kGroups + (column >> most) % 2};
  return {east ? column + hops : column - hops, kRounds + round};
}

Link next_in_two_phase(std::uint32_t column, std::uint32_t keeper, std::uint32_t size) {
  const std::uint32_t mine = column / size;
  const std::uint32_t last = keeper / size;
  if (is_east(column, keeper) && column % size == size - 1 && mine + 1 < last) {
    return {column + size, kGroups + mine % 2};
  }
  if (!is_east(column, keeper) && column % size == 0 && mine > last + 1) {
    return {column - size, kGroups + mine % 2};
  }
  return next_in_chain(column, keeper);
}

class ReductionPlanner {
 public:
  ReductionPlanner(Reduce kind, std::uint32_t columns, std::uint32_t rounds)
      : kind_(kind), columns_(columns), rounds_(rounds) {
    // The next integer of the square root.
    while (std::uint64_t{group_} * group_ < columns) ++group_;
  }

  Reduction plan() {
    result_.routers.resize(columns_);
    result_.plan.roles.resize(std::size_t{columns_} * columns_);
    for (std::uint32_t keeper = columns_; keeper-- != 0;) add_keeper(keeper);
    for (std::uint32_t c = 0; c < columns_; ++c) {
      result_.inputs = std::max(result_.inputs, static_cast<unsigned>(in_[c].size()));
      result_.outputs = std::max(result_.outputs, static_cast<unsigned>(out_[c].size()));
    }
    result_.colors = static_cast<unsigned>(colors_.size());
    return std::move(result_);
  }

 private:
  Link onward(std::uint32_t column, std::uint32_t keeper) const {
    if (kind_ == Reduce::chain) return next_in_chain(column, keeper);
    if (kind_ == Reduce::tree) return next_in_tree(column, keeper, rounds_);
    return next_in_two_phase(column, keeper, group_);
  }

  /// Colors are given out in the order in which their families are met.
  Color color(bool east, std::uint32_t family) {
    const auto next = static_cast<std::uint8_t>(colors_.size() + 1);
    return colors_.emplace(std::pair(east, family), Color{next}).first->second;
  }

  void add_keeper(std::uint32_t keeper) {
    struct Arrival {
      std::uint32_t columns = 0;  // that the sum is of
      ReducePlan::Input input;
    };
    std::vector<std::vector<Arrival>> arrivals(columns_);
    std::vector<Color> out(columns_);
    const auto send = [&](std::uint32_t c) {
      const Link link = onward(c, keeper);
      std::uint32_t of = 1;
      for (const Arrival& arrival : arrivals[c]) of += arrival.columns;
      out[c] = color(link.to > c, link.family);
      arrivals[link.to].push_back({of, {out[c], static_cast<std::uint16_t>(c)}});
      add_route(c, link.to, out[c]);
    };
    for (std::uint32_t c = 0; c < keeper; ++c) send(c);
    for (std::uint32_t c = columns_ - 1; c > keeper; --c) send(c);
    for (std::uint32_t c = 0; c < columns_; ++c) {
      ReducePlan::Role& role = result_.plan.roles[std::size_t{keeper} * columns_ + c];
      // What is the sum of fewer columns comes first, of two sides the western.
      std::stable_sort(arrivals[c].begin(), arrivals[c].end(),
                       [](const Arrival& a, const Arrival& b) { return a.columns < b.columns; });
      role.first = static_cast<std::uint32_t>(result_.plan.inputs.size());
      role.inputs = static_cast<std::uint8_t>(arrivals[c].size());
      role.keeps = c == keeper;
      role.out = out[c];
      for (const Arrival& arrival : arrivals[c]) result_.plan.inputs.push_back(arrival.input);
    }
  }

  /// Along the row, through the routers in between.
  void add_route(std::uint32_t from, std::uint32_t to, Color with) {
    if (!links_.emplace(from, to, with).second) return;
    const bool east = to > from;
    const Port out = east ? kEast : kWest;
    const Port in = east ? kWest : kEast;
    result_.routers[from].routes.push_back({with, kRamp, bit(out)});
    for (std::uint32_t c = east ? from + 1 : from - 1; c != to; c = east ? c + 1 : c - 1) {
      result_.routers[c].routes.push_back({with, in, bit(out)});
    }
    result_.routers[to].routes.push_back({with, in, bit(kRamp)});
    out_[from].insert(with);
    in_[to].insert(with);
  }

  Reduce kind_;
  std::uint32_t columns_;
  std::uint32_t rounds_;  // of a tree, at most
  std::uint32_t group_ = 1;
  std::map<std::pair<bool, std::uint32_t>, Color> colors_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, Color>> links_;
  std::map<std::uint32_t, std::set<Color>> in_, out_;
  Reduction result_;
};

/// Each column has done its part once it has its sums.
Reduction at_once(std::uint32_t columns) {
  Reduction none;
  none.plan.idealised = true;
  none.plan.roles.resize(std::size_t{columns} * columns);
  for (std::size_t c = 0; c < columns; ++c) none.plan.roles[c * columns + c].keeps = true;
  none.routers.resize(columns);
  return none;
}

Reduction planned_anew(Reduce kind, std::uint32_t columns, unsigned queues) {
  if (kind == Reduce::idealised) return at_once(columns);
  constexpr std::uint32_t kMostRounds = 31;  // as many as there may be
  Reduction whole = ReductionPlanner(kind, columns, kMostRounds).plan();
  // Beside its rounds the end of a block takes in the blocks before, a neighbour and the weights.
  if (kind != Reduce::tree || whole.inputs < queues || queues < 4) return whole;
  Reduction blocks = ReductionPlanner(kind, columns, queues - 3).plan();
  blocks.block = 1U << (queues - 3);
  return blocks;
}

}  // namespace

/// The last plans are kept: a search asks for the same ones over and over.
Reduction plan_reduction(Reduce kind, std::uint32_t columns, unsigned queues) {
  constexpr std::size_t kKept = 16;  // of up to some ten MB each
  using Key = std::tuple<Reduce, std::uint32_t, unsigned>;
  thread_local std::deque<std::pair<Key, Reduction>> kept;
  const Key key(kind, columns, queues);
  for (const auto& [of, plan] : kept) {
    if (of == key) return plan;
  }
  if (kept.size() == kKept) kept.pop_front();
  kept.emplace_back(key, planned_anew(kind, columns, queues));
  return kept.back().second;
}

}  // namespace lacuna::wse
