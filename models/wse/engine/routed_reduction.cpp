// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/routed_reduction.hpp"

#include <algorithm>

namespace lacuna::wse {

template <class Number, bool kBuses>
RoutedReduction<Number, kBuses>::RoutedReduction(const HardwareParams& params,
                                                 const SumStreams& shared)
    : shared_(&shared),
      columns_(shared.queues.size()),
      rule_(params.router),
      shapes_(params.router, params.queue),
      streams_(params.router, shapes_.link, shared, columns_),
      blocks_(streams_.blocks(), Block{}),
      busy_(blocks_.size() + 2, 0),
      turns_(columns_),
      counted_(streams_.count() * columns_),
      buses_(params, shared) {}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::load(std::size_t lane, std::uint32_t keeper) {
  turns_[lane].load(shared_->kernel, keeper, static_cast<std::uint32_t>(lane));
  begin_instruction(lane);
}

/// Takes up the next input, if there is one; the last, or none, sends the total on or keeps it.
template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::begin_instruction(std::size_t lane) {
  const std::size_t i = lane % kWidth;
  Block& b = blocks_[lane / kWidth];
  Part* const parts = streams_.of(lane / kWidth);
  for (std::size_t s = 0; s < shared_->streams.size(); ++s)
    parts[s].source[i] = parts[s].target[i] = 0;
  b.need_in[i] = b.need_out[i] = b.more[i] = 0;
  const auto part = [&](Color color) -> Part& {
    return parts[shared_->of_color.at(static_cast<std::size_t>(color))];
  };
  SumTurns& turns = turns_[lane];
  if (const auto in = turns.begin(shared_->kernel, static_cast<std::uint32_t>(lane))) {
    part(*in).source[i] = -1;
    b.need_in[i] = -1;
  }
  if (turns.gathers()) {
    b.more[i] = -1;
  } else if (turns.sends(shared_->kernel)) {
    part(turns.out).target[i] = -1;
    b.need_out[i] = -1;
  }
}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::take_all() {
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const std::size_t i = lane % kWidth;
    Block& b = blocks_[lane / kWidth];
    for (std::size_t s = 0; s < streams_.count(); ++s) {
      const SumStreams::Lane& what = shared_->streams[s].lanes[lane];
      Part& p = streams_.of(lane / kWidth)[s];
      b.need_in[i] |= p.source[i] = static_cast<Number>(what.to_core ? -1 : 0);
      b.need_out[i] |= p.target[i] = static_cast<Number>(what.sends ? -1 : 0);
    }
  }
}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::flush() {
  using Buffer = LaneBuffer<Number>;
  streams_.take_counts([&](std::size_t s, std::size_t block, const Buffer& in, const Buffer& up) {
    const std::size_t first = block * kWidth;
    for (std::size_t lane = first; lane < std::min(columns_, first + kWidth); ++lane) {
      Counted& sum = counted_[s * columns_ + lane];
      add_lane<Number>(sum.in, in.counts, lane - first);
      add_lane<Number>(sum.up, up.counts, lane - first);
    }
  });
  if constexpr (kBuses) buses_.flush();
}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::add_counts(const Program& /*program*/,
                                                 RouterCounters* routers) {
  flush();
  if constexpr (kBuses) buses_.add_counts(routers);
  for (std::size_t s = 0; s < shared_->streams.size(); ++s) {
    for (std::size_t lane = 0; lane < columns_; ++lane) {
      const SumStreams::Lane& of = shared_->streams[s].lanes[lane];
      const Counted& counted = counted_[s * columns_ + lane];
      routers[lane].add_buffer(static_cast<Color>(of.in), counted.in);
      routers[lane].add_buffer(static_cast<Color>(of.out), counted.up);
    }
  }
}

template class RoutedReduction<std::int8_t, false>;
template class RoutedReduction<std::int16_t, false>;
template class RoutedReduction<std::int8_t, true>;
template class RoutedReduction<std::int16_t, true>;

}  // namespace lacuna::wse
