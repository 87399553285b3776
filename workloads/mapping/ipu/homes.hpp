// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// An element of the product in the memory of a tile, counted in elements of its type from the
/// beginning of that memory.
struct OutputPlace {
  TileId tile = 0;
  std::uint64_t index = 0;
};

/// Where a planned product has its right operand X[k x n] before it begins, and its result Y[m x n]
/// at its end. Indices of X count from the beginning of a tile's memory, those of Y from where the
/// region of results begins there.
class ProductHomes {
 public:
  ProductHomes() = default;
  virtual ~ProductHomes() = default;
  ProductHomes(const ProductHomes&) = delete;
  ProductHomes& operator=(const ProductHomes&) = delete;

  virtual OutputPlace input(std::uint32_t row, std::uint32_t column) const = 0;
  virtual OutputPlace result(std::uint32_t row, std::uint32_t column) const = 0;
  virtual DType type() const = 0;
  virtual DType result_type() const { return type(); }
};

/// The homes of the plan that a product would take. Null if it has none or is no single product
/// with weights. Null too if its operand lies otherwise: in steps over columns, or in forward
/// buckets of a backward pass.
std::shared_ptr<const ProductHomes> product_homes(const ChipParams& chip,
                                                  const PlannerParams& planner, const LayerOp& op,
                                                  const Mask* mask);

}  // namespace lacuna::ipu
