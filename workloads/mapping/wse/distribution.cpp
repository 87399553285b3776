// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// The first color after those of the sums, of a chain down the columns and of an exchange.
unsigned first_free_color(const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  unsigned first = 1;
  const auto used = [&](Color color) {
    first = std::max(first, 1U + static_cast<unsigned>(color));
  };
  for (const Color color : kernel.ring_out) {
    if (kernel.columns() > 1) used(color);
  }
  const unsigned above = kernel.group_colors * (kernel.groups.count - 1);
  for (const ReducePlan::Role& role : kernel.reduce.roles) {
    if (!role.keeps)
      used(Color{static_cast<std::uint8_t>(static_cast<unsigned>(role.out) + above)});
  }
  for (const ExchangePlan::Bus& bus : kernel.exchange.buses) used(bus.color);
  if (program.gradient) {
    for (const Color color : program.gradient->down) used(color);
  }
  return first;
}

/// Streams: of columns, or of places if groups share them.
std::uint32_t streams_of(const Program& program) {
  return program.source.empty() ? program.columns : program.kernel.groups.width;
}

/// Of the words of groups side by side every two cross; of others only those in one row.
bool all_cross(const Program& program) {
  return !program.source.empty() && !program.kernel.groups.interleaved;
}

std::uint32_t streams_of_row(const Program& program) {
  return (streams_of(program) + program.distribution_rows - 1) / program.distribution_rows;
}

/// The ways of the words of `source` along a distribution row, by column; `copies` are where they
/// turn south.
void add_way(const Program& program, std::uint32_t source, const std::vector<std::uint32_t>& copies,
             std::vector<RouterProgram>& routers) {
  const Color color = program.kernel.stream_color(source);
  const std::uint32_t first = program.from_north ? copies.front() : 0;
  const std::uint32_t last = copies.back();
  for (std::uint32_t c = first; c <= last; ++c) {
    const bool turns = std::binary_search(copies.begin(), copies.end(), c);
    const bool begins = program.from_north && c == source;
    const bool westward = program.from_north && c < source;
    unsigned to = turns ? bit(kSouth) : 0U;
    if (!westward && c != last) to |= bit(kEast);
    if ((westward || begins) && c != first) to |= bit(kWest);
    const Port from = begins ? kNorth : westward ? kEast : kWest;
    routers[c].routes.push_back({color, from, static_cast<PortSet>(to)});
  }
}

}  // namespace

std::uint32_t stream_colors(const Program& program) {
  if (program.distribution_rows == 0) return 1;
  if (all_cross(program)) return streams_of(program);
  // Words that begin in one row at the columns where they turn do not meet.
  return program.from_north ? 1 : streams_of_row(program);
}

/// From the west edge, the first row leads to the easternmost columns, and each row below to those
/// west of the row's above: so columns of equal color never cross, as the words that run down a
/// column meet, in the rows below theirs, only words on their way to columns further west.
void choose_distribution(Program& program) {
  StreamingKernel& kernel = program.kernel;
  const std::uint32_t colors = stream_colors(program);
  const std::uint32_t each = streams_of_row(program);
  const unsigned first = first_free_color(program);
  const bool one_color = program.from_north && !all_cross(program);
  if (!one_color && first + colors > kColors) {
    throw InternalError(fmt::format("{} rows that bring words to columns need {} colors of {}",
                                    program.distribution_rows, first + colors, kColors));
  }
  kernel.column_colors.clear();
  program.edge_row.clear();
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    const std::uint32_t stream = program.source.empty() ? c : kernel.groups.place_of(c);
    program.edge_row.push_back((streams_of(program) - 1 - stream) / each);
    if (!one_color) {
      kernel.column_colors.push_back(Color{static_cast<std::uint8_t>(first + stream % colors)});
    }
  }
}

void add_distribution_row(Program& program, std::uint32_t row) {
  std::vector<RouterProgram> routers(program.columns);
  std::vector<std::vector<std::uint32_t>> copies(program.columns);  // by source
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    copies[program.source.empty() ? c : program.source[c]].push_back(c);
    const bool above = program.edge_row[c] < row;
    const bool below = program.from_north && program.edge_row[c] > row && program.has_stream(c);
    if (!above && !below) continue;
    routers[c].routes.push_back({program.kernel.stream_color(c), kNorth, bit(kSouth)});
  }
  for (std::uint32_t source = 0; source < program.columns; ++source) {
    if (copies[source].empty() || program.edge_row[source] != row) continue;
    add_way(program, source, copies[source], routers);
  }
  for (RouterProgram& router : routers) {
    program.router_of.push_back(static_cast<std::uint32_t>(program.routers.size()));
    program.routers.push_back(std::move(router));
  }
}

}  // namespace lacuna::wse
