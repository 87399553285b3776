// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// The largest number that a lane has to hold of the cores and routers of a streaming program.
std::uint64_t largest_in_lanes(const HardwareParams& params, const Program& program);

/// Calls `run` with a zero of the smallest type that holds `most`, and a bit for each cycle of the
/// longest latency and one more; what it returns if there is no such type is empty.
template <class Run>
auto in_lanes(std::uint64_t most, Cycle latency, const Run& run) -> decltype(run(std::int8_t{})) {
  if (most <= 127 && latency <= 6) return run(std::int8_t{});
  if (most <= 32767 && latency <= 14) return run(std::int16_t{});
  return {};
}

}  // namespace lacuna::wse
