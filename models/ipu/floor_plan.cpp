// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/floor_plan.hpp"

#include <cstdlib>

namespace lacuna::ipu {
namespace {

/// The 16 columns lie symmetrically to the spine in the middle of the die.
int fold(int column) { return column <= 7 ? column : column ^ 15; }

int column_of(int id) { return (id >> 2) & 15; }
int row_of(int id) { return id >> 6; }
bool far_side(int id) { return ((id >> 5) & 1) != 0; }

/// The way along the spine in clocks, with its sign, is towards(receiver) - from(sender).
int from(int sender) {
  return 6 * (fold(column_of(sender)) + ((column_of(sender) >> 3) ^ (sender & 1)));
}

int towards(int receiver) {
  const int half = column_of(receiver) >> 3;
  const int lane = receiver & 3;
  const int entry = lane > 1 ? (half == (receiver & 1) ? 2 : 4) : (half == lane ? 1 : 5);
  return 6 * fold(column_of(receiver)) + entry;
}

int turn_same(int sender) { return (column_of(sender) & 7) + 1; }
int turn_other(int sender) { return 16 - (column_of(sender) & 7); }

/// What is left of the time from a send to the receiver's multiplexer, by end; -34 is the
/// constant of the fit.
int own(int s) {
  const int low = column_of(s) & 7;
  const int along = (((s >> 2) & 8) | ((s >> 3) & 3)) + ((low >> 1) ^ 3);
  return along + 4 * fold(column_of(s)) + 2 * row_of(s) - 34;
}

/// From there to the memory takes 59 + 2 * row; the rows of the receiver cancel.
int arrive(int r) { return 59 - column_of(r) - 4 * fold(column_of(r)); }

}  // namespace

unsigned physical_id(unsigned tile, unsigned rows) {
  const unsigned pair = tile / 2;
  const unsigned block = pair / rows;
  const unsigned up = pair % rows;
  const unsigned row = block % 2 == 0 ? up : rows - 1 - up;
  const unsigned column = 4 * (block / 2) + block % 2;
  return 64 * row + column + 2 * (tile % 2);
}

unsigned floor_plan_latency(unsigned sender, unsigned receiver) {
  const auto s = static_cast<int>(sender);
  const auto r = static_cast<int>(receiver);
  const int turn = far_side(s) == far_side(r) ? turn_same(s) : turn_other(s);
  return static_cast<unsigned>(own(s) + arrive(r) + turn + std::abs(towards(r) - from(s)));
}

LatencyTable::LatencyTable(const ChipParams& params)
    : constant_(params.exchange.latency == LatencyModel::constant
                    ? params.exchange.constant_latency.value()
                    : 0U) {
  if (constant_ != 0) return;
  parts_.reserve(params.ipu.tiles);
  const auto narrow = [](int x) { return static_cast<std::int16_t>(x); };
  for (unsigned tile = 0; tile < params.ipu.tiles; ++tile) {
    const auto id = static_cast<int>(physical_id(tile, params.ipu.rows));
    parts_.push_back({narrow(own(id)), narrow(from(id)), narrow(turn_same(id)),
                      narrow(turn_other(id)), narrow(arrive(id)), narrow(towards(id)),
                      far_side(id)});
  }
}

}  // namespace lacuna::ipu
