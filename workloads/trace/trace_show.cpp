// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "models/sparsity/mask_statistics.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {
namespace {

using Cells = std::vector<std::string>;

/// The columns that are side by side in `most` letters, 0: any number of them; what follows goes on
/// below, with the first one again.
std::vector<std::vector<std::size_t>> side_by_side(const std::vector<std::size_t>& widths,
                                                   std::size_t most) {
  std::vector<std::vector<std::size_t>> parts = {{0}};
  std::size_t used = widths[0];
  for (std::size_t i = 1; i < widths.size(); ++i) {
    used += 2 + widths[i];
    if (most != 0 && used > most && parts.back().size() > 1) {
      parts.push_back({0});
      used = widths[0] + 2 + widths[i];
    }
    parts.back().push_back(i);
  }
  return parts;
}

// Columns as wide as their widest cell; the first `texts` to the left, numbers to the right.
std::string format_columns(const std::vector<Cells>& rows, std::size_t texts, std::size_t most) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::size_t>& columns : side_by_side(widths, most)) {
    if (!text.empty()) text += '\n';
    for (const Cells& row : rows) {
      std::string line;
      for (const std::size_t i : columns) {
        if (i != 0) line += "  ";
        line += i < texts ? fmt::format("{:<{}}", row[i], widths[i])
                          : fmt::format("{:>{}}", row[i], widths[i]);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
  }
  return text;
}

std::string dimension(std::uint32_t size) { return size == 0 ? "" : std::to_string(size); }

std::string ratio(const std::optional<double>& value, const char* format = "{:.3f}") {
  return value ? fmt::format(fmt::runtime(format), *value) : "";
}

/// Products of a kept weight and an activation that is not zero, of all repeats.
std::uint64_t useful_products(const LayerOp& op, const Mask* mask, const Mask& x) {
  const Mask inputs = x.elements();  // of k x n: a row for each feature
  const auto of_feature = [&](std::uint32_t j) {
    return inputs.offsets[j + std::size_t{1}] - inputs.offsets[j];
  };
  std::uint64_t products = 0;
  if (mask == nullptr) {
    products = op.m * inputs.nnz();
  } else {
    for (const std::uint32_t j : mask->elements().columns) products += of_feature(j);
  }
  return products * op.batch * op.repeat;
}

Cells show_row(const LayerOp& op, const Mask* mask, const OpCost& cost) {
  const std::uint64_t all = masked_elements(op);
  const std::uint64_t nnz = mask == nullptr ? all : mask->nnz();
  const double density = all == 0 ? 1 : static_cast<double>(nnz) / static_cast<double>(all);
  return {op.id,
          op.fn.empty() ? op.op : fmt::format("{} {}", op.op, op.fn),
          all == 0 ? "" : pattern_label(op.pattern),
          dimension(op.m),
          dimension(op.k),
          dimension(op.n),
          std::to_string(op.batch),
          std::to_string(op.repeat),
          word(op.dtype),
          all == 0 ? "" : fmt::format("{:.6f}", density),
          all == 0 ? "" : std::to_string(nnz),
          std::to_string(2 * cost.useful_macs),
          std::to_string(2 * cost.algorithmic_macs),
          std::to_string(cost.traffic)};
}

Cells show_statistics(const LayerOp& op, const MaskStatistics& s) {
  return {op.id,
          std::to_string(s.empty_rows),
          std::to_string(s.empty_cols),
          ratio(s.imbalance_8),
          ratio(s.imbalance_16),
          ratio(s.imbalance_32),
          ratio(s.row_bands),
          ratio(s.occupancy_4, "{:.4f}"),
          ratio(s.occupancy_16, "{:.4f}"),
          ratio(s.violations_2_4, "{:.4f}"),
          ratio(s.row_cv),
          ratio(s.col_cv),
          ratio(s.row_head_cv),
          ratio(s.col_head_cv),
          ratio(s.neighbour_correlation, "{:.2f}")};
}

/// Densities of the parts of a mask, cut at floor(i * side / parts).
struct DensityGrid {
  std::size_t cols = 0;
  std::vector<double> cells;  // row by row
  double most = 0;
};

DensityGrid density_grid(const Mask& mask) {
  constexpr std::uint64_t kRows = 32;
  constexpr std::uint64_t kCols = 64;
  const std::uint64_t rows = std::min<std::uint64_t>(kRows, mask.rows);
  const std::uint64_t cols = std::min<std::uint64_t>(kCols, mask.cols);
  DensityGrid grid{cols, std::vector<double>(rows * cols, 0), 0};
  const auto part = [](std::uint64_t at, std::uint64_t parts, std::uint64_t side) {
    return ((at + 1) * parts - 1) / side;
  };
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    for (std::uint64_t i = mask.offsets[r]; i < mask.offsets[r + std::size_t{1}]; ++i) {
      grid.cells[part(r, rows, mask.rows) * cols + part(mask.columns[i], cols, mask.cols)] += 1;
    }
  }
  const auto length = [](std::uint64_t i, std::uint64_t parts, std::uint64_t side) {
    return (i + 1) * side / parts - i * side / parts;
  };
  for (std::uint64_t i = 0; i < grid.cells.size(); ++i) {
    const std::uint64_t area =
        length(i / cols, rows, mask.rows) * length(i % cols, cols, mask.cols);
    grid.cells[i] /= static_cast<double>(std::max<std::uint64_t>(area, 1));
    grid.most = std::max(grid.most, grid.cells[i]);
  }
  return grid;
}

}  // namespace

std::string show_trace(const WorkloadTrace& trace, std::uint64_t run_seed, std::size_t most) {
  std::vector<Cells> rows = {{"id", "op", "pattern", "m", "k", "n", "batch", "repeat", "dtype",
                              "density", "nnz", "useful FLOP", "dense FLOP", "bytes"}};
  std::vector<Cells> masks = {{"id", "empty rows", "empty cols", "8x8", "16x16", "32x32",
                               "row bands", "occ 4", "occ 16", "2:4 viol", "row CV", "col CV",
                               "row head CV", "col head CV", "corr"}};
  OpCost total;
  for (const LayerOp& op : trace.ops) {
    const std::optional<Mask> mask = make_mask(op, trace, run_seed);
    const LayerOp updated = only_touched(op, trace);
    OpCost cost = cost_of(updated, mask ? mask->nnz() : masked_elements(updated));
    if (const std::optional<Mask> x = make_x_mask(op, run_seed); x && cost.useful_macs != 0) {
      cost.useful_macs = useful_products(op, mask ? &*mask : nullptr, *x);
    }
    rows.push_back(show_row(op, mask ? &*mask : nullptr, cost));
    if (mask) masks.push_back(show_statistics(op, mask_statistics(*mask)));
    total += cost;
  }
  Cells sum(rows.front().size());
  sum[0] = "TOTAL";
  sum[sum.size() - 3] = std::to_string(2 * total.useful_macs);
  sum[sum.size() - 2] = std::to_string(2 * total.algorithmic_macs);
  sum[sum.size() - 1] = std::to_string(total.traffic);
  rows.push_back(std::move(sum));
  std::string text =
      fmt::format("{}: {} rows, seed {}\n\n", trace.name, trace.ops.size(), run_seed);
  text += format_columns(rows, 3, most);
  if (total.scalar + total.special != 0) {
    text += fmt::format("\n{} scalar and {} special operations\n", total.scalar, total.special);
  }
  if (masks.size() > 1) {
    text +=
        "\nMasks: fullest over mean cell of a grid and of 64 row bands; share of 4 x 4 and "
        "16 x 16 blocks\nin use; share of groups of 4 in a row with more than 2; deviation "
        "over mean of the counts of rows,\ncolumns and groups of 64 of them; correlation of "
        "neighbouring rows\n\n";
    text += format_columns(masks, 1, most);
  }
  return text;
}

std::string draw_mask(const WorkloadTrace& trace, const std::string& id, std::uint64_t run_seed) {
  const LayerOp* row = nullptr;
  std::vector<std::string> masked;
  for (const LayerOp& op : trace.ops) {
    if (op.pattern.name == "dense") continue;
    masked.push_back(op.id);
    if (op.id == id) row = &op;
  }
  if (row == nullptr) {
    refuse_request("--picture: found '{}'; allowed: the id of a row with a pattern{}", id,
                   hint_of(id, masked));
  }
  const Mask mask = make_mask(*row, trace, run_seed)->elements();
  const DensityGrid grid = density_grid(mask);
  const std::string shades = " .:-=+*#%@";
  std::string text = fmt::format("{}, {} x {}: ' ' is 0, '@' is a density of {:.4f}\n", id,
                                 mask.rows, mask.cols, grid.most);
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    if (i % grid.cols == 0) text += '|';
    const double share = grid.most == 0 ? 0 : grid.cells[i] / grid.most;
    text += shades[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(shades.size() - 1)))];
    if ((i + 1) % grid.cols == 0) text += "|\n";
  }
  return text;
}

std::string check_trace(const std::string& path) {
  const WorkloadTrace trace = read_trace(path);
  std::uint64_t sparse = 0;
  std::uint64_t files = 0;
  for (const LayerOp& op : trace.ops) {
    sparse += op.pattern.name != "dense" ? 1 : 0;
    files += op.pattern.name == "file" ? 1 : 0;
  }
  return fmt::format("{}: {} rows, {} with a pattern, {} of them from files: no problem found\n",
                     path, trace.ops.size(), sparse, files);
}

}  // namespace lacuna
