// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_operands.hpp"

#include "models/sparsity/column_counts.hpp"
#include "workloads/functions/gemm_problem.hpp"

namespace lacuna::wse {

StreamOperands::StreamOperands(const StreamingJob& job) : job_(job) {
  if (job.x_mask != nullptr) x_by_token_ = job.x_mask->transposed();
}

const Mask* StreamOperands::streamed_mask() const {
  if (!job_.resident) return job_.gemm.mask;
  return x_by_token_ ? &*x_by_token_ : nullptr;
}

std::vector<std::uint64_t> StreamOperands::feature_loads() const {
  const Mask* const mask = streamed_mask();
  if (mask != nullptr) return ColumnCounts::of(*mask);
  std::vector<std::uint64_t> loads(features(), rows());
  return loads;
}

std::uint64_t StreamOperands::useful_products() const {
  if (job_.used != nullptr) return job_.used->nnz() * job_.gemm.k;
  if (!x_by_token_) {
    const std::uint64_t weights = job_.gemm.mask == nullptr
                                      ? std::uint64_t{job_.gemm.m} * job_.gemm.k
                                      : job_.gemm.mask->nnz();
    return weights * job_.gemm.n;
  }
  const std::vector<std::uint64_t> activations = ColumnCounts::of(*x_by_token_);
  std::uint64_t products = 0;
  for_each_kept(job_.gemm.mask, job_.gemm.m, job_.gemm.k,
                [&](std::uint32_t, std::uint32_t j) { products += activations[j]; });
  return products;
}

bool StreamOperands::keeps(const Mask* mask, std::uint32_t row, std::uint32_t column) {
  if (mask == nullptr) return true;
  const std::uint32_t grid_row = row / mask->block_rows;
  const auto first = mask->columns.begin() + static_cast<std::ptrdiff_t>(mask->offsets[grid_row]);
  const auto last =
      mask->columns.begin() + static_cast<std::ptrdiff_t>(mask->offsets[grid_row + 1]);
  return std::binary_search(first, last, column / mask->block_cols);
}

std::int32_t StreamOperands::weight(std::uint32_t instance, std::uint32_t i,
                                    std::uint32_t j) const {
  if (!keeps(job_.gemm.mask, i, j)) return 0;
  const std::uint64_t place = std::uint64_t{i} * job_.gemm.k + j;
  return operand_value(job_.gemm.seed + 2 * std::uint64_t{instance}, place, true);
}

std::int32_t StreamOperands::activation(std::uint32_t instance, std::uint32_t j,
                                        std::uint32_t t) const {
  if (job_.x_mask != nullptr && !keeps(job_.x_mask, j, t)) return 0;
  const std::uint64_t place = std::uint64_t{j} * job_.gemm.n + t;
  return operand_value(job_.gemm.seed + 2 * std::uint64_t{instance} + 1, place, false);
}

float StreamOperands::streamed(std::uint32_t instance, std::uint32_t row,
                               std::uint32_t feature) const {
  return static_cast<float>(job_.resident ? activation(instance, feature, row)
                                          : weight(instance, row, feature));
}

float StreamOperands::held(std::uint32_t instance, std::uint32_t feature,
                           std::uint32_t element) const {
  return static_cast<float>(job_.resident ? weight(instance, element, feature)
                                          : activation(instance, feature, element));
}

std::vector<std::int64_t> exact_product(const StreamingJob& job) {
  const StreamOperands operands(job);
  const std::uint64_t elements = operands.elements();
  std::vector<std::int64_t> sums;
  for (std::uint32_t b = 0; b < job.batch; ++b) {
    for (std::uint32_t i = 0; i < operands.rows(); ++i) {
      const std::size_t first = sums.size();
      sums.resize(first + elements, 0);
      for (std::uint32_t j = 0; j < operands.features(); ++j) {
        const auto s = static_cast<std::int64_t>(operands.streamed(b, i, j));
        if (s == 0) continue;
        for (std::uint32_t t = 0; t < elements; ++t) {
          sums[first + t] += s * static_cast<std::int64_t>(operands.held(b, j, t));
        }
      }
    }
  }
  return sums;
}

}  // namespace lacuna::wse
