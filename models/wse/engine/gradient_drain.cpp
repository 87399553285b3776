// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_drain.hpp"

#include <algorithm>
#include <utility>

namespace lacuna::wse {

GradientDrain::GradientDrain(const HardwareParams& params, const Program& program,
                             const std::vector<std::uint64_t>& words)
    : program_(program), link_rule_(params.router), shapes_(params.router), columns_(words.size()) {
  const auto place = [&](unsigned room) {
    return Place{std::exchange(slots_, slots_ + room), room, program.rows};
  };
  north_ = place(shapes_.link().capacity);
  beat_ = place(shapes_.ramp_down(params.queue.sums_in()).capacity);
  south_ =
      place(QueueShapes::output(params.queue.sums_out()).capacity + shapes_.ramp_up().capacity);
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    columns_[lane].words = words[lane];
    columns_[lane].left.reserve(words[lane]);
    inside_ += words[lane];
  }
  waited_.resize(columns_.size() * program.rows);
  times_.resize(waited_.size() * slots_, 0);
}

void GradientDrain::begin(std::uint32_t lane, Cycle at) {
  Column& column = columns_[lane];
  column.begin = at;
  if (column.words != 0) column.next = arrival(lane, 0);
}

void GradientDrain::let_go(std::size_t lane, Cycle now) {
  Column& column = columns_[lane];
  column.left.push_back(now);
  --inside_;
  const std::uint64_t word = column.left.size();
  column.next = word == column.words ? kNever : arrival(lane, word);
}

/// For how long the link to the south of a row is shut before a word. The stream has used it
/// before, but in the last row.
Cycle GradientDrain::pause(const Column& column, bool last, std::uint64_t word) const {
  const std::uint64_t carried = word + (last ? 0 : column.words + program_.kernel.steps);
  return link_rule_.on_links() && carried % link_rule_.words == 0 ? link_rule_.pause : 0;
}

/// Lets a word down its column; returns when it is at the edge. Those before have been let down,
/// and of those whose room it takes it is known when they left. A slot is free a cycle after its
/// word passed; an output queue and the ramp behind it, which a word never passes later than it has
/// come and has room, are one place, whose room is seen a cycle later.
Cycle GradientDrain::arrival(std::size_t lane, std::uint64_t word) {
  const Column& column = columns_[lane];
  const Slot north = north_.slot(word);
  const Slot beat = beat_.slot(word);
  const Slot south = south_.slot(word);
  Waited* waited = &waited_[lane * program_.rows];
  Cycle* times = &times_[lane * program_.rows * slots_];
  const Cycle hop = shapes_.link().latency;
  const Cycle up = 1 + shapes_.ramp_up().latency;
  const Cycle down = shapes_.ramp_down(1).latency;
  const auto pass = [&](const Slot& slot, Cycle there, Cycle room, Cycle shut, Cycle& stood) {
    const Cycle next = times[slot.before] + 1;
    const Cycle head = std::max(next, there);
    const Cycle passed = std::max(std::max(next + shut, room), head);
    stood += passed - head;
    return times[slot.at] = passed;
  };
  const auto issue = [&](Cycle there, Cycle below, bool last) {
    const Cycle room = word == 0 ? 0 : times[south.at] + 2;
    const Cycle issued = std::max(pass(beat, 0, room, 0, waited->beat), there);
    times[beat.at] = issued;
    return pass(south, issued + up, below + 1, pause(column, last, word), waited->south);
  };
  Cycle there = column.begin;
  for (std::uint32_t row = 1; row < program_.rows; ++row) {
    const Cycle sent = issue(there, times[north.at + 1], false);
    ++waited, ++times;
    there = down + pass(north, sent + hop, times[beat.at] + 1, 0, waited->north);
  }
  const std::size_t room = shapes_.link().capacity;
  return hop + issue(there, word < room ? 0 : column.left[word - room], true);
}

void GradientDrain::add_to(std::uint32_t row, std::vector<LaneCounts>& counts) const {
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    const std::uint64_t words = columns_[lane].words;
    if (words == 0) continue;
    const Cycle* times = &times_[lane * program_.rows * slots_ + row];
    const Cycle held = waited_[lane * program_.rows + row].beat;
    LaneCounts& sum = counts[lane];
    sum.end = 1 + times[beat_.slot(words - 1).at];
    sum.cycles[kWaitRingOut] += held;
    sum.cycles[kWaitRingIn] += sum.end - sum.streamed - words - held;
  }
}

void GradientDrain::add_stalls(std::uint32_t row, RouterCounters* routers) const {
  const auto color = [&](std::uint32_t from) {
    return static_cast<std::size_t>(program_.gradient->down[from % 2]);
  };
  for (std::size_t lane = 0; lane < columns_.size(); ++lane) {
    const Waited& waited = waited_[lane * program_.rows + row];
    routers[lane].stalls.at(color(row)) += waited.south;
    if (row != 0) routers[lane].stalls.at(color(row + 1)) += waited.north;
  }
}

}  // namespace lacuna::wse
