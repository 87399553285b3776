// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/amp_unit.hpp"

#include <algorithm>

#include "models/ipu/chip_params.hpp"

namespace lacuna::ipu {
namespace {

unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

unsigned data_bytes(AmpMode mode) {
  if (mode == AmpMode::single) return 4;
  return mode == AmpMode::quarter || mode == AmpMode::quarter_mixed ? 1 : 2;
}

unsigned sum_bytes(AmpMode mode) {
  return mode == AmpMode::half || mode == AmpMode::quarter ? 2 : 4;
}

}  // namespace

AmpUnit::AmpUnit(const AmpParams& params, unsigned store_bytes)
    : half_macs_(params.fp16_macs),
      mixed_macs_(params.fp16_fp32_macs),
      single_macs_(params.fp32_macs),
      quarter_macs_(params.fp8_macs),
      depth_(params.depth),
      column_bytes_(params.column_bytes),
      input_bytes_(params.input_bytes >= 16 ? 16 : 8),
      weight_bytes_(params.weight_bytes),
      store_bytes_(store_bytes),
      latency_(params.latency) {}

unsigned AmpUnit::macs(AmpMode mode) const {
  switch (mode) {
    case AmpMode::half:
      return half_macs_;
    case AmpMode::mixed:
      return mixed_macs_;
    case AmpMode::single:
      return single_macs_;
    case AmpMode::quarter:
    case AmpMode::quarter_mixed:
      return quarter_macs_;
  }
  return 0;
}

// Four multipliers of fp16 make one of fp32, or eight of fp8.
unsigned AmpUnit::depth(AmpMode mode) const {
  if (mode == AmpMode::single) return std::max(1U, depth_ / 4);
  return data_bytes(mode) == 1 ? 2 * depth_ : depth_;
}

unsigned AmpUnit::columns(AmpMode mode) const { return std::max(1U, macs(mode) / depth(mode)); }

unsigned AmpUnit::contraction(AmpMode mode) const { return column_bytes_ / data_bytes(mode); }

unsigned AmpUnit::bundles(AmpMode mode, unsigned inputs, unsigned outputs) const {
  inputs = std::min(inputs, contraction(mode));
  outputs = std::min(outputs, columns(mode));
  return std::max({ceil_div(inputs, depth(mode)), ceil_div(inputs * data_bytes(mode), input_bytes_),
                   ceil_div(outputs * sum_bytes(mode), store_bytes_)});
}

unsigned AmpUnit::passes(AmpMode mode, unsigned inputs, unsigned outputs) const {
  return ceil_div(inputs, contraction(mode)) * ceil_div(outputs, columns(mode));
}

int AmpUnit::more_bundles(AmpMode mode, unsigned inputs, unsigned outputs) const {
  static const AmpUnit kWrittenFor;
  return static_cast<int>(bundles(mode, inputs, outputs)) -
         static_cast<int>(kWrittenFor.bundles(mode, inputs, outputs));
}

int AmpUnit::more_bundles(AmpMode mode) const {
  static const AmpUnit kWrittenFor;
  return static_cast<int>(bundles(mode)) - static_cast<int>(kWrittenFor.bundles(mode));
}

int AmpUnit::more_fill(AmpMode mode, unsigned inputs, unsigned outputs) const {
  static const AmpUnit kWrittenFor;
  return static_cast<int>(latency_ * bundles(mode, inputs, outputs)) -
         static_cast<int>(kWrittenFor.latency_ * kWrittenFor.bundles(mode, inputs, outputs));
}

int AmpUnit::more_fill(AmpMode mode) const {
  static const AmpUnit kWrittenFor;
  return static_cast<int>(latency_ * bundles(mode)) -
         static_cast<int>(kWrittenFor.latency_ * kWrittenFor.bundles(mode));
}

std::uint64_t AmpUnit::weight_loads(std::uint64_t bytes) const {
  const std::uint64_t load = std::uint64_t{8} * load_words();
  return (bytes + load - 1) / load;
}

Cycle AmpUnit::weight_clocks(std::uint64_t bytes) const {
  return std::max<Cycle>(weight_loads(bytes), (bytes + weight_bytes_ - 1) / weight_bytes_);
}

}  // namespace lacuna::ipu
