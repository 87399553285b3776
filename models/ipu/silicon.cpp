// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/silicon.hpp"

#include <algorithm>

namespace lacuna::ipu {

namespace {

// sixteen registers of 32 bits of each kind; Poplar vertex assembly guide. A quarter for state
constexpr double kContextBits = 1.25 * 2 * 16 * 32;
// of sums on their way: 32 for each product of fp16
constexpr double kAmpBitsOfAProduct = 32;
constexpr double kExchangeBits = 32;   // a word in a clock
constexpr double kChipLinksGbs = 320;  // ten IPU-Links, 10^9 B/s; IPU-M2000 data sheet
constexpr double kBytesOfAKib = 1024;

}  // namespace

Silicon silicon(const ChipParams& params, double tiles, double link_gbs) {
  const TileParams& tile = params.tile;
  const AmpParams& amp = tile.amp;
  Silicon silicon;
  silicon.units = std::max(tiles, static_cast<double>(params.ipu.tiles));
  silicon.unit_sram_mb = tile.memory.kib * kBytesOfAKib * 1e-6;
  // One array serves all types: four fp16 multipliers make one of fp32, or eight of fp8 (which is
  // how the rates of all generations go); those beyond are its own.
  const double mixed = amp.fp16_fp32_macs;
  const double halves = std::max<double>(amp.fp16_macs, mixed);
  const double ports = tile.memory.load_bytes + tile.memory.store_bytes;
  silicon.unit = {
      {"sram_kib", static_cast<double>(tile.memory.kib)},
      {"sram_bank", static_cast<double>(tile.memory.kib) / tile.memory.element.kib},
      {"sram_port_byte", ports},
      {"multiplier_fp16", halves},
      {"multiplier_fp32", std::max(0.0, amp.fp32_macs - halves / 4)},
      {"multiplier_fp8", std::max(0.0, amp.fp8_macs - 2 * halves)},
      {"adder_fp16", static_cast<double>(amp.fp16_macs)},
      {"adder_fp32", std::max<double>(mixed, amp.fp32_macs)},
      {"register_bit", kContextBits * (tile.workers + 1) +
                           kAmpBitsOfAProduct * halves * amp.latency +
                           8.0 * amp.column_bytes * halves / amp.depth + 8.0 * amp.weight_bytes},
      {"pipeline_ipu", 1},
      {"crosspoint_bit", silicon.units * kExchangeBits * (params.exchange.paired ? 1 : 0.5)},
  };
  silicon.chip = {{"serial_gbs", kChipLinksGbs + link_gbs}};
  return silicon;
}

}  // namespace lacuna::ipu
