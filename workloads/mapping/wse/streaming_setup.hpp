// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/params.hpp"

namespace lacuna::wse {

/// What the planner needs to know of the machine.
struct StreamingSetup {
  WaferParams wafer;
  CoreParams core;
  QueueParams queue;
  MemoryParams mem;
  SimdParams simd;
  StreamingParams ws;
  IoParams io;
  MapParams map;
  double clock_ghz = 0.85;
  ResidentParams resident;
  ZeroFilterParams zero_filter = {};
  unsigned hop = 1;  // cycles of a link and of a ramp, for bounds; the least they can be
  unsigned ramp = 1;
};

}  // namespace lacuna::wse
