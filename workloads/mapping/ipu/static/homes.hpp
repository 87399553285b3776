// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/homes.hpp"
#include "workloads/mapping/ipu/layout.hpp"

namespace lacuna::ipu {

/// Where a product with a static pattern has its dense operand and its result: in order over all
/// tiles, columns of blocks one behind the other, whatever its plan.
class StaticHomes final : public ProductHomes {
 public:
  /// `n` columns, padded; so many rows and columns of blocks.
  StaticHomes(const Target& target, const Types& types, unsigned block, std::uint64_t n,
              std::uint64_t grid_rows, std::uint64_t grid_columns);

  OutputPlace input(std::uint32_t row, std::uint32_t column) const override;
  OutputPlace result(std::uint32_t row, std::uint32_t column) const override;
  DType type() const override { return type_; }

  const LinearMap& inputs() const { return inputs_; }
  const LinearMap& results() const { return results_; }

 private:
  OutputPlace at(const LinearMap& map, std::uint64_t row, std::uint64_t column) const;

  const DType type_;
  const std::uint64_t block_;
  const std::uint64_t n_;
  const LinearMap inputs_;
  const LinearMap results_;
};

}  // namespace lacuna::ipu
