// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

bool is_power_of_two(unsigned number) { return number != 0 && (number & (number - 1)) == 0; }

/// The matrix unit has a power of two of columns, each of which forms `least` products.
void check_macs(const char* name, unsigned macs, unsigned least) {
  if (macs >= least && is_power_of_two(macs)) return;
  throw ParameterError(
      fmt::format("tile.amp.{} = {}: the columns of the matrix unit are a power of two; allowed "
                  "are {}, {}, {} and so on",
                  name, macs, least, 2 * least, 4 * least));
}

void check_amp(const AmpParams& amp) {
  for (const auto& [name, value] :
       {std::pair{"depth", amp.depth.value()}, {"column_bytes", amp.column_bytes.value()}}) {
    if (is_power_of_two(value)) continue;
    throw ParameterError(fmt::format("tile.amp.{} = {}: allowed is a power of two", name, value));
  }
  check_macs("fp16_macs", amp.fp16_macs, amp.depth);
  check_macs("fp16_fp32_macs", amp.fp16_fp32_macs, amp.depth);
  check_macs("fp32_macs", amp.fp32_macs, std::max(1U, amp.depth / 4));
  if (amp.fp8_macs > 0) check_macs("fp8_macs", amp.fp8_macs, 2 * amp.depth);
}

}  // namespace

void ChipParams::check() const {
  check_amp(tile.amp);
  constexpr unsigned kTilesOfARow = 64;  // 16 columns of two pairs
  const unsigned most = ipu.rows * kTilesOfARow;
  if (exchange.latency == LatencyModel::floor_plan && ipu.tiles > most) {
    throw ParameterError(fmt::format(
        "ipu.tiles = {} does not fit the floor plan: ipu.rows = {} gives room for {} tiles",
        ipu.tiles.value(), ipu.rows.value(), most));
  }
}

}  // namespace lacuna::ipu
