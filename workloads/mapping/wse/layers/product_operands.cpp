// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/product_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
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

SlotProduct::SlotProduct(const LayerRequest& request)
    : request_(request),
      op_(request.op),
      operands_(request),
      layout_(request.setup.wafer, op_.n, op_.m, op_.batch),
      wide_sums_(op_.dtype == DType::fp32 || op_.partials == Partials::fp32) {}

ProductShape SlotProduct::shape_of(std::uint32_t side) const {
  const auto share = [&](std::uint32_t all) {
    return static_cast<std::uint32_t>(ceil_div(all, side));
  };
  ProductShape shape;
  shape.side = side;
  shape.rows = share(op_.m);
  shape.inner = share(op_.k);
  shape.columns = share(op_.n);
  shape.w_stays = request_.skips_zeros() && !operands_.masks_y();
  return shape;
}

std::uint32_t SlotProduct::most_side() const {
  return std::min({layout_.slot_columns(), layout_.slot_rows(), std::max({op_.m, op_.k, op_.n})});
}

void SlotProduct::add_in_slots(const std::vector<LayerStage>& stages, LayerPlan& plan) const {
  const auto add = [&](std::uint32_t slots, std::uint64_t times) {
    if (times == 0 || slots == 0) return;
    for (LayerStage stage : stages) {
      const std::vector<LayerPlacement> one = std::exchange(stage.places, {});
      stage.times = times;
      for (std::uint32_t slot = 0; slot < slots; ++slot) {
        for (LayerPlacement place : one) {
          place.row += layout_.slot_row(slot);
          place.column += layout_.slot_column(slot);
          stage.places.push_back(place);
        }
      }
      plan.stages.push_back(std::move(stage));
    }
  };
  const std::uint32_t slots = layout_.slots();
  const std::uint64_t waves = layout_.instances(0);
  const std::uint32_t in_last = op_.batch % slots == 0 ? slots : op_.batch % slots;
  add(slots, in_last == slots ? waves : waves - 1);
  if (in_last != slots) add(in_last, 1);
}

void SlotProduct::require_slot_each() const {
  if (layout_.instances(0) <= 1) return;
  throw UnsupportedError(
      fmt::format("bmm '{}': --values needs a slot for each of {} products; {} fit the rectangle",
                  op_.id, op_.batch, layout_.slots()));
}

}  // namespace lacuna::wse
