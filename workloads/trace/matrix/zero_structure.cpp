// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/zero_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace lacuna {
namespace {

using Bits = std::vector<std::uint64_t>;  // of a row of elements, or of several put together

constexpr std::size_t kSides = 7;  // 1, 2, 4, ... 64
constexpr std::uint32_t kLargest = 64;
constexpr std::size_t kGroups = 5;  // 2, 4, 8, 16, 32

unsigned ones(std::uint64_t word) { return static_cast<unsigned>(__builtin_popcountll(word)); }

/// One bit in `side`.
std::uint64_t every(std::uint32_t side) {
  return side == kLargest ? 1 : ~std::uint64_t{0} / ((std::uint64_t{1} << side) - 1);
}

/// Counts blocks of all sides that are powers of two, of 64 rows at a time.
class Counter {
 public:
  explicit Counter(const Mask& elements) : mask_(elements) {}

  void count() {
    columns_.assign(mask_.cols, 0);
    for (std::uint32_t first = 0; first < mask_.rows; first += kLargest) count_rows(first);
  }

  /// Blocks of 2^down x 2^across with an element.
  std::uint64_t kept(std::size_t down, std::size_t across) const {
    return kept_.at(down).at(across);
  }
  /// The most elements of an aligned group of 2, 4, ... of a row.
  const std::array<std::uint32_t, kGroups>& most() const { return most_; }
  const std::vector<std::uint64_t>& columns() const { return columns_; }

 private:
  void count_rows(std::uint32_t first) {
    std::vector<Bits> rows;
    for (std::uint32_t row = first; row < std::min(first + kLargest, mask_.rows); ++row) {
      rows.push_back(bits_of(row));
      count_groups(rows.back());
    }
    for (std::size_t down = 0; down < kSides; ++down) {
      for (const Bits& bits : rows) count_blocks(bits, down);
      // each two are put together, and the last one may be alone
      for (std::size_t i = 0; 2 * i < rows.size(); ++i) {
        if (i != 0) rows[i].swap(rows[2 * i]);
        for (std::size_t w = 0; 2 * i + 1 < rows.size() && w < rows[i].size(); ++w) {
          rows[i][w] |= rows[2 * i + 1][w];
        }
      }
      rows.resize((rows.size() + 1) / 2);
    }
  }

  Bits bits_of(std::uint32_t row) {
    Bits bits((mask_.cols + std::size_t{63}) / 64, 0);
    for (std::uint64_t i = mask_.offsets[row]; i < mask_.offsets[row + 1]; ++i) {
      const std::uint32_t column = mask_.columns[i];
      ++columns_[column];
      bits[column / 64] |= std::uint64_t{1} << column % 64;
    }
    return bits;
  }

  void count_groups(const Bits& bits) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::uint32_t of = 2U << g;
      std::uint32_t& most = most_.at(g);
      const std::uint64_t group = (std::uint64_t{1} << of) - 1;
      for (std::size_t w = 0; most != of && w < bits.size(); ++w) {
        for (std::uint32_t at = 0; at < 64; at += of) {
          most = std::max(most, ones(bits[w] >> at & group));
        }
      }
    }
  }

  void count_blocks(const Bits& bits, std::size_t down) {
    for (std::uint64_t word : bits) {
      for (std::size_t across = 0; across < kSides; ++across) {
        if (across != 0) word = (word | word >> (1U << (across - 1))) & every(1U << across);
        kept_.at(down).at(across) += ones(word);
      }
    }
  }

  const Mask& mask_;
  std::array<std::array<std::uint64_t, kSides>, kSides> kept_{};
  std::array<std::uint32_t, kGroups> most_{};
  std::vector<std::uint64_t> columns_;
};

void find_blocks(const Counter& counter, const Mask& mask, ZeroStructure& zeros) {
  constexpr double kNearlyAll = 0.95;
  const std::uint64_t all = std::uint64_t{mask.rows} * mask.cols;
  const auto none = static_cast<double>(all - zeros.nnz);
  for (std::size_t down = 0; down < kSides; ++down) {
    for (std::size_t across = 0; across < kSides; ++across) {
      const std::uint32_t rows = 1U << down;
      const std::uint32_t cols = 1U << across;
      if (mask.rows % rows != 0 || mask.cols % cols != 0 || rows * cols == 1) continue;
      const std::uint64_t inside = counter.kept(down, across) * rows * cols;
      if (inside == zeros.nnz && down == across && rows >= 4 && rows <= 16) {
        zeros.whole_block = rows;
      }
      const bool dropped = static_cast<double>(all - inside) >= kNearlyAll * none;
      const bool full = static_cast<double>(zeros.nnz) >= kNearlyAll * static_cast<double>(inside);
      if (!dropped || !full || rows * cols <= zeros.block_rows * zeros.block_cols) continue;
      zeros.block_rows = rows;
      zeros.block_cols = cols;
    }
  }
}

void find_groups(const Counter& counter, const Mask& mask, ZeroStructure& zeros) {
  constexpr double kNearly = 0.9;  // fewer, and groups hold no more by chance
  for (std::size_t g = 0; g < kGroups && zeros.of == 0; ++g) {
    const std::uint32_t of = 2U << g;
    const std::uint32_t most = counter.most().at(g);
    if (mask.cols % of != 0 || most == of || zeros.density < kNearly * most / of) continue;
    zeros.keep = most;
    zeros.of = of;
  }
}

}  // namespace

ZeroStructure find_zero_structure(const Mask& mask) {
  const Mask elements = mask.elements();
  ZeroStructure zeros;
  zeros.nnz = elements.columns.size();
  zeros.density = mask.density();
  if (zeros.nnz == 0 || zeros.nnz == std::uint64_t{mask.rows} * mask.cols) return zeros;
  Counter counter(elements);
  counter.count();
  find_blocks(counter, elements, zeros);
  if (zeros.block_rows == 1) find_groups(counter, elements, zeros);
  std::vector<std::uint64_t> rows;
  for (std::uint32_t r = 0; r < elements.rows; ++r) {
    rows.push_back(elements.offsets[r + 1] - elements.offsets[r]);
  }
  const auto describe = [&](const std::vector<std::uint64_t>& counts, double& fullest,
                            std::uint64_t& empty) {
    const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    fullest = most * static_cast<double>(counts.size()) / static_cast<double>(zeros.nnz);
    empty = static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), 0));
  };
  describe(rows, zeros.fullest_row, zeros.empty_rows);
  describe(counter.columns(), zeros.fullest_col, zeros.empty_cols);
  return zeros;
}

std::string structure_text(const ZeroStructure& zeros) {
  constexpr double kPercent = 100;
  if (zeros.nnz == 0) return "empty";
  if (zeros.fullest_row == 0) return "dense";
  std::string text = fmt::format("{:.4g} % kept", kPercent * zeros.density);
  if (zeros.of != 0) text += fmt::format(", {}:{}", zeros.keep, zeros.of);
  const bool blocks = zeros.block_rows * zeros.block_cols > 1;
  if (blocks) text += fmt::format(", blocks of {}x{}", zeros.block_rows, zeros.block_cols);
  if (zeros.of == 0 && !blocks) text += ", unstructured";
  text += fmt::format("; the fullest row has {:.3g} times the mean, the fullest column {:.3g}",
                      zeros.fullest_row, zeros.fullest_col);
  if (zeros.empty_rows != 0) text += fmt::format("; {} rows are empty", zeros.empty_rows);
  if (zeros.empty_cols != 0) text += fmt::format("; {} columns are empty", zeros.empty_cols);
  return text;
}

}  // namespace lacuna
