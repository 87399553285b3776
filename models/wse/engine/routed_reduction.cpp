// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/routed_reduction.hpp"

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
      next_input_(columns_, 0),
      inputs_left_(columns_, 0),
      keeps_(columns_, 0),
      out_(columns_),
      stalls_(streams_.count() * columns_),
      buses_(params, shared) {}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::load(std::size_t lane, std::uint32_t keeper) {
  const ReducePlan::Role& role = shared_->kernel.role(keeper, static_cast<std::uint32_t>(lane));
  next_input_[lane] = role.first;
  inputs_left_[lane] = role.inputs;
  keeps_[lane] = role.keeps ? 1 : 0;
  out_[lane] = shared_->kernel.sum_color(role.out, static_cast<std::uint32_t>(lane));
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
  if (inputs_left_[lane] != 0) {
    const Color color = shared_->kernel.sum_color(
        shared_->kernel.reduce.inputs[next_input_[lane]++].color, static_cast<std::uint32_t>(lane));
    parts[shared_->of_color.at(static_cast<std::size_t>(color))].source[i] = -1;
    b.need_in[i] = -1;
    --inputs_left_[lane];
  }
  if (inputs_left_[lane] != 0) {
    b.more[i] = -1;
  } else if (keeps_[lane] == 0 && !shared_->kernel.reduce.idealised) {
    parts[shared_->of_color.at(static_cast<std::size_t>(out_[lane]))].target[i] = -1;
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
  streams_.take_stalls([&](std::size_t s, std::size_t lane, std::uint64_t in, std::uint64_t up) {
    if (lane >= columns_) return;
    stalls_[s * columns_ + lane].in += in;
    stalls_[s * columns_ + lane].out += up;
  });
  if constexpr (kBuses) buses_.flush();
}

template <class Number, bool kBuses>
void RoutedReduction<Number, kBuses>::add_stalls(const Program& /*program*/,
                                                 RouterCounters* routers) {
  flush();
  if constexpr (kBuses) buses_.add_stalls(routers);
  for (std::size_t s = 0; s < shared_->streams.size(); ++s) {
    for (std::size_t lane = 0; lane < columns_; ++lane) {
      const SumStreams::Lane& of = shared_->streams[s].lanes[lane];
      const Stalls& stalls = stalls_[s * columns_ + lane];
      routers[lane].stalls.at(static_cast<std::size_t>(of.in)) += stalls.in;
      routers[lane].stalls.at(static_cast<std::size_t>(of.out)) += stalls.out;
    }
  }
}

template class RoutedReduction<std::int8_t, false>;
template class RoutedReduction<std::int16_t, false>;
template class RoutedReduction<std::int8_t, true>;
template class RoutedReduction<std::int16_t, true>;

}  // namespace lacuna::wse
