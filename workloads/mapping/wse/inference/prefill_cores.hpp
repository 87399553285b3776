// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"
#include "workloads/mapping/wse/program.hpp"

// How programs of a prompt are put together from the code of each core.

namespace lacuna::wse {

/// Columns and rows of a program.
struct CoreExtent {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
};

/// What a core of such a program is made from.
struct CoreMakers {
  const CodeCosts& costs;
  const InferenceParams& params;
};

/// What a ring does for a core. Several rings lie behind each other if there are more cores.
class RingSide {
 public:
  RingSide(std::uint32_t cores, CoreLine::Direction direction)
      : ring_(cores, direction),
        order_(ring_order(cores)),
        columns_(direction == CoreLine::Direction::columns) {}

  std::uint32_t cores() const { return ring_.cores(); }
  /// Place of a core on its ring, and the core of its ring that has a place.
  std::uint32_t position(std::uint32_t core) const { return ring_.position(core % cores()); }
  std::uint32_t core_at(std::uint32_t position) const { return order_[position % cores()]; }

  void route(TaskBuilder& builder, std::uint32_t row, std::uint32_t column) const {
    SwitchedRouter router;
    ring_.add_routes(at(row, column), router);
    for (const SwitchedRoute& route : router.routes) {
      builder.route(builder.place(row, column), route.color, route.from, route.to);
    }
  }

  /// The block leaves and the next comes, beside what follows.
  void shift(CoreCode& code, std::uint32_t row, std::uint32_t column, std::uint32_t from,
             std::uint32_t to, std::uint32_t halves) const {
    if (ring_.cores() == 1) return;
    const Color out = ring_.out(at(row, column));
    const Color in = ring_.in(at(row, column));
    const std::uint8_t slot = columns_ ? 0 : 1;
    code.send(out, slot);
    code.take(in, slot);
    code.beside(sender(), Element::fp16, on_fabric(out), in_memory(from), halves);
    code.beside(taker(), Element::fp16, in_memory(to), on_fabric(in), halves);
  }
  void wait(CoreCode& code) const {
    if (ring_.cores() == 1) return;
    code.wait_for(sender());
    code.wait_for(taker());
  }

  /// Cores of equal kind do the same.
  std::uint32_t kind(std::uint32_t row, std::uint32_t column) const {
    return ring_.cores() == 1 ? 0 : ring_.kind(at(row, column));
  }

 private:
  std::uint32_t at(std::uint32_t row, std::uint32_t column) const {
    return (columns_ ? column : row) % ring_.cores();
  }
  // microthreads
  std::uint8_t sender() const { return columns_ ? 1 : 3; }
  std::uint8_t taker() const { return columns_ ? 2 : 4; }

  CoreRing ring_;
  std::vector<std::uint32_t> order_;
  bool columns_;
};

/// A rectangle of cores: `route` adds the routes of one, `kind` says which do the same, and `write`
/// what.
template <typename Route, typename Kind, typename Write>
TaskProgram plan_cores(const CoreExtent& extent, const CoreMakers& makers, const Route& route,
                       const Kind& kind, const Write& write) {
  TaskBuilder builder(extent.columns, extent.rows);
  SharedRoutines routines(builder);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t row = 0; row < extent.rows; ++row) {
    for (std::uint32_t column = 0; column < extent.columns; ++column) {
      route(builder, row, column);
      const auto [found, fresh] = known.try_emplace(kind(row, column), 0);
      if (fresh) {
        CoreCode code(makers.costs, makers.params, routines);
        write(code, row, column);
        found->second = builder.add(std::move(code).finish());
      }
      builder.core(builder.place(row, column), found->second);
    }
  }
  return std::move(builder).finish();
}

/// Columns of cores in which sums along `line` are formed, one line below the other.
template <typename Kind, typename Write>
TaskProgram plan_lines(const LineSums& line, const CoreExtent& extent, const CoreMakers& makers,
                       const Kind& kind, const Write& write) {
  const auto route = [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
    if (row % line.cores() != 0) return;
    line.route(
        builder, [&](std::uint32_t i) { return builder.place(row + i, column); }, kNorth, kSouth);
  };
  const auto each = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    write(code, row, column);
    code.scalar(line.colors() * makers.params.route_write);
  };
  return plan_cores(extent, makers, route, kind, each);
}

}  // namespace lacuna::wse
