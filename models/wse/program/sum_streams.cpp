// SPDX-License-Identifier: Apache-2.0
#include "models/wse/program/sum_streams.hpp"

namespace lacuna::wse {
namespace {

/// By column, whether a color runs from it to its neighbour in the east, or in the west.
std::vector<bool> links_of(const Program& program, Color color, Port port) {
  std::vector<bool> links(program.columns, false);
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    for (const Route& route : program.router(program.entry, c).routes) {
      if (route.color == color && (route.to & bit(port)) != 0) links[c] = true;
    }
  }
  return links;
}

bool overlap(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

}  // namespace

SumStreams::SumStreams(const Program& program)
    : kernel(program.kernel), weights(program.kernel.stream_color(0)) {
  place_colors(program, kEast);
  // NOLINTNEXTLINE(*-prefer-member-initializer): counted once they are placed
  eastern = streams.size();
  place_colors(program, kWest);
  for (std::uint32_t c = 0; c < program.columns; ++c) place_column(program, c);
}

/// The colors that leave by `port`, those that share no link in one stream.
void SumStreams::place_colors(const Program& program, Port port) {
  const std::size_t first = streams.size();
  std::vector<std::vector<bool>> used;
  for (std::uint8_t color = 0; color < kColors; ++color) {
    if (program.kernel.exchange.has(Color{color})) continue;
    const std::vector<bool> links = links_of(program, Color{color}, port);
    if (!overlap(links, links)) continue;
    std::size_t s = 0;
    while (s < used.size() && overlap(used[s], links)) ++s;
    if (s == used.size()) {
      used.emplace_back(program.columns, false);
      streams.push_back({port == kEast, std::vector<Lane>(program.columns)});
    }
    for (std::size_t i = 0; i < links.size(); ++i) used[s][i] = used[s][i] || links[i];
    of_color[color] = static_cast<std::uint8_t>(first + s);
  }
}

void SumStreams::place_column(const Program& program, std::uint32_t column) {
  std::uint8_t queue = 0;
  for (const Route& route : program.router(program.entry, column).routes) {
    if (route.color == program.kernel.stream_color(column)) continue;
    if (program.kernel.exchange.has(route.color)) continue;  // its queues come last
    if (program.gradient && program.gradient->chains_on(route.color)) continue;  // down the columns
    Lane& lane = streams[of_color[static_cast<std::size_t>(route.color)]].lanes[column];
    if (route.from == kRamp) {
      lane.sends = true;
      lane.out = route.color;
      lane.queue = queue++;
    } else {
      lane.in = route.color;
      lane.to_core = route.to == bit(kRamp);
    }
  }
  queues.push_back(queue);
}

}  // namespace lacuna::wse
