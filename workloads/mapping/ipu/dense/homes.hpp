// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/dense/planner.hpp"
#include "workloads/mapping/ipu/homes.hpp"
#include "workloads/mapping/ipu/reduce/reduce_stages.hpp"

namespace lacuna::ipu {

/// Part [begin, begin + size) of a dimension, of which `real` elements are not padding.
struct DenseExtent {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t real = 0;
};

/// Part `index` of parts of `share`, of a dimension of `length` padded up to multiples of `group`.
DenseExtent dense_extent(std::uint64_t index, std::uint64_t share, std::uint64_t length,
                         std::uint64_t group);

/// How a dense plan sums its partials.
ReduceStages dense_stages(const Target& target, const DensePlan& plan, std::uint64_t k);

/// Where a dense product has its right operand before it begins, and its result at its end.
class DenseHomes final : public ProductHomes {
 public:
  DenseHomes(const Target& target, const Types& types, const DensePlan& plan, std::uint64_t m,
             std::uint64_t k, std::uint64_t n);

  OutputPlace input(std::uint32_t row, std::uint32_t column) const override;
  OutputPlace result(std::uint32_t row, std::uint32_t column) const override;
  DType type() const override { return types_.data; }
  DType result_type() const override {
    return types_.data == DType::fp32 ? DType::fp32 : DType::fp16;
  }

  /// The partials of one part are the result.
  bool keeps_partials() const;

 private:
  const Types types_;
  const DensePlan plan_;
  const ReduceStages stages_;
  const std::uint64_t in_group_;
  const std::uint64_t out_group_;
  const std::uint64_t m_;
  const std::uint64_t k_;
  const std::uint64_t n_;
  std::uint64_t input_home_ = 0;   // words of a tile's share of one step
  std::uint64_t output_size_ = 0;  // likewise, of the result
};

}  // namespace lacuna::ipu
