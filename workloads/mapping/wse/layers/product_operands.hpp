// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/product.hpp"

namespace lacuna::wse {

/// The numbers of a batch of products Y = W X of which a mask of W or of Y, and one of X, say which
/// elements there are.
class ProductOperands {
 public:
  explicit ProductOperands(const LayerRequest& request);

  /// Whether the mask is that of results.
  bool masks_y() const { return masks_y_; }
  /// Elements of the masked operand.
  const Mask& elements() const { return elements_; }
  const Mask& x_elements() const { return x_elements_; }

  double w(std::uint64_t instance, std::uint32_t i, std::uint32_t k) const;
  double x(std::uint64_t instance, std::uint32_t k, std::uint32_t j) const;

  /// Compares block (r, c) of the results of an instance; found(i, j) is one of its elements.
  template <class Found>
  void compare(const ProductShape& shape, std::uint64_t instance, std::uint32_t r, std::uint32_t c,
               PairFunction pair, DType type, const Found& found,
               LayerComparison& comparison) const {
    for (std::uint32_t i = 0; i < shape.rows; ++i) {
      for (std::uint32_t j = 0; j < shape.columns; ++j) {
        const std::uint32_t row = r * shape.rows + i;
        const std::uint32_t column = c * shape.columns + j;
        if (!has_result(row, column)) continue;
        // Each addition rounds the sum so far.
        compare_element(comparison, found(i, j), result(instance, row, column, pair), type, k_, 1);
      }
    }
  }

 private:
  bool has_result(std::uint32_t i, std::uint32_t j) const;
  double result(std::uint64_t instance, std::uint32_t i, std::uint32_t j, PairFunction pair) const;
  bool kept(std::uint32_t row, std::uint32_t column) const;

  std::uint32_t m_, k_, n_;
  std::uint64_t seed_;
  bool masked_;
  bool masks_y_;
  bool x_masked_;
  Mask elements_;
  Mask x_elements_;
};

/// Products of a batch, one in each slot at a time: how each lies on a square of cores of its slot,
/// and what these hold.
class SlotProduct {
 protected:
  explicit SlotProduct(const LayerRequest& request);

  /// Takes the shape with the fewest cycles by `estimate(shape)`, kNone of those that cannot be;
  /// false if none can.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  template <class Estimate>
  bool choose_shape(const Estimate& estimate) {
    std::uint64_t least = kNone;
    for (std::uint32_t side = 1; side <= most_side(); ++side) {
      for (const bool along_rows : {true, false}) {
        ProductShape shape = shape_of(side);
        shape.along_rows = along_rows;
        const std::uint64_t cycles = estimate(shape);
        if (cycles >= least) continue;
        least = cycles;
        shape_ = shape;
      }
    }
    return least != kNone;
  }
  ProductShape shape_of(std::uint32_t side) const;
  std::uint32_t most_side() const;

  /// Adds the stages of one product as they run in all: every slot does the same, in each wave all
  /// that still have a product.
  void add_in_slots(const std::vector<LayerStage>& stages, LayerPlan& plan) const;

  unsigned bytes() const { return bytes_of(op_.dtype); }
  DType sum_type() const { return wide_sums_ ? DType::fp32 : DType::fp16; }
  Element sum() const { return wide_sums_ ? Element::fp32 : Element::fp16; }
  Element operand() const { return op_.dtype == DType::fp32 ? Element::fp32 : Element::fp16; }
  Element product() const {
    return op_.dtype == DType::fp32 ? Element::fp32 : wide_sums_ ? Element::fp16_32 : Element::fp16;
  }
  std::uint64_t mac_algorithmic() const { return std::uint64_t{op_.m} * op_.k * op_.n * op_.batch; }

  /// fill(slot, row, column, memory) of each core. UnsupportedError if a slot has more than one
  /// product, whose values would not be kept.
  template <class Fill>
  void fill_slots(LayerPlan& plan, const Fill& fill) const {
    require_slot_each();
    plan.memory.assign(cores(), std::vector<std::uint8_t>(plan.bytes, 0));
    for_each_slot_core([&](std::uint32_t slot, std::uint32_t r, std::uint32_t c, std::size_t core) {
      fill(slot, r, c, plan.memory[core]);
    });
  }

  /// found(memory of a core, its row, i, j) is element (i, j) of its block of the results.
  template <class Found>
  LayerComparison compare_slots(const WaferMemory& memory, PairFunction pair,
                                const Found& found) const {
    LayerComparison comparison;
    for_each_slot_core([&](std::uint32_t slot, std::uint32_t r, std::uint32_t c, std::size_t core) {
      operands_.compare(
          shape_, slot, r, c, pair, sum_type(),
          [&](std::uint32_t i, std::uint32_t j) { return found(memory[core], r, i, j); },
          comparison);
    });
    return comparison;
  }

  const LayerRequest request_;
  const LayerOp op_;
  const ProductOperands operands_;
  const LayerLayout layout_;
  ProductShape shape_;

 private:
  std::size_t cores() const {
    return std::size_t{request_.setup.wafer.columns} * request_.setup.wafer.rows;
  }
  void require_slot_each() const;
  template <class Visit>
  void for_each_slot_core(const Visit& visit) const {
    for (std::uint32_t slot = 0; slot < layout_.slots(); ++slot) {
      for (std::uint32_t r = 0; r < shape_.side; ++r) {
        for (std::uint32_t c = 0; c < shape_.side; ++c) {
          const std::size_t row = layout_.slot_row(slot) + r;
          visit(slot, r, c, row * request_.setup.wafer.columns + layout_.slot_column(slot) + c);
        }
      }
    }
  }

  const bool wide_sums_;
};

}  // namespace lacuna::wse
