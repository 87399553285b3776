// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/kernel/engine.hpp"

namespace lacuna::system {

/// How a system of chips is simulated, whatever joins them; nothing but jitter changes a result.
struct SystemExecution {
  Engine engine = Engine::event;
  std::uint64_t shuffle = 0;  // step the blocks of a cycle in an order drawn from this
  std::uint64_t jitter = 0;   // ns by which chunks are delayed at most: changes times
  std::uint64_t jitter_seed = 1;
  bool event_log = false;
};

}  // namespace lacuna::system
