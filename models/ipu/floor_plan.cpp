// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/floor_plan.hpp"

#include <cstdlib>

namespace lacuna::ipu {
namespace {

/// The 16 columns lie symmetrically to the spine in the middle of the die.
int fold(int column) { return column <= 7 ? column : column ^ 15; }

int column_of(int id) { return (id >> 2) & 15; }

/// The way along the spine, in clocks, with its sign: which way the word leaves.
int displacement(int sender, int receiver) {
  const int column = column_of(receiver);
  const int half = column >> 3;
  const int lane = receiver & 3;
  const int entry = lane > 1 ? (half == (receiver & 1) ? 2 : 4) : (half == lane ? 1 : 5);
  const int away = (column_of(sender) >> 3) ^ (sender & 1);
  return 6 * (fold(column) - fold(column_of(sender)) - away) + entry;
}

/// From the send instruction to the receiver's multiplexer, in the receiver's own time.
int route_time(int s, int r) {
  const int low = column_of(s) & 7;
  const bool same_side = ((s >> 5) & 1) == ((r >> 5) & 1);
  const int turn = same_side ? low + 1 : 16 - low;
  const int along = (((s >> 2) & 8) | ((s >> 3) & 3)) - column_of(r) + ((low >> 1) ^ 3);
  const int columns = 4 * fold(column_of(s)) - 4 * fold(column_of(r));
  const int rows = 2 * ((s >> 6) - (r >> 6));
  return along + columns + turn + rows + std::abs(displacement(s, r)) - 34;
}

}  // namespace

unsigned physical_id(TileId tile, unsigned rows) {
  const unsigned pair = tile / 2;
  const unsigned block = pair / rows;
  const unsigned up = pair % rows;
  const unsigned row = block % 2 == 0 ? up : rows - 1 - up;
  const unsigned column = 4 * (block / 2) + block % 2;
  return 64 * row + column + 2 * (tile % 2);
}

unsigned floor_plan_latency(unsigned sender, unsigned receiver) {
  const int to_memory = 59 + 2 * (static_cast<int>(receiver) >> 6);
  const int latency = route_time(static_cast<int>(sender), static_cast<int>(receiver)) + to_memory;
  return static_cast<unsigned>(latency);
}

}  // namespace lacuna::ipu
