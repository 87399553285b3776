// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {

/// Relative scales of the magnitudes of trained weights, as deviations of their logarithm.
struct FieldScales {
  double head = 0;    // between attention heads
  double group = 0;   // between groups of `head_width` on the other side
  double column = 0;  // between input features
  double row = 0;     // between output features
  double block = 0;   // between blocks of 64 x 64
};

/// Magnitudes |z| exp(scales) with independent normal z: what stands for trained weights.
struct FieldSpec {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t head_width = 64;
  bool heads_in_columns = false;  // of an output projection
  bool scaled = true;             // false: z alone, whose pruning is random pruning
  FieldScales scales;
};

/// The magnitudes, row by row and as often as needed, without holding them all. The logarithms of
/// the scales are drawn first: heads, groups, columns, rows, blocks; then z, row-major.
class MagnitudeField {
 public:
  MagnitudeField(const FieldSpec& spec, std::uint64_t seed);

  /// Back to the first row.
  void rewind() {
    random_ = start_;
    row_ = 0;
  }

  /// The magnitudes of the next row, one for each column.
  void next_row(std::vector<double>& magnitudes);

 private:
  FieldSpec spec_;
  std::vector<double> row_factors_;
  std::vector<double> col_factors_;
  std::vector<double> block_factors_;
  Random random_;
  Random start_;  // before the first z
  std::uint32_t row_ = 0;
};

/// `typical` fits the median of the pruned Transformer masks of the Deep Learning Matrix
/// Collection, `skewed` their first layers.
enum class FieldPreset { typical, skewed };
/// The weight matrices of an encoder layer: query, key and value; output; both of the feed-forward.
enum class WeightRole { qkv, out, ffn1, ffn2 };

/// The field of a weight matrix that is to keep the fraction `density`.
FieldSpec field_of(FieldPreset preset, WeightRole role, double density);

}  // namespace lacuna
