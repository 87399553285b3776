// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"

namespace lacuna::wse {

/// Visits the kept elements (row, column) of a matrix in row-major order; all without a mask.
template <class Visit>
void for_each_kept(const Mask* mask, std::uint32_t rows, std::uint32_t cols, const Visit& visit) {
  for (std::uint32_t i = 0; i < rows; ++i) {
    if (mask == nullptr) {
      for (std::uint32_t j = 0; j < cols; ++j) visit(i, j);
      continue;
    }
    const std::uint32_t grid_row = i / mask->block_rows;
    for (std::uint64_t b = mask->offsets[grid_row]; b < mask->offsets[grid_row + 1]; ++b) {
      const std::uint32_t first = mask->columns[b] * mask->block_cols;
      const std::uint32_t last = std::min(mask->cols, first + mask->block_cols);
      for (std::uint32_t j = first; j < last; ++j) visit(i, j);
    }
  }
}

/// The two matrices of a job in the roles they play: one is streamed row by row, of the other
/// the cores hold `elements` of each feature. Weights streamed: rows are output features and
/// elements tokens. Weights resident: rows are tokens and elements output features.
class StreamOperands {
 public:
  explicit StreamOperands(const StreamingJob& job);

  std::uint32_t rows() const { return job_.resident ? job_.gemm.n : job_.gemm.m; }
  std::uint32_t features() const { return job_.gemm.k; }
  std::uint32_t elements() const { return job_.resident ? job_.gemm.m : job_.gemm.n; }

  /// rows x features of what is streamed, null if it is dense.
  const Mask* streamed_mask() const;
  /// elements x features of what is held, null if it is dense or not known.
  const Mask* held_mask() const { return job_.resident ? job_.gemm.mask : nullptr; }

  /// Non-zeros of what is streamed, by feature.
  std::vector<std::uint64_t> feature_loads() const;

  /// Of one product: those with a non-zero of W, and of X where its zeros are known.
  std::uint64_t useful_products() const;

  float streamed(std::uint32_t instance, std::uint32_t row, std::uint32_t feature) const;
  float held(std::uint32_t instance, std::uint32_t feature, std::uint32_t element) const;

 private:
  std::int32_t weight(std::uint32_t instance, std::uint32_t i, std::uint32_t j) const;
  std::int32_t activation(std::uint32_t instance, std::uint32_t j, std::uint32_t t) const;
  static bool keeps(const Mask* mask, std::uint32_t row, std::uint32_t column);

  const StreamingJob& job_;
  std::optional<Mask> x_by_token_;  // n x k
};

}  // namespace lacuna::wse
