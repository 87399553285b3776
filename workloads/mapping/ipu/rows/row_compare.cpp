// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/row_compare.hpp"

#include <cmath>

#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

// Statistics are sums in FP32: of some hundred numbers near one, their error is some tens of
// units. Results in FP16 are rounded once, and may be subnormal.
constexpr double kRoundings = 64;
constexpr double kHalfRoundings = 4;

// A gradient has a product of up to seven operands: the saved deviation three times, the element
// twice, the factor and the gradient of the result.
constexpr unsigned kFactors = 7;

void compare_part(Comparison& comparison, const RowPart& part, const RowResult& result,
                  const SeededRows& rows, const TileMemory& memory) {
  const RowFunction& f = *part.function;
  const bool half = part.type != DType::fp32;
  const double scale = (half && !f.columns ? 0x1p-13 : 1) * rows.numbers().growth(kFactors);
  for (std::uint64_t r = 0; r < part.rows; ++r) {
    const std::uint64_t row = part.first_row + r;
    const std::vector<RowStats> found = row_stats(f, rows, row, part.lengths[r]);
    for (std::uint64_t i = 0; i < part.counts[r]; ++i) {
      const RowElement e = read_row_element(f, rows, row, part.begin + i, part.lengths[r]);
      const std::uint64_t at =
          part.output * std::uint64_t{4} / bytes_of(part.type) + part.offsets[r] + i;
      const double value = read_element(memory, part.type, at);
      if (result.given != nullptr) comparison.keep(row * result.stride + part.begin + i, value);
      compare_element(comparison, value, f.result(e, found.data()), part.type,
                      half ? kHalfRoundings : kRoundings, scale);
    }
  }
}

void compare_sums(Comparison& comparison, const RowResult& result, std::uint64_t part,
                  const SeededRows& rows, const ChipMemory& chip) {
  const RowPart& layout = result.parts[part];
  const RowFunction& f = *layout.function;
  for (const ColumnReduce::Piece& piece : result.sums[part].pieces()) {
    const TileMemory& memory = chip(piece.tile);
    for (std::uint64_t e = piece.begin; e < piece.end; ++e) {
      const std::uint64_t column = part * result.part_length + e % result.part_length;
      if (column >= result.stride) continue;
      double exact = 0;
      double magnitude = 1;
      for (std::uint64_t row = 0; row < result.rows; ++row) {
        const double term = f.column(read_row_element(f, rows, row, column, result.stride),
                                     static_cast<unsigned>(e / result.part_length));
        exact += term;
        magnitude += result.sigma > 0 ? std::abs(term) : 0;
      }
      const std::uint64_t at =
          piece.address * std::uint64_t{4} / bytes_of(layout.type) + e - piece.begin;
      compare_element(comparison, read_element(memory, layout.type, at), exact, layout.type,
                      kRoundings, layout.type == DType::fp32 ? magnitude : 1);
    }
  }
}

}  // namespace

Comparison compare_rows(const RowResult& result, const ChipMemory& chip) {
  Comparison comparison;
  if (result.parts.empty()) return comparison;
  const SeededRows rows(result.seed, result.stride,
                        {result.sigma, result.parts[0].type, result.given});
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    if (!result.parts[i].function->output()) continue;
    compare_part(comparison, result.parts[i], result, rows, chip(static_cast<TileId>(i)));
  }
  for (std::uint64_t part = 0; part < result.sums.size(); ++part) {
    compare_sums(comparison, result, part, rows, chip);
  }
  return comparison;
}

}  // namespace lacuna::ipu
