// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/dot_product_row.hpp"

namespace lacuna::wse {

template <class Number>
DotProductRow<Number>::DotProductRow(const HardwareParams& params, const Program& program,
                                     const SumStreams& shared, std::uint32_t row)
    : Base(params, program, shared),
      control_(params.core, kernel_, *program.gradient, kernel_.tokens[row], false),
      after_(next_on_rings(kernel_)),
      turns_(columns_) {
  sums_.take_all();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].core = control_.begin(lanes_below<Number>(columns_, i * kWidth),
                                     program.gradient->begins_with_stream);
  }
  for (std::uint32_t lane = 0; lane < columns_; ++lane) {
    turns_[lane].look_up(blocks_[lane / kWidth].core, lane % kWidth, kernel_, lane, after_[lane]);
    bool some = false;
    for (std::size_t s = 0; s < kernel_.steps; ++s) some = some || kernel_.count(s, lane) != 0;
    // the dot products of a lane are as good as one that is always there, unless it has none
    blocks_[lane / kWidth].core.results[lane % kWidth] = static_cast<Number>(some ? 1 : 0);
  }
}

template <class Number>
inline void DotProductRow<Number>::step_cores(std::size_t i, Cycle now) {
  now_ = now;
  auto& b = blocks_[i];
  typename Control::Beats issued{};
  b.waited.count(control_.step(b.core, *this, i, now, issued));
  for (const Vector& context : issued) moved_ = moved_ || any(context);
  b.in_use += control_.buffers_in_use(b.core);
}

template <class Number>
void DotProductRow<Number>::step(Cycle now, const NextRows<Number>& next) {
  this->perform(now, next);
}

template <class Number>
void DotProductRow<Number>::ended(std::size_t place, const Vector& lanes) {
  for_each_lane<Number>(lanes, [&](unsigned i) { counts_[place * kWidth + i].end = now_ + 1; });
}

template <class Number>
void DotProductRow<Number>::streamed(std::size_t place, const Vector& lanes) {
  for_each_lane<Number>(lanes, [&](unsigned i) {
    const std::size_t lane = place * kWidth + i;
    counts_[lane].streamed = now_;
    ready_.push_back(static_cast<std::uint32_t>(lane));
  });
  copied_in_time_ = copied_in_time_ && !any(lanes & words_.at_router(place));
}

template <class Number>
void DotProductRow<Number>::advance(GradientState<Number>& core, std::size_t place,
                                    const Vector& take, const Vector& sent, const Vector& close) {
  for_each_lane<Number>(take | sent | close, [&](unsigned i) {
    const auto lane = static_cast<std::uint32_t>(place * kWidth + i);
    GradientTurns& turns = turns_[lane];
    turns.advance(core, i, take[i] != 0, sent[i] != 0, close[i] != 0, kernel_, lane, after_[lane]);
    if (close[i] != 0 && turns.close != kernel_.steps) {
      words_.begin_row(lane, kernel_.words(turns.close, lane));
    }
  });
}

template class DotProductRow<std::int8_t>;
template class DotProductRow<std::int16_t>;

}  // namespace lacuna::wse
