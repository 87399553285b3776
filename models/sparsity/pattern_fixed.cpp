// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/sparsity/chooser.hpp"
#include "models/sparsity/pattern_builder.hpp"
#include "sim/base/error.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kMostIndex = 0x7fffffff;

// Row by row, the kept columns in ascending order; of each pattern only what differs is written.
// A first pass counts, so that an absurd mask is refused before it takes memory.
class RowWriter {
 public:
  explicit RowWriter(const Mask& shape) : mask_(shape), cols_(shape.grid_cols()) {}

  std::int64_t cols() const { return cols_; }

  /// Keeps [first, last] of the row, cut to the matrix and to what was not yet kept.
  void keep(std::int64_t first, std::int64_t last) {
    first = std::max(first, next_);
    last = std::min(last, cols_ - 1);
    if (last < first) return;
    next_ = last + 1;
    count_ += static_cast<std::uint64_t>(next_ - first);
    if (counting_) return;
    for (std::int64_t c = first; c <= last; ++c) {
      mask_.columns.push_back(static_cast<std::uint32_t>(c));
    }
  }

  void end_row() {
    next_ = 0;
    if (!counting_) mask_.offsets.push_back(mask_.columns.size());
  }

  void end_count() {
    if (count_ > kMostKept) {
      throw RequestError(
          fmt::format("pattern: error E214: found a mask that keeps {} elements; "
                      "allowed: at most {}",
                      count_, kMostKept));
    }
    counting_ = false;
    mask_.columns.reserve(count_);
  }

  Mask take() { return std::move(mask_); }

 private:
  Mask mask_;
  std::int64_t cols_;
  std::int64_t next_ = 0;
  std::uint64_t count_ = 0;
  bool counting_ = true;
};

// Makes a builder from a function that keeps what row i keeps.
template <class KeepRow>
MaskBuilder by_rows(const PatternRequest& request, std::uint32_t block_rows,
                    std::uint32_t block_cols, KeepRow keep_row) {
  if (!request.diagnostics.empty()) return {};
  return [mask = request.empty_mask(block_rows, block_cols), keep_row](std::uint64_t) {
    RowWriter writer(mask);
    const auto pass = [&] {
      for (std::uint32_t i = 0; i < mask.grid_rows(); ++i) {
        keep_row(std::int64_t{i}, writer);
        writer.end_row();
      }
    };
    pass();
    writer.end_count();
    pass();
    return writer.take();
  };
}

std::int64_t index(PatternRequest& request, const std::string& key,
                   std::optional<std::uint64_t> otherwise, std::uint64_t least = 0) {
  return static_cast<std::int64_t>(request.integer(key, otherwise, least, kMostIndex));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The block of a pattern that also takes it as a key.
std::pair<std::uint32_t, std::uint32_t> block_of(PatternRequest& request) {
  const auto key = static_cast<std::uint32_t>(request.integer("block", 1, 1, kMostIndex));
  const PatternSpec& spec = request.spec;
  const bool in_cell = spec.block_rows != 1 || spec.block_cols != 1;
  if (in_cell && key != 1) {
    request.fail("E214", "block", fmt::format("{}x{}", spec.block_rows, spec.block_cols),
                 "the block once, here or in pattern_args");
  }
  const std::uint32_t rows = in_cell ? spec.block_rows : key;
  const std::uint32_t cols = in_cell ? spec.block_cols : key;
  request.check_blocks(rows, cols, false);
  return {rows, cols};
}

}  // namespace

MaskBuilder prepare_banded(PatternRequest& request) {
  const std::int64_t w = index(request, "w", std::nullopt);
  const std::int64_t rows = request.rows;
  const std::int64_t cols = request.cols;
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    // |j rows - i cols| <= w rows
    row.keep(-floor_div(w * rows - i * cols, rows), floor_div(w * rows + i * cols, rows));
  });
}

MaskBuilder prepare_block_diagonal(PatternRequest& request) {
  const std::int64_t groups = index(request, "groups", std::nullopt, 1);
  const std::int64_t rows = request.rows;
  const std::int64_t cols = request.cols;
  if (rows % groups != 0 || cols % groups != 0) {
    request.fail("E214", "pattern_args", std::to_string(groups),
                 fmt::format("groups, a divisor of {} and {}", rows, cols));
  }
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    const std::int64_t group = i / (rows / groups);
    row.keep(group * (cols / groups), (group + 1) * (cols / groups) - 1);
  });
}

MaskBuilder prepare_butterfly(PatternRequest& request) {
  constexpr std::uint64_t kAll = 31;  // no single factor: all of them
  const auto [block_rows, block_cols] = block_of(request);
  const auto factor = static_cast<unsigned>(request.integer("factor", kAll, 0, kAll - 1));
  return by_rows(request, block_rows, block_cols, [=](std::int64_t i, RowWriter& row) {
    std::vector<std::int64_t> kept{i};
    for (unsigned q = 0; q < kAll; ++q) {
      if (factor == kAll || factor == q) kept.push_back(i ^ (std::int64_t{1} << q));
    }
    std::sort(kept.begin(), kept.end());
    for (const std::int64_t j : kept) row.keep(j, j);
  });
}

MaskBuilder prepare_causal(PatternRequest& request) {
  return by_rows(request, 1, 1, [](std::int64_t i, RowWriter& row) { row.keep(0, i); });
}

MaskBuilder prepare_window(PatternRequest& request) {
  const std::int64_t w = index(request, "w", std::nullopt);
  const std::int64_t dilation = index(request, "dilation", 1, 1);
  const bool causal = request.flag("causal");
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    // Not from i - w * dilation, which may lie far outside: from its first step inside.
    const std::int64_t before = std::min(w, i / dilation);
    const std::int64_t last = causal ? i : std::min(i + w * dilation, row.cols() - 1);
    for (std::int64_t j = i - before * dilation; j <= last; j += dilation) row.keep(j, j);
  });
}

MaskBuilder prepare_longformer(PatternRequest& request) {
  const std::int64_t w = index(request, "w", std::nullopt);
  const std::int64_t global = index(request, "global", 0);
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    row.keep(0, i < global ? row.cols() - 1 : global - 1);
    row.keep(i - w, i + w);
  });
}

MaskBuilder prepare_big_bird(PatternRequest& request) {
  const auto [block_rows, block_cols] = block_of(request);
  const auto random_blocks =
      static_cast<std::uint32_t>(request.integer("random", 3, 0, kMostIndex));
  const Mask shape = request.empty_mask(block_rows, block_cols);
  const std::uint64_t most =
      shape.grid_rows() * std::min<std::uint64_t>(shape.grid_cols(), 5ULL + random_blocks);
  if (most > kMostKept) {
    request.fail("E214", "pattern_args", std::to_string(random_blocks),
                 fmt::format("random, so that at most {} blocks are kept", kMostKept));
  }
  if (!request.diagnostics.empty()) return {};
  const auto keep_row = [=](std::int64_t i, std::int64_t rows, Random& random, RowWriter& row) {
    const std::int64_t cols = row.cols();
    if (i == 0 || i == rows - 1) return row.keep(0, cols - 1);
    const auto fixed = [=](std::int64_t j) {
      return j == 0 || j == cols - 1 || (j >= i - 1 && j <= i + 1);
    };
    std::vector<std::uint32_t> free;
    for (std::int64_t j = 0; j < cols; ++j) {
      if (!fixed(j)) free.push_back(static_cast<std::uint32_t>(j));
    }
    const auto open = static_cast<std::uint32_t>(free.size());
    std::vector<std::uint32_t> chosen(open + std::size_t{1});
    const std::uint32_t* end =
        Chooser(open, std::min(open, random_blocks)).walk(random, open, chosen.data());
    const std::uint32_t* next = chosen.data();
    for (std::int64_t j = 0; j < cols; ++j) {
      const bool drawn = next != end && free[*next] == static_cast<std::uint32_t>(j);
      if (drawn) ++next;
      if (drawn || fixed(j)) row.keep(j, j);
    }
  };
  return [keep_row, mask = shape](std::uint64_t seed) {
    Random random(seed);
    RowWriter writer(mask);
    writer.end_count();  // its blocks are bounded beforehand
    for (std::uint32_t i = 0; i < mask.grid_rows(); ++i) {
      keep_row(i, mask.grid_rows(), random, writer);
      writer.end_row();
    }
    return writer.take();
  };
}

MaskBuilder prepare_fixed(PatternRequest& request) {
  const std::int64_t stride = index(request, "stride", std::nullopt, 1);
  const std::int64_t c = index(request, "c", 1, 1);
  if (c > stride) {
    request.fail("E214", "pattern_args", std::to_string(c),
                 fmt::format("c, at most stride = {}", stride));
  }
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    const std::int64_t segment = i / stride * stride;
    for (std::int64_t start = 0; start < segment; start += stride) {
      row.keep(start + stride - c, start + stride - 1);
    }
    row.keep(segment, i);
  });
}

MaskBuilder prepare_strided(PatternRequest& request) {
  const std::int64_t stride = index(request, "stride", std::nullopt, 1);
  return by_rows(request, 1, 1, [=](std::int64_t i, RowWriter& row) {
    for (std::int64_t j = i % stride; j <= i - stride; j += stride) row.keep(j, j);
    row.keep(i - stride + 1, i);
  });
}

}  // namespace lacuna
