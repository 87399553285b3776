// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_params.hpp"

#include <fmt/format.h>

namespace lacuna::ipu {
namespace {

/// The matrix unit has a power of two of columns, each of which forms four products of halves, or
/// one of singles.
void check_macs(const char* name, unsigned macs, unsigned least) {
  if (macs >= least && (macs & (macs - 1)) == 0) return;
  throw ParameterError(
      fmt::format("tile.amp.{} = {}: the columns of the matrix unit are a power of two; allowed "
                  "are {}, {}, {} and so on",
                  name, macs, least, 2 * least, 4 * least));
}

void check_amp(const AmpParams& amp) {
  check_macs("fp16_macs", amp.fp16_macs, 4);
  check_macs("fp16_fp32_macs", amp.fp16_fp32_macs, 4);
  check_macs("fp32_macs", amp.fp32_macs, 1);
  if (amp.fp8_macs > 0) check_macs("fp8_macs", amp.fp8_macs, 4);
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
