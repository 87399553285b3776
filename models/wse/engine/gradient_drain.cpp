// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_drain.hpp"

#include <algorithm>

namespace lacuna::wse {

GradientDrain::GradientDrain(const GradientLanes& lanes, const std::vector<std::uint64_t>& words)
    : rows_(lanes.program.rows),
      ramp_(QueueShapes(lanes.params.router).ramp_up().latency),
      ramp_down_(QueueShapes(lanes.params.router).ramp_down(1).latency),
      hop_(QueueShapes(lanes.params.router).link().latency),
      latency_(latency(lanes.params)),
      link_(QueueShapes(lanes.params.router).link().capacity),
      up_(QueueShapes(lanes.params.router).ramp_up().capacity),
      queue_(QueueShapes::output(lanes.params.queue.sums_out()).capacity),
      down_(QueueShapes(lanes.params.router).ramp_down(lanes.params.queue.sums_in()).capacity),
      columns_(lanes.program.columns) {
  for (std::uint32_t lane = 0; lane < columns_.size(); ++lane) {
    columns_[lane].words = words[lane];
    columns_[lane].left.reserve(words[lane]);
    inside_ += words[lane];
  }
}

void GradientDrain::begin(std::uint32_t lane, Cycle at) {
  Column& column = columns_[lane];
  column.begin = at;
  if (column.words != 0) column.next = arrival(column, 0);
}

/// The next word comes a cycle after this one. If there was no room for it in the last link until a
/// word before it left, it is there a cycle after this one has left at the latest.
void GradientDrain::let_go(Column& column, Cycle now) {
  column.left.push_back(now);
  --inside_;
  const std::uint64_t word = column.left.size();
  column.next = word == column.words ? kNever : arrival(column, word);
}

/// When a word is at the edge if nothing is full.
Cycle GradientDrain::arrival(const Column& column, std::uint64_t word) const {
  return column.begin + (rows_ - 1) * latency_ + 1 + ramp_ + hop_ + word;
}

/// How much later the last word passes a place than if nothing were full. So many cycles in all a
/// word stood there.
Cycle GradientDrain::delay(const Column& column, const Place& place) {
  if (column.words <= place.behind) return 0;
  const Cycle free = column.begin + place.flow + column.words - 1;
  const Cycle room = column.left[column.words - 1 - place.behind] + place.before;
  return room > free ? room - free : 0;
}

void GradientDrain::add_to(std::uint32_t row, std::vector<GradientLaneCounts>& counts) const {
  const std::uint64_t below = rows_ - 1 - row;
  const Cycle flow = row * latency_;
  const std::uint64_t behind = below * (link_ + up_ + queue_ + down_);
  const Place south{4 * below + 1, behind + link_, flow + 1 + ramp_};
  const Place beat{4 * below + 3, behind + link_ + up_ + queue_, flow};
  const Place north{4 * below + 4, behind + link_ + up_ + queue_ + down_, flow - ramp_down_};
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    const Column& column = columns_[lane];
    if (column.words == 0) continue;
    const Cycle held = delay(column, beat);
    GradientLaneCounts& sum = counts[lane];
    sum.end = column.begin + flow + column.words + held;
    sum.ring_out += held;
    sum.ring_in += sum.end - sum.streamed - column.words - held;
    sum.stall_south += delay(column, south);
    if (row != 0) sum.stall_north += delay(column, north);
  }
}

}  // namespace lacuna::wse
