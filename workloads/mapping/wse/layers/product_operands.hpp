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

/// Adds the stages of a product in one slot as they run in all: every slot does the same, in each
/// wave all that still have a product.
void add_in_slots(const LayerLayout& layout, std::uint32_t batch,
                  const std::vector<LayerStage>& stages, LayerPlan& plan);

/// Visits (slot, row, column, core of the rectangle) of side x side cores of each slot.
template <class Visit>
void for_each_slot_core(const LayerLayout& layout, const WaferParams& wafer, std::uint32_t side,
                        const Visit& visit) {
  for (std::uint32_t slot = 0; slot < layout.slots(); ++slot) {
    for (std::uint32_t r = 0; r < side; ++r) {
      for (std::uint32_t c = 0; c < side; ++c) {
        visit(
            slot, r, c,
            std::size_t{layout.slot_row(slot) + r} * wafer.columns + layout.slot_column(slot) + c);
      }
    }
  }
}

/// UnsupportedError if a slot has more than one product, whose values would not be kept.
void require_slot_each(const LayerRequest& request, const LayerLayout& layout);

}  // namespace lacuna::wse
