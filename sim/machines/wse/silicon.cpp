// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/silicon.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/wse/program/wavelet.hpp"

namespace lacuna {

namespace {

constexpr double kWordBits = 32 + 5;  // data and color
constexpr double kPorts = 5;          // four neighbours and the ramp
constexpr double kBanks = 8;          // Hot Chips 34
constexpr double kBytesOfAKib = 1024;

double sum(const std::vector<unsigned>& depths) {
  return std::accumulate(depths.begin(), depths.end(), 0.0);
}

}  // namespace

Silicon wafer_silicon(const WseParams& params) {
  const wse::SimdParams& simd = params.simd;
  const double halves = std::max(simd.fma16.value(), simd.fma16_32.value());
  const double singles = std::max({simd.fma16_32.value(), simd.fma32.value(), simd.add32.value()});
  const double queued = sum(params.queue.in_depths()) + sum(params.queue.out_depths());
  const double routed = params.router.entries * kPorts * wse::kColors;
  Silicon silicon;
  silicon.units = params.energy.chip_units;
  silicon.unit_sram_mb = params.mem.kib * kBytesOfAKib * 1e-6;
  // four fp16 multipliers make one of fp32, or eight of int8; those beyond are their own
  silicon.unit = {
      {"sram_kib", static_cast<double>(params.mem.kib)},
      {"sram_bank", kBanks},
      {"sram_port_byte", (params.mem.read_bits + params.mem.write_bits) / 8.0},
      {"multiplier_fp16", halves},
      {"multiplier_fp32", std::max(0.0, simd.fma32 - halves / 4)},
      {"multiplier_int8", std::max(0.0, simd.int8 - 2 * halves)},
      {"adder_fp16", static_cast<double>(simd.fma16)},
      {"adder_fp32", singles},
      {"adder_int32", static_cast<double>(simd.int8)},
      {"comparator_16b", simd.max16 + 2.0 * simd.max32},
      {"converter", static_cast<double>(simd.convert)},
      {"buffer_bit", (queued + routed) * kWordBits + 8.0 * params.core.cache_bytes},
      {"crosspoint_bit", kPorts * kPorts * kWordBits},
      {"link_bit", 4 * kWordBits},
      {"pipeline_wafer_core", 1},
  };
  silicon.chip = {{"serial_gbs", params.io.gbit / 8.0}};
  return silicon;
}

}  // namespace lacuna
