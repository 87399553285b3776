// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/product_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/operands.hpp"

namespace lacuna::wse {
namespace {

bool has(const Mask& mask, std::uint32_t row, std::uint32_t column) {
  const auto begin = mask.columns.begin();
  return std::binary_search(begin + static_cast<std::ptrdiff_t>(mask.offsets[row]),
                            begin + static_cast<std::ptrdiff_t>(mask.offsets[row + 1]), column);
}

}  // namespace

ProductOperands::ProductOperands(const LayerRequest& request)
    : m_(request.op.m),
      k_(request.op.k),
      n_(request.op.n),
      seed_(request.seed),
      masked_(request.mask != nullptr),
      masks_y_(request.op.op == "sddmm"),
      x_masked_(request.x_mask != nullptr) {
  if (masked_) elements_ = request.mask->elements();
  if (x_masked_) x_elements_ = request.x_mask->elements();
}

bool ProductOperands::kept(std::uint32_t row, std::uint32_t column) const {
  return !masked_ || has(elements_, row, column);
}

double ProductOperands::w(std::uint64_t instance, std::uint32_t i, std::uint32_t k) const {
  if (!masks_y_ && !kept(i, k)) return 0;
  return real_operand(seed_, (instance * m_ + i) * k_ + k);
}

double ProductOperands::x(std::uint64_t instance, std::uint32_t k, std::uint32_t j) const {
  if (x_masked_ && !has(x_elements_, k, j)) return 0;
  return real_operand(seed_ + 1, (instance * k_ + k) * n_ + j);
}

bool ProductOperands::has_result(std::uint32_t i, std::uint32_t j) const {
  return i < m_ && j < n_ && (!masks_y_ || kept(i, j));
}

double ProductOperands::result(std::uint64_t instance, std::uint32_t i, std::uint32_t j,
                               PairFunction pair) const {
  double exact = 0;
  for (std::uint32_t k = 0; k < k_; ++k) {
    const double a = w(instance, i, k);
    const double b = x(instance, k, j);
    const double d = a - b;
    exact += pair == PairFunction::dot ? a * b : pair == PairFunction::l1 ? std::abs(d) : d * d;
  }
  return exact;
}

void add_in_slots(const LayerLayout& layout, std::uint32_t batch,
                  const std::vector<LayerStage>& stages, LayerPlan& plan) {
  const auto add = [&](std::uint32_t slots, std::uint64_t times) {
    if (times == 0 || slots == 0) return;
    for (LayerStage stage : stages) {
      const std::vector<LayerPlacement> one = std::exchange(stage.places, {});
      stage.times = times;
      for (std::uint32_t slot = 0; slot < slots; ++slot) {
        for (LayerPlacement place : one) {
          place.row += layout.slot_row(slot);
          place.column += layout.slot_column(slot);
          stage.places.push_back(place);
        }
      }
      plan.stages.push_back(std::move(stage));
    }
  };
  const std::uint32_t slots = layout.slots();
  const std::uint64_t waves = layout.instances(0);
  const std::uint32_t in_last = batch % slots == 0 ? slots : batch % slots;
  add(slots, in_last == slots ? waves : waves - 1);
  if (in_last != slots) add(in_last, 1);
}

void require_slot_each(const LayerRequest& request, const LayerLayout& layout) {
  if (layout.instances(0) <= 1) return;
  throw UnsupportedError(
      fmt::format("bmm '{}': --values needs a slot for each of {} products; {} fit the rectangle",
                  request.op.id, request.op.batch, layout.slots()));
}

}  // namespace lacuna::wse
