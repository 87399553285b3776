// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// A dense matrix, row-major.
template <class T>
struct DenseMatrix {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<T> values;

  DenseMatrix(std::uint32_t row_count, std::uint32_t col_count)
      : rows(row_count), cols(col_count), values(std::size_t{row_count} * col_count) {}

  T& at(std::size_t row, std::size_t col) { return values[row * cols + col]; }
  const T& at(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
};

template <class T>
bool operator==(const DenseMatrix<T>& a, const DenseMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.values == b.values;
}

/// Compressed sparse rows: of row r the entries offsets[r] ... offsets[r + 1] - 1, by column.
template <class T>
struct CsrMatrix {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> columns;
  std::vector<T> values;
};

/// Compressed sparse columns: of column c the entries offsets[c] ... offsets[c + 1] - 1, by row.
template <class T>
struct CscMatrix {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> row_indices;
  std::vector<T> values;
};

/// Compressed rows of dense blocks. Block i holds pattern.block_rows * pattern.block_cols values
/// from values[i * that], row-major; what a block at the edge has too much is zero.
template <class T>
struct BsrMatrix {
  Mask pattern;
  std::vector<T> values;

  std::size_t block_values() const { return std::size_t{pattern.block_rows} * pattern.block_cols; }
};

/// The kept elements of `mask` with the values value(row, column).
template <class T, class Value>
CsrMatrix<T> make_csr(const Mask& mask, Value value) {
  Mask elements = mask.elements();
  CsrMatrix<T> result;
  result.rows = mask.rows;
  result.cols = mask.cols;
  result.offsets = std::move(elements.offsets);
  result.columns = std::move(elements.columns);
  result.values.reserve(result.columns.size());
  for (std::uint32_t r = 0; r < result.rows; ++r) {
    for (std::uint64_t i = result.offsets[r]; i < result.offsets[r + 1]; ++i) {
      result.values.push_back(value(r, result.columns[i]));
    }
  }
  return result;
}

template <class T>
CscMatrix<T> to_csc(const CsrMatrix<T>& csr) {
  CscMatrix<T> result;
  result.rows = csr.rows;
  result.cols = csr.cols;
  result.offsets.assign(csr.cols + std::size_t{1}, 0);
  for (const std::uint32_t c : csr.columns) ++result.offsets[c + std::size_t{1}];
  for (std::size_t c = 0; c < csr.cols; ++c) result.offsets[c + 1] += result.offsets[c];
  std::vector<std::uint64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  result.row_indices.resize(csr.columns.size());
  result.values.resize(csr.values.size());
  for (std::uint32_t r = 0; r < csr.rows; ++r) {
    for (std::uint64_t i = csr.offsets[r]; i < csr.offsets[r + 1]; ++i) {
      const std::uint64_t place = next[csr.columns[i]]++;
      result.row_indices[place] = r;
      result.values[place] = csr.values[i];
    }
  }
  return result;
}

template <class T>
Mask pattern_of(const CsrMatrix<T>& csr) {
  Mask mask;
  mask.rows = csr.rows;
  mask.cols = csr.cols;
  mask.offsets = csr.offsets;
  mask.columns = csr.columns;
  return mask;
}

/// The same matrix in blocks; a block is stored if any of its elements is, the others are zero.
template <class T>
BsrMatrix<T> to_bsr(const CsrMatrix<T>& csr, std::uint32_t block_rows, std::uint32_t block_cols) {
  BsrMatrix<T> result{pattern_of(csr).blocked(block_rows, block_cols), {}};
  const Mask& grid = result.pattern;
  result.values.assign(grid.columns.size() * result.block_values(), T{});
  std::vector<std::uint64_t> place(grid.grid_cols());  // of each kept block of a row of blocks
  for (std::uint32_t r = 0; r < csr.rows; ++r) {
    const std::uint32_t grid_row = r / block_rows;
    if (r % block_rows == 0) {
      for (std::uint64_t b = grid.offsets[grid_row]; b < grid.offsets[grid_row + 1]; ++b) {
        place[grid.columns[b]] = b * result.block_values();
      }
    }
    for (std::uint64_t i = csr.offsets[r]; i < csr.offsets[r + 1]; ++i) {
      const std::uint32_t c = csr.columns[i];
      const std::size_t inside = std::size_t{r % block_rows} * block_cols + c % block_cols;
      result.values[place[c / block_cols] + inside] = csr.values[i];
    }
  }
  return result;
}

template <class T>
DenseMatrix<T> to_dense(const CsrMatrix<T>& csr) {
  DenseMatrix<T> result(csr.rows, csr.cols);
  for (std::uint32_t r = 0; r < csr.rows; ++r) {
    for (std::uint64_t i = csr.offsets[r]; i < csr.offsets[r + 1]; ++i) {
      result.at(r, csr.columns[i]) = csr.values[i];
    }
  }
  return result;
}

/// W X with sums of type Sum, in the order of the columns of W: what every machine must give.
template <class Sum, class T>
DenseMatrix<Sum> spmm_reference(const CsrMatrix<T>& w, const DenseMatrix<T>& x) {
  DenseMatrix<Sum> y(w.rows, x.cols);
  for (std::uint32_t r = 0; r < w.rows; ++r) {
    for (std::uint64_t i = w.offsets[r]; i < w.offsets[r + 1]; ++i) {
      const auto weight = static_cast<Sum>(w.values[i]);
      for (std::uint32_t n = 0; n < x.cols; ++n) {
        y.at(r, n) += weight * static_cast<Sum>(x.at(w.columns[i], n));
      }
    }
  }
  return y;
}

}  // namespace lacuna
