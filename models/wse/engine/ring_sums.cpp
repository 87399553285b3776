// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/ring_sums.hpp"

#include <algorithm>
#include <cstring>

namespace lacuna::wse {

template <class Number>
RingSums<Number>::Shared::Shared(const Program& program)
    : column_of(program.kernel.ring),
      lane_of(column_of.size()),
      weights(program.kernel.stream_color(0)) {
  for (std::uint32_t lane = 0; lane < lane_of.size(); ++lane) {
    lane_of[column_of[lane]] = lane;
    color_of.push_back(program.kernel.ring_in[column_of[lane]]);
  }
}

template <class Number>
RingSums<Number>::RingSums(const HardwareParams& params, const Shared& shared)
    : shared_(&shared),
      columns_(shared.column_of.size()),
      rule_(params.router),
      weights_(all_lanes<Number>(static_cast<std::uint64_t>(shared.weights))),
      shapes_(params.router, params.queue),
      link_rule_(params.router),
      blocks_((columns_ + kWidth - 1) / kWidth, Block{}),
      out_queue_(blocks_.size() * kWidth + 1, 0),
      pushed_(out_queue_.size(), 0),
      stalls_(columns_) {
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const std::uint32_t to = shared.column_of[lane];
    const std::uint32_t from = shared.column_of[(lane + columns_ - 1) % columns_];
    const bool next = std::max(to, from) - std::min(to, from) == 1;
    Block& b = blocks_[lane / kWidth];
    b.hops.one_hop[lane % kWidth] = static_cast<Number>(next ? -1 : 0);
    b.color[lane % kWidth] = static_cast<Number>(shared.color_of[lane]);
  }
}

/// The column after the one that keeps the sum starts.
template <class Number>
void RingSums<Number>::load(std::size_t lane, std::uint32_t keeper) {
  const std::size_t last = shared_->lane_of[keeper];
  const std::size_t start = last + 1 == columns_ ? 0 : last + 1;
  Block& b = blocks_[lane / kWidth];
  b.need_in[lane % kWidth] = static_cast<Number>(lane == start ? 0 : -1);
  b.need_out[lane % kWidth] = static_cast<Number>(lane == last ? 0 : -1);
}

template <class Number>
void RingSums<Number>::flush(std::size_t i, std::uint64_t times) {
  Block& b = blocks_[i];
  for (std::size_t lane = i * kWidth; lane < std::min(columns_, (i + 1) * kWidth); ++lane) {
    stalls_[lane].in += times * static_cast<std::uint64_t>(b.hops.here.stalled[lane % kWidth]);
    stalls_[lane].pass += times * static_cast<std::uint64_t>(b.hops.over.stalled[lane % kWidth]);
    stalls_[lane].out += times * static_cast<std::uint64_t>(b.hops.up.stalled[lane % kWidth]);
  }
  b.hops.forget_stalls();
}

template <class Number>
typename RingSums<Number>::Rest RingSums<Number>::rest(std::size_t i) const {
  return {blocks_[i], load_lanes(&out_queue_[i * kWidth])};
}

template <class Number>
bool RingSums<Number>::rests(std::size_t i, const Rest& before) const {
  Rest now = rest(i);
  now.block.hops.copy_stalls(before.block.hops);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): what differs in a gap stays awake
  return std::memcmp(&now, &before, sizeof now) == 0;
}

template <class Number>
void RingSums<Number>::add_stalls(const Program& program, RouterCounters* routers) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) flush(i, 1);
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const std::uint32_t to = shared_->column_of[lane];
    const std::uint32_t from = shared_->column_of[(lane + columns_ - 1) % columns_];
    const auto color = static_cast<std::size_t>(program.kernel.ring_in[to]);
    routers[from].stalls[color] += stalls_[lane].out;
    routers[(from + to) / 2].stalls[color] += stalls_[lane].pass;
    routers[to].stalls[color] += stalls_[lane].in;
  }
}

template class RingSums<std::int8_t>;
template class RingSums<std::int16_t>;

}  // namespace lacuna::wse
