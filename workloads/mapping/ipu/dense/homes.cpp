// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dense/homes.hpp"

#include <algorithm>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"

namespace lacuna::ipu {
namespace {

/// Words of so many elements, of whole 64 bits.
std::uint64_t dense_words(std::uint64_t elements, unsigned size) {
  return ceil_div(elements * size, 8) * 2;
}

/// The last parts of the contraction may be empty.
bool has_empty_parts(const DensePlan& plan, std::uint64_t k) {
  return ceil_div(k, plan.in_channels) < plan.in_split;
}

}  // namespace

DenseExtent dense_extent(std::uint64_t index, std::uint64_t share, std::uint64_t length,
                         std::uint64_t group) {
  DenseExtent e;
  e.begin = index * share;
  const std::uint64_t left = length > e.begin ? length - e.begin : 0;
  e.real = std::min(share, left);
  e.size = round_up(e.real, group);
  return e;
}

ReduceStages dense_stages(const Target& target, const DensePlan& plan, std::uint64_t k) {
  return {plan.in_split, has_empty_parts(plan, k)
                             ? StageDepths{plan.in_split, plan.in_split}
                             : StageDepths{target.one_stage_depth, target.two_stage_depth}};
}

DenseHomes::DenseHomes(const Target& target, const Types& types, const DensePlan& plan,
                       std::uint64_t m, std::uint64_t k, std::uint64_t n)
    : types_(types),
      plan_(plan),
      stages_(dense_stages(target, plan, k)),
      in_group_(conv_in_group(target, types)),
      out_group_(conv_out_group(target, types)),
      m_(m),
      k_(k),
      n_(n) {
  const std::uint64_t input = dense_words(plan.field * plan.in_channels, types.bytes());
  if (plan.steps() != 1) input_home_ = dense_home_words(false, input, plan.out_split);
  const std::uint64_t partials = dense_words(plan.field * plan.out_channels, types.partial_bytes());
  output_size_ = round_up(ceil_div(partials, stages_.size(stages_.stages(), 0)), 2);
}

bool DenseHomes::keeps_partials() const {
  return plan_.in_split == 1 && types_.partials == result_type() && plan_.steps() == 1;
}

/// Tiles that share a part of the operand are home of some of its words each; a product in one step
/// has them where it reads them.
OutputPlace DenseHomes::input(std::uint32_t row, std::uint32_t column) const {
  const std::uint64_t step = column / plan_.step_n;
  const std::uint64_t in_step = column % plan_.step_n;
  const std::uint64_t f = in_step / plan_.field;
  const std::uint64_t i = row / plan_.in_channels;
  const std::uint64_t columns = std::min(plan_.step_n, n_ - step * plan_.step_n);
  const DenseExtent field = dense_extent(f, plan_.field, columns, 1);
  const DenseExtent in = dense_extent(i, plan_.in_channels, k_, in_group_);
  const std::uint64_t element = in_step % plan_.field * in.size + row % plan_.in_channels;
  const std::uint64_t per_word = 4 / types_.bytes();
  const std::uint64_t all = dense_words(field.size * in.size, types_.bytes());
  const std::uint64_t share = dense_home_words(false, all, plan_.out_split);
  const std::uint64_t o = element / per_word / share;
  const std::uint64_t index =
      plan_.steps() == 1 ? element : step * input_home_ * per_word + element - o * share * per_word;
  return {static_cast<TileId>((f * plan_.in_split + i) * plan_.out_split + o), index};
}

OutputPlace DenseHomes::result(std::uint32_t row, std::uint32_t column) const {
  const std::uint64_t step = row / plan_.step_m * plan_.serial_n + column / plan_.step_n;
  const std::uint64_t r = row % plan_.step_m;
  const std::uint64_t c = column % plan_.step_n;
  const std::uint64_t f = c / plan_.field;
  const std::uint64_t o = r / plan_.out_channels;
  const std::uint64_t m = std::min(plan_.step_m, m_ - row / plan_.step_m * plan_.step_m);
  const std::uint64_t n = std::min(plan_.step_n, n_ - column / plan_.step_n * plan_.step_n);
  const DenseExtent out = dense_extent(o, plan_.out_channels, m, out_group_);
  const DenseExtent field = dense_extent(f, plan_.field, n, 1);
  const std::uint64_t element = c % plan_.field * out.size + r % plan_.out_channels;
  const std::uint64_t all = dense_words(field.size * out.size, types_.partial_bytes());
  const std::uint64_t slice =
      round_up(ceil_div(all, plan_.in_split), 2) * std::uint64_t{4 / types_.partial_bytes()};
  const std::uint64_t i = stages_.owner_of(stages_.stages(), 0, element / slice);
  const auto tile = static_cast<TileId>((f * plan_.in_split + i) * plan_.out_split + o);
  const std::uint64_t words = keeps_partials() ? 0 : step * output_size_;
  return {tile, words * 4 / bytes_of(result_type()) + element % slice};
}

}  // namespace lacuna::ipu
