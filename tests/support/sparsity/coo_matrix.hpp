// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/support/sparsity/sparse_matrix.hpp"

namespace lacuna {

/// Coordinates: entry i is values[i] at (row_indices[i], columns[i]); in any order, none twice.
template <class T>
struct CooMatrix {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<std::uint32_t> row_indices;
  std::vector<std::uint32_t> columns;
  std::vector<T> values;
};

template <class T>
CooMatrix<T> to_coo(const CsrMatrix<T>& csr) {
  CooMatrix<T> result{csr.rows, csr.cols, {}, csr.columns, csr.values};
  result.row_indices.reserve(csr.columns.size());
  for (std::uint32_t r = 0; r < csr.rows; ++r) {
    result.row_indices.insert(result.row_indices.end(), csr.offsets[r + 1] - csr.offsets[r], r);
  }
  return result;
}

/// Two counting sorts, by column and then by row. std::invalid_argument if an entry comes twice or
/// lies outside.
template <class T>
CsrMatrix<T> to_csr(const CooMatrix<T>& coo) {
  CscMatrix<T> by_column;
  by_column.rows = coo.rows;
  by_column.cols = coo.cols;
  by_column.offsets.assign(coo.cols + std::size_t{1}, 0);
  for (std::size_t i = 0; i < coo.columns.size(); ++i) {
    if (coo.columns[i] >= coo.cols || coo.row_indices[i] >= coo.rows) {
      throw std::invalid_argument("an entry outside its matrix");
    }
    ++by_column.offsets[coo.columns[i] + std::size_t{1}];
  }
  for (std::size_t c = 0; c < coo.cols; ++c) by_column.offsets[c + 1] += by_column.offsets[c];
  std::vector<std::uint64_t> next(by_column.offsets.begin(), by_column.offsets.end() - 1);
  by_column.row_indices.resize(coo.values.size());
  by_column.values.resize(coo.values.size());
  for (std::size_t i = 0; i < coo.values.size(); ++i) {
    const std::uint64_t place = next[coo.columns[i]]++;
    by_column.row_indices[place] = coo.row_indices[i];
    by_column.values[place] = coo.values[i];
  }
  CsrMatrix<T> result;
  result.rows = coo.rows;
  result.cols = coo.cols;
  result.offsets.assign(coo.rows + std::size_t{1}, 0);
  for (const std::uint32_t r : coo.row_indices) ++result.offsets[r + std::size_t{1}];
  for (std::size_t r = 0; r < coo.rows; ++r) result.offsets[r + 1] += result.offsets[r];
  next.assign(result.offsets.begin(), result.offsets.end() - 1);
  result.columns.resize(coo.values.size());
  result.values.resize(coo.values.size());
  for (std::uint32_t c = 0; c < coo.cols; ++c) {
    for (std::uint64_t i = by_column.offsets[c]; i < by_column.offsets[c + 1]; ++i) {
      const std::uint32_t row = by_column.row_indices[i];
      const std::uint64_t place = next[row]++;
      if (place > result.offsets[row] && result.columns[place - 1] == c) {
        throw std::invalid_argument("an entry that comes twice");
      }
      result.columns[place] = c;
      result.values[place] = by_column.values[i];
    }
  }
  return result;
}

}  // namespace lacuna
