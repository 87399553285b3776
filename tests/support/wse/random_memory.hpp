// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/params.hpp"
#include "sim/base/random.hpp"

namespace lacuna::wse {

/// In half of all cases ports, banks and tasks cost what a WSE-3 or a strange machine makes of
/// them. Draws from a stream of its own, so that what else a case draws stays as it is.
inline void draw_memory_rules(std::uint64_t seed, TaskParams& params) {
  Random random(stream_seed(seed, "memory rules"));
  if (random.bounded(2) == 0) return;
  params.mem.read_bits = 32U << random.bounded(3);
  params.mem.write_bits = 32U << random.bounded(3);
  params.mem.write_share = static_cast<double>(random.bounded(4)) / 3;
  params.mem.conflict_bytes = random.bounded(2) == 0 ? 8U : 16U;
  params.mem.write_lag = static_cast<unsigned>(random.bounded(4));
  params.mem.row_bytes = random.bounded(2) == 0 ? 0U : 16U;
  params.simd.by_rows = random.bounded(2) == 0;
  params.simd.to_register = static_cast<unsigned>(random.bounded(4));
  params.simd.add32 = static_cast<unsigned>(1 + random.bounded(4));
  params.task.completion = static_cast<unsigned>(random.bounded(6));
}

}  // namespace lacuna::wse
