// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/cycle.hpp"
#include "sim/base/energy_range.hpp"

namespace lacuna::system {

/// What a simulated chip says of some rows, one after the other.
struct ChipCost {
  Cycle cycles = 0;
  Cycle exchange_cycles = 0;       // of those, the tiles' mean in exchange between them
  EnergyRange joules;              // of these cycles
  std::uint64_t memory_bytes = 0;  // most that one row needs on the chip, its operands with it
  std::uint64_t flop = 0;          // useful

  ChipCost& operator+=(const ChipCost& other) {
    cycles += other.cycles;
    exchange_cycles += other.exchange_cycles;
    joules.low += other.joules.low;
    joules.nominal += other.joules.nominal;
    joules.high += other.joules.high;
    if (other.memory_bytes > memory_bytes) memory_bytes = other.memory_bytes;
    flop += other.flop;
    return *this;
  }
};

/// Bytes of results and gradients of a block, for one micro-batch.
struct LiveBytes {
  std::uint64_t forward = 0;   // most in a forward pass of which nothing is kept
  std::uint64_t kept = 0;      // that the backward pass needs
  std::uint64_t backward = 0;  // most in a forward pass and the backward pass after it
};

/// The costs of a part of a model on one chip, for one micro-batch.
struct PartCost {
  ChipCost forward;
  ChipCost backward;
  ChipCost update;             // of all of its weights
  std::uint64_t elements = 0;  // trained numbers on this chip
  LiveBytes live;
};

}  // namespace lacuna::system
