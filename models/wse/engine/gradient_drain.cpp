// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_drain.hpp"

#include <algorithm>

namespace lacuna::wse {

GradientDrain::GradientDrain(const HardwareParams& params, const Program& program,
                             const std::vector<std::uint64_t>& words)
    : program_(program),
      ramp_(QueueShapes(params.router).ramp_up().latency),
      ramp_down_(QueueShapes(params.router).ramp_down(1).latency),
      hop_(QueueShapes(params.router).link().latency),
      latency_(latency(params)),
      link_(QueueShapes(params.router).link().capacity),
      up_(QueueShapes(params.router).ramp_up().capacity),
      queue_(QueueShapes::output(params.queue.sums_out()).capacity),
      down_(QueueShapes(params.router).ramp_down(params.queue.sums_in()).capacity),
      columns_(words.size()) {
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

/// The next word comes a cycle after this one. If the last link had no room for it until an earlier
/// word left, it comes a cycle after this word has left at the latest.
void GradientDrain::let_go(Column& column, Cycle now) {
  column.left.push_back(now);
  --inside_;
  const std::uint64_t word = column.left.size();
  column.next = word == column.words ? kNever : arrival(column, word);
}

/// When a word is at the edge if nothing is full.
Cycle GradientDrain::arrival(const Column& column, std::uint64_t word) const {
  return column.begin + (program_.rows - 1) * latency_ + 1 + ramp_ + hop_ + word;
}

/// How much later the last word passes a place than if nothing were full. So many cycles in all a
/// word stood there.
Cycle GradientDrain::delay(const Column& column, const Place& place) {
  if (column.words <= place.behind) return 0;
  const Cycle free = column.begin + place.flow + column.words - 1;
  const Cycle room = column.left[column.words - 1 - place.behind] + place.before;
  return room > free ? room - free : 0;
}

GradientDrain::Places GradientDrain::places_of(std::uint32_t row) const {
  const std::uint64_t below = program_.rows - 1 - row;
  const Cycle flow = row * latency_;
  const std::uint64_t behind = below * (link_ + up_ + queue_ + down_);
  return {{4 * below + 1, behind + link_, flow + 1 + ramp_},
          {4 * below + 3, behind + link_ + up_ + queue_, flow},
          {4 * below + 4, behind + link_ + up_ + queue_ + down_, flow - ramp_down_}};
}

void GradientDrain::add_to(std::uint32_t row, std::vector<LaneCounts>& counts) const {
  const Places places = places_of(row);
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    const Column& column = columns_[lane];
    if (column.words == 0) continue;
    const Cycle held = delay(column, places.beat);
    LaneCounts& sum = counts[lane];
    sum.end = column.begin + places.beat.flow + column.words + held;
    sum.cycles[kWaitRingOut] += held;
    sum.cycles[kWaitRingIn] += sum.end - sum.streamed - column.words - held;
  }
}

void GradientDrain::add_stalls(std::uint32_t row, RouterCounters* routers) const {
  const Places places = places_of(row);
  const auto color = [&](std::uint32_t from) {
    return static_cast<std::size_t>(program_.gradient->down[from % 2]);
  };
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    if (columns_[lane].words == 0) continue;
    routers[lane].stalls.at(color(row)) += delay(columns_[lane], places.south);
    if (row != 0) routers[lane].stalls.at(color(row + 1)) += delay(columns_[lane], places.north);
  }
}

}  // namespace lacuna::wse
