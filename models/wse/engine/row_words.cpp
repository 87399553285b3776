// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/row_words.hpp"

namespace lacuna::wse {

template <class Number>
RowWords<Number>::RowWords(const HardwareParams& params, const StreamingKernel& kernel)
    : kernel_(kernel),
      shapes_(params.router, params.queue),
      link_rule_(params.router),
      hop_(static_cast<unsigned>(QueueShapes(params.router).link().latency)),
      left_bit_(all(std::uint64_t{1} << hop_)),
      entries_(all(QueueShapes(params.router).entries())),
      blocks_(whole_blocks<Number>(kernel.columns()) / kWidth, Block{}),
      open_(blocks_.size() * kWidth, 0),
      copied_(open_),
      copied_back_(open_),
      takes_(open_.size(), -1),
      zeros_left_(kernel.zeros.empty() ? 0 : kernel.columns(), 0),
      zeros_word_(zeros_left_) {
  for (std::size_t lane = 0; lane < kernel.columns(); ++lane) {
    begin_row(lane, kernel.words(0, lane));
    if (!zeros_left_.empty()) look_up_zeros(lane);
  }
}

template <class Number>
void RowWords<Number>::look_up_zeros(std::size_t lane) {
  zeros_left_[lane] = kernel_.zeros_before(lane, zeros_word_[lane]);
  blocks_[lane / kWidth].zeros[lane % kWidth] =
      static_cast<Number>(zeros_left_[lane] == 0 ? 0 : -1);
}

template <class Number>
bool RowWords<Number>::meets_closed(const std::vector<Number>& onward) const {
  Vector closed{};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    closed |= found_closed(~Vector{}, blocks_[i].copies.wants(kOnward, at_router(i)),
                           load(&onward[i * kWidth]));
  }
  return any(closed);
}

template <class Number>
bool RowWords<Number>::meets_shut() const {
  if (!link_rule_.on_links()) return false;
  Vector shut{};
  for (const Block& b : blocks_) {
    shut |= b.copies.wants(kOnward, b.edge > 0) & ~b.onward_link.open_next();
  }
  return any(shut);
}

/// What this row has sent onward and not let go of itself: at most one word.
template <class Number>
void RowWords<Number>::follow() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Block& b = blocks_[i];
    b.edge = b.copies.made(kOnward) & all(1);
    show_before(b, i * kWidth, b.edge);
  }
}

template <class Number>
void RowWords<Number>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].edge -= load(&lanes[i * kWidth]);
}

template <class Number>
void RowWords<Number>::flush(std::vector<LaneCounts>& counts) {
  for (std::size_t lane = 0; lane < counts.size(); ++lane) {
    const Block& b = blocks_[lane / kWidth];
    add_lane<Number>(counts[lane].heads, b.counts, lane % kWidth);
    counts[lane].closures += static_cast<std::uint64_t>(b.closures[lane % kWidth]);
  }
  for (Block& b : blocks_) {
    forget(b.counts);
    b.closures = Vector{};
  }
}

template class RowWords<std::int8_t>;
template class RowWords<std::int16_t>;

}  // namespace lacuna::wse
