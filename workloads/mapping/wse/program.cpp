// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/program.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workloads/mapping/wse/distribution.hpp"
#include "workloads/mapping/wse/exchange.hpp"

namespace lacuna::wse {
namespace {

/// The color of the link from ring position p to the next: RE0, RE1 eastwards, RW0, RW1 westwards.
Color ring_color(std::size_t position, bool east) {
  return Color{static_cast<std::uint8_t>((east ? 1U : 3U) + position % 2)};
}

void add_ring_routes(const std::vector<std::uint32_t>& ring, std::size_t position,
                     std::vector<RouterProgram>& columns, StreamingKernel& kernel) {
  const std::uint32_t from = ring[position];
  const std::uint32_t to = ring[(position + 1) % ring.size()];
  const bool east = to > from;
  const Port out = east ? kEast : kWest;
  const Port in = east ? kWest : kEast;
  const Color color = ring_color(position, east);
  columns[from].routes.push_back({color, kRamp, bit(out)});
  for (std::uint32_t c = east ? from + 1 : from - 1; c != to; c = east ? c + 1 : c - 1) {
    columns[c].routes.push_back({color, in, bit(out)});
  }
  columns[to].routes.push_back({color, in, bit(kRamp)});
  kernel.ring_out[from] = color;
  kernel.ring_in[to] = color;
}

/// A route of a group's reduction, in the group's color, with the ways through the routers of other
/// groups between its columns.
void add_group_route(const Route& route, std::uint32_t column, const StreamingKernel& kernel,
                     std::vector<RouterProgram>& routers) {
  const ColumnGroups& groups = kernel.groups;
  Route mine = route;
  mine.color = kernel.sum_color(route.color, column);
  routers[column].routes.push_back(mine);
  if (!groups.interleaved) return;
  for (const Port out : {kEast, kWest}) {
    if ((route.to & bit(out)) == 0) continue;
    for (std::uint32_t i = 1; i < groups.count; ++i) {
      const std::uint32_t between = out == kEast ? column + i : column - i;
      routers[between].routes.push_back({mine.color, static_cast<Port>(opposite(out)), bit(out)});
    }
  }
}

/// The routes of one group in each of them; `colors` of it are in use.
std::vector<RouterProgram> repeat_routes(const std::vector<RouterProgram>& of_group,
                                         unsigned colors, StreamingKernel& kernel) {
  const ColumnGroups& groups = kernel.groups;
  kernel.group_colors = static_cast<std::uint8_t>(groups.interleaved ? colors : 0);
  kernel.ring.clear();
  std::vector<RouterProgram> routers(groups.columns());
  for (std::uint32_t group = 0; group < groups.count; ++group) {
    for (const std::uint32_t place : ring_order(groups.width)) {
      kernel.ring.push_back(groups.column_of(group, place));
    }
    for (std::uint32_t place = 0; place < groups.width; ++place) {
      for (const Route& route : of_group[place].routes) {
        add_group_route(route, groups.column_of(group, place), kernel, routers);
      }
    }
  }
  return routers;
}

}  // namespace

std::vector<std::uint32_t> ring_order(std::uint32_t columns) {
  std::vector<std::uint32_t> ring;
  for (std::uint32_t c = 0; c < columns; c += 2) ring.push_back(c);
  for (std::uint32_t c = columns / 2 * 2; c != 0; c -= 2) ring.push_back(c - 1);
  return ring;
}

std::vector<std::uint32_t> ring_positions(const std::vector<std::uint32_t>& ring) {
  std::vector<std::uint32_t> positions(ring.size());
  for (std::size_t p = 0; p < ring.size(); ++p) positions[ring[p]] = static_cast<std::uint32_t>(p);
  return positions;
}

std::vector<RouterProgram> ring_routes(StreamingKernel& kernel, std::uint32_t columns) {
  kernel.ring = ring_order(columns);
  kernel.ring_in.assign(columns, Color{0});
  kernel.ring_out.assign(columns, Color{0});
  std::vector<RouterProgram> routers(columns);
  if (columns > 1) {
    for (std::size_t p = 0; p < columns; ++p) add_ring_routes(kernel.ring, p, routers, kernel);
  }
  return routers;
}

std::vector<RouterProgram> group_ring_routes(StreamingKernel& kernel) {
  const ColumnGroups& groups = kernel.groups;
  if (groups.count == 1) return ring_routes(kernel, groups.width);
  StreamingKernel one;
  const std::vector<RouterProgram> of_group = ring_routes(one, groups.width);
  std::vector<RouterProgram> routers = repeat_routes(of_group, kRingColors, kernel);
  kernel.ring_in.clear();
  kernel.ring_out.clear();
  for (std::uint32_t c = 0; c < groups.columns(); ++c) {
    kernel.ring_in.push_back(kernel.sum_color(one.ring_in[groups.place_of(c)], c));
    kernel.ring_out.push_back(kernel.sum_color(one.ring_out[groups.place_of(c)], c));
  }
  return routers;
}

Reduction ring_reduction(std::uint32_t columns) {
  Reduction reduction;
  StreamingKernel kernel;
  reduction.routers = ring_routes(kernel, columns);
  reduction.colors = columns == 1 ? 0U : kRingColors;
  reduction.inputs = reduction.outputs = columns == 1 ? 0U : 1U;
  ReducePlan& plan = reduction.plan;
  plan.roles.resize(std::size_t{columns} * columns);
  plan.inputs.resize(columns);
  for (std::uint32_t p = 0; p < columns; ++p) {
    const std::uint32_t column = kernel.ring[p];
    const std::uint32_t before = kernel.ring[(p + columns - 1) % columns];
    plan.inputs[column] = {kernel.ring_in[column], static_cast<std::uint16_t>(before)};
    for (std::uint32_t keeper = 0; keeper < columns; ++keeper) {
      ReducePlan::Role& role = plan.roles[std::size_t{keeper} * columns + column];
      role.first = column;
      role.inputs = before == keeper ? 0 : 1;
      role.keeps = column == keeper;
      role.out = kernel.ring_out[column];
    }
  }
  return reduction;
}

namespace {

/// The same reduction in each group of columns.
std::vector<RouterProgram> repeat_groups(Program& program, Reduction& reduction) {
  StreamingKernel& kernel = program.kernel;
  std::vector<RouterProgram> routers = repeat_routes(reduction.routers, reduction.colors, kernel);
  kernel.reduce = std::move(reduction.plan);
  if (kernel.exchange.on()) add_exchange_routes(kernel.exchange, routers);
  return routers;
}

}  // namespace

void route_streaming(Program& program, std::uint32_t columns, Reduction reduction) {
  StreamingKernel& kernel = program.kernel;
  program.columns = columns;
  program.rows = static_cast<std::uint32_t>(kernel.tokens.size());
  if (kernel.groups.count == 1) {
    kernel.groups.width = columns;
    ring_routes(kernel, columns);
  }
  if (reduction.plan.roles.empty()) reduction = ring_reduction(kernel.groups.width);
  const std::vector<RouterProgram> inner = repeat_groups(program, reduction);
  if (program.distribution_rows != 0) choose_distribution(program);
  // Kinds of router in a column: those that pass the weights on, and the last ones.
  program.routers.clear();
  program.router_of.clear();
  for (std::uint32_t r = 0; r < program.distribution_rows; ++r) add_distribution_row(program, r);
  std::map<std::pair<Port, PortSet>, std::uint32_t> kinds;
  for (std::uint32_t r = program.distribution_rows; r < program.rows; ++r) {
    const Port from = r < program.entry ? kSouth : kNorth;
    const bool north = r <= program.entry && r != 0 && program.both_ways();
    const bool south = r >= program.entry && r + 1 != program.rows;
    const auto to =
        static_cast<PortSet>(bit(kRamp) | (north ? bit(kNorth) : 0U) | (south ? bit(kSouth) : 0U));
    const auto next = static_cast<std::uint32_t>(program.routers.size());
    const auto [kind, is_new] = kinds.emplace(std::pair(from, to), next);
    for (std::uint32_t c = 0; c < columns; ++c) {
      program.router_of.push_back(kind->second + c);
      if (!is_new) continue;
      program.routers.push_back(inner[c]);
      program.routers.back().routes.push_back({kernel.stream_color(c), from, to});
    }
  }
}

void filter_at_receivers(std::vector<std::vector<std::uint32_t>> zeros, Program& program) {
  program.kernel.zeros = std::move(zeros);
  std::uint32_t streams = 0;  // colors
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    streams |= 1U << static_cast<unsigned>(program.kernel.stream_color(c));
  }
  for (RouterProgram& router : program.routers) {
    for (const Route& route : router.routes) {
      const bool stream = (streams >> static_cast<unsigned>(route.color) & 1U) != 0;
      if (!stream || (route.to & bit(kRamp)) == 0) continue;
      router.filters.push_back({route.color, WaveletFilter::zeros()});
    }
  }
}

}  // namespace lacuna::wse
