// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/magnitude_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lacuna {
namespace {

constexpr std::uint32_t kBlock = 64;

std::uint32_t groups_of(std::uint32_t size, std::uint32_t width) { return (size - 1) / width + 1; }

std::vector<double> draw(Random& random, std::uint32_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = random.gauss();
  return values;
}

// Between heads the scales differ less in sparser masks, whose density reacts more to them.
double typical_head(double sparsity) {
  constexpr double kHalf = 0.5;
  constexpr double kNine = 0.9;
  constexpr double kMost = 0.98;
  if (sparsity <= kHalf) return 0.10;
  if (sparsity >= kMost) return 0.05;
  if (sparsity <= kNine) return 0.10 - 0.04 * (sparsity - kHalf) / (kNine - kHalf);
  return 0.06 - 0.01 * (sparsity - kNine) / (kMost - kNine);
}

FieldScales typical(WeightRole role, double sparsity) {
  FieldScales scales;
  switch (role) {
    case WeightRole::qkv:
    case WeightRole::out:
      scales.head = typical_head(sparsity);
      scales.column = 0.03;
      scales.block = 0.04;
      scales.row = role == WeightRole::out ? 0.06 : 0;
      break;
    case WeightRole::ffn1:
      scales.column = 0.045;
      scales.block = 0.02;
      scales.row = 0.06;
      break;
    case WeightRole::ffn2:
      scales.column = 0.08;
      scales.block = 0.02;
      scales.row = 0.055;
      break;
  }
  return scales;
}

}  // namespace

MagnitudeField::MagnitudeField(const FieldSpec& spec, std::uint64_t seed)
    : spec_(spec),
      row_factors_(spec.rows, 1),
      col_factors_(spec.cols, 1),
      random_(seed),
      start_(seed) {
  const std::uint32_t blocks_across = groups_of(spec.cols, kBlock);
  block_factors_.assign(std::size_t{groups_of(spec.rows, kBlock)} * blocks_across, 1);
  if (spec.scaled) {
    const std::uint32_t row_groups = groups_of(spec.rows, spec.head_width);
    const std::uint32_t col_groups = groups_of(spec.cols, spec.head_width);
    const bool turned = spec.heads_in_columns;
    const std::vector<double> a = draw(random_, turned ? col_groups : row_groups);
    const std::vector<double> b = draw(random_, turned ? row_groups : col_groups);
    const std::vector<double> c = draw(random_, spec.cols);
    const std::vector<double> r = draw(random_, spec.rows);
    const FieldScales& scales = spec.scales;
    for (std::uint32_t i = 0; i < spec.rows; ++i) {
      const std::uint32_t group = i / spec.head_width;
      const double of_group = turned ? scales.group * b[group] : scales.head * a[group];
      row_factors_[i] = std::exp(of_group + scales.row * r[i]);
    }
    for (std::uint32_t j = 0; j < spec.cols; ++j) {
      const std::uint32_t group = j / spec.head_width;
      const double of_group = turned ? scales.head * a[group] : scales.group * b[group];
      col_factors_[j] = std::exp(of_group + scales.column * c[j]);
    }
    for (double& factor : block_factors_) factor = std::exp(scales.block * random_.gauss());
  }
  start_ = random_;
}

void MagnitudeField::next_row(std::vector<double>& magnitudes) {
  magnitudes.resize(spec_.cols);
  const double of_row = row_factors_[row_];
  const std::size_t first = std::size_t{row_ / kBlock} * groups_of(spec_.cols, kBlock);
  for (std::uint32_t j = 0; j < spec_.cols; ++j) {
    const double scale = of_row * col_factors_[j] * block_factors_[first + j / kBlock];
    magnitudes[j] = std::abs(random_.gauss()) * scale;
  }
  ++row_;
}

FieldSpec field_of(FieldPreset preset, WeightRole role, double density) {
  FieldSpec spec;
  spec.heads_in_columns = role == WeightRole::out || role == WeightRole::ffn2;
  if (preset == FieldPreset::typical) {
    spec.scales = typical(role, 1 - density);
  } else {
    spec.scales = {0.10, 0.12, 0.10, 0.10, 0.12};
  }
  return spec;
}

}  // namespace lacuna
