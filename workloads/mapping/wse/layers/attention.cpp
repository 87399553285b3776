// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/layers/filtered_product.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/product.hpp"
#include "workloads/mapping/wse/layers/product_operands.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

/// Products whose operands, or sums, are shifted along rings.
class Attention : SlotProduct {
 public:
  explicit Attention(const LayerRequest& request) : SlotProduct(request) {
    if (op_.fn == "l1") pair_ = PairFunction::l1;
    if (op_.fn == "l2") pair_ = PairFunction::l2;
  }

  LayerPlan plan() {
    LayerPlan plan;
    if (!choose_shape([this](const ProductShape& shape) { return estimate(shape); })) {
      shape_ = shape_of(most_side());
    }
    plan.blocks = shape_;
    const std::uint64_t waves = layout_.instances(0);
    check_core_bytes(request_, place(shape_) * waves, plan);
    find_active();
    count_work(plan);
    if (request_.setup.estimates) {
      plan.stages.emplace_back().estimate = estimate(shape_) * waves;
      return plan;
    }
    add_in_slots(program().stages(), plan);
    add_notes(plan, waves);
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  std::uint64_t estimate(const ProductShape& shape);
  std::uint64_t place(const ProductShape& shape);
  void find_active();
  void count_work(LayerPlan& plan) const;
  void add_notes(LayerPlan& plan, std::uint64_t waves) const;
  void fill(LayerPlan& plan) const;
  void fill_core(const ProductProgram& made, std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                 std::vector<std::uint8_t>& memory) const;
  ProductProgram program() const { return {request_.setup, shape_, space_, pair_, active_}; }
  LayerComparison compare(const WaferMemory& memory) const;

  PairFunction pair_ = PairFunction::dot;
  ProductSpace space_;
  std::vector<bool> active_;
};

std::uint64_t Attention::estimate(const ProductShape& shape) {
  try {
    checked_core_bytes(request_, place(shape) * layout_.instances(0), "operands and results");
  } catch (const OutOfMemoryError&) {
    return kNone;
  }
  return ProductProgram(request_.setup, shape, space_, pair_, active_).estimate();
}

std::uint64_t Attention::place(const ProductShape& shape) {
  space_.operand = operand();
  space_.product = product();
  return place_product(shape, bytes(), bytes_of(sum_type()), pair_ != PairFunction::dot, space_);
}

/// Cores whose block of the masked operand has an element.
void Attention::find_active() {
  const std::uint32_t side = shape_.side;
  active_.assign(std::size_t{side} * side, !request_.skips_zeros());
  if (!request_.skips_zeros()) return;
  const Mask& elements = operands_.elements();
  const std::uint32_t width = operands_.masks_y() ? shape_.columns : shape_.inner;
  for (std::uint32_t i = 0; i < elements.rows; ++i) {
    for (std::uint64_t e = elements.offsets[i]; e < elements.offsets[i + 1]; ++e) {
      active_[std::size_t{i / shape_.rows} * side + elements.columns[e] / width] = true;
    }
  }
}

void Attention::count_work(LayerPlan& plan) const {
  if (pair_ != PairFunction::dot) return;
  const std::uint64_t all = request_.mask == nullptr
                                ? std::uint64_t{op_.m} * (operands_.masks_y() ? op_.n : op_.k)
                                : request_.mask->nnz();
  plan.mac_useful = all * (operands_.masks_y() ? op_.k : op_.n) * op_.batch;
  plan.mac_algorithmic = mac_algorithmic();
}

void Attention::add_notes(LayerPlan& plan, std::uint64_t waves) const {
  plan.notes.emplace_back(
      "plan",
      fmt::format("{} products at a time on {} x {} cores each, {} in turn; {} stays, "
                  "blocks W {} x {}, X {} x {}",
                  layout_.slots(), shape_.side, shape_.side, waves, shape_.w_stays ? "W" : "Y",
                  shape_.rows, shape_.inner, shape_.inner, shape_.columns));
  if (!request_.skips_zeros()) return;
  plan.notes.emplace_back(
      "blocks multiplied",
      fmt::format("{} of {}, those with an element",
                  std::count(active_.begin(), active_.end(), true), active_.size()));
}

/// The blocks of W and X that the core in row `r` and column `c` of a slot has at first.
void Attention::fill_core(const ProductProgram& made, std::uint32_t slot, std::uint32_t r,
                          std::uint32_t c, std::vector<std::uint8_t>& memory) const {
  const std::uint32_t k_of_x = shape_.w_stays ? c : r;
  const std::uint32_t j_of_x = shape_.w_stays ? r : c;
  const auto put = [&](bool is_vector, unsigned buffer, std::uint32_t k, std::uint32_t other,
                       double value) {
    const auto& base = is_vector ? space_.vectors : space_.scalars;
    const std::uint32_t stride = is_vector ? shape_.stride() : shape_.scalars();
    store(memory, base.at(buffer), std::uint64_t{k} * stride + other, op_.dtype, value);
  };
  for (std::uint32_t k = 0; k < shape_.inner; ++k) {
    for (std::uint32_t i = 0; i < shape_.rows; ++i) {
      const std::uint32_t row = r * shape_.rows + i;
      const std::uint32_t in = c * shape_.inner + k;
      if (row >= op_.m || in >= op_.k) continue;
      put(shape_.along_rows, made.first_buffer_w(r), k, i, operands_.w(slot, row, in));
    }
    for (std::uint32_t j = 0; j < shape_.columns; ++j) {
      const std::uint32_t in = k_of_x * shape_.inner + k;
      const std::uint32_t column = j_of_x * shape_.columns + j;
      if (in >= op_.k || column >= op_.n) continue;
      put(!shape_.along_rows, made.first_buffer_x(c), k, j, operands_.x(slot, in, column));
    }
  }
}

void Attention::fill(LayerPlan& plan) const {
  const ProductProgram made = program();
  fill_slots(plan, [&](std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                       std::vector<std::uint8_t>& memory) { fill_core(made, slot, r, c, memory); });
  plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Attention::compare(const WaferMemory& memory) const {
  const ProductProgram made = program();
  return compare_slots(memory, pair_,
                       [&](const std::vector<std::uint8_t>& of_core, std::uint32_t r,
                           std::uint32_t i, std::uint32_t j) {
                         const std::uint32_t index =
                             shape_.along_rows ? j * shape_.stride() + i : i * shape_.stride() + j;
                         return load(of_core, space_.sums.at(made.last_buffer_y(r)), index,
                                     sum_type());
                       });
}

}  // namespace

LayerPlan plan_layer_product(const LayerRequest& request) {
  check_layer_type(request.op);
  if (request.mask != nullptr && (request.op.fn == "l1" || request.op.fn == "l2")) {
    throw UnsupportedError(
        fmt::format("a wafer does not run bmm {} of a masked operand", request.op.fn));
  }
  if (request.op.x_pattern == "dense") return Attention(request).plan();
  const auto refuse = [&](const char* why) {
    throw UnsupportedError(
        fmt::format("x_pattern '{}' in a {}: {}", request.op.x_pattern, request.op.op, why));
  };
  if (request.op.fn == "l1" || request.op.fn == "l2") {
    refuse("the distance of an element to a zero is none, so that no zero can be left out");
  }
  if (request.mask != nullptr) {
    refuse(
        "a masked operand says which blocks move and which cores multiply, and a wafer does not "
        "leave zeros of X out of that");
  }
  return plan_filtered_product(request);
}

}  // namespace lacuna::wse
