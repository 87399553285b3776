// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/sparsity/coo_matrix.hpp"
#include "tests/support/sparsity/sparse_matrix.hpp"
#include "workloads/mapping/ipu/dynamic/buckets.hpp"

namespace lacuna::ipu {

/// A bucket as the device holds it. Meta-information: for each sub-group x, y, its numbers of rows
/// and non-zeros, as many further words as its workers need; for each row its index within the
/// rectangle and its number of non-zeros, then their columns within the rectangle; a zero ends it.
/// Values follow in the same order, blocks row-major, as bits of their type.
template <class T>
struct DeviceBucket {
  std::vector<std::uint16_t> meta;
  std::vector<T> values;
};

/// The words of a sub-group before its rows.
inline std::uint64_t bucket_group_words(const Bucket& bucket) {
  return bucket.element_wise ? 9 + 5 * std::uint64_t{bucket.workers} : 7;
}

/// The user's blocks in the device's format. `matrix` has blocks of plan.block.
template <class T>
std::vector<DeviceBucket<T>> to_device(const DynamicPlan& plan, const BsrMatrix<T>& matrix,
                                       unsigned workers) {
  const BucketSet set = fill_buckets(plan, matrix.pattern, workers);
  const Mask& mask = matrix.pattern;
  std::vector<DeviceBucket<T>> result(set.buckets.size());
  for (std::size_t b = 0; b < set.buckets.size(); ++b) {
    const Bucket& bucket = set.buckets[b];
    DeviceBucket<T>& out = result[b];
    const auto push = [&](std::uint64_t word) {
      out.meta.push_back(static_cast<std::uint16_t>(word));
    };
    for (const SubGroup& group : bucket.groups) {
      const std::size_t begin = out.meta.size();
      push(group.x + std::uint64_t{1});
      push(group.y + std::uint64_t{1});
      push(group.rows.size());
      push(group.nonzeros());
      out.meta.resize(begin + bucket_group_words(bucket), 0);
      for (const BucketRow& row : group.rows) {
        push(row.row - group.x * plan.tile_x);
        push(row.columns.size());
        std::uint64_t place = mask.offsets[row.row];
        for (const std::uint32_t column : row.columns) {
          push(column - group.y * plan.tile_y);
          while (mask.columns[place] != column) ++place;
          const auto from =
              matrix.values.begin() + static_cast<std::ptrdiff_t>(place * matrix.block_values());
          out.values.insert(out.values.end(), from,
                            from + static_cast<std::ptrdiff_t>(matrix.block_values()));
        }
      }
    }
    push(0);
  }
  return result;
}

/// Back to the user: all blocks of the buckets, a matrix of the sizes of `mask`.
template <class T>
CooMatrix<T> from_device(const DynamicPlan& plan, const std::vector<DeviceBucket<T>>& buckets,
                         const Mask& mask, unsigned workers) {
  CooMatrix<T> result{mask.rows, mask.cols, {}, {}, {}};
  Bucket form;
  form.element_wise = plan.block == 1;
  form.workers = workers;
  for (const DeviceBucket<T>& bucket : buckets) {
    std::size_t value = 0;
    for (std::size_t at = 0; bucket.meta[at] != 0;) {
      const std::uint64_t first_row = (bucket.meta[at] - std::uint64_t{1}) * plan.tile_x;
      const std::uint64_t first_column = (bucket.meta[at + 1] - std::uint64_t{1}) * plan.tile_y;
      const std::uint64_t rows = bucket.meta[at + 2];
      at += bucket_group_words(form);
      for (std::uint64_t r = 0; r < rows; ++r) {
        const std::uint64_t row = (first_row + bucket.meta[at]) * plan.block;
        const std::uint64_t nonzeros = bucket.meta[at + 1];
        at += 2;
        for (std::uint64_t i = 0; i < nonzeros; ++i) {
          const std::uint64_t column = (first_column + bucket.meta[at++]) * plan.block;
          for (std::uint64_t e = 0; e < std::uint64_t{plan.block} * plan.block; ++e, ++value) {
            const std::uint64_t y = row + e / plan.block;
            const std::uint64_t x = column + e % plan.block;
            if (y >= mask.rows || x >= mask.cols) continue;  // the edge of the last blocks
            result.row_indices.push_back(static_cast<std::uint32_t>(y));
            result.columns.push_back(static_cast<std::uint32_t>(x));
            result.values.push_back(bucket.values[value]);
          }
        }
      }
    }
  }
  return result;
}

}  // namespace lacuna::ipu
