// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/cycle.hpp"
#include "sim/base/energy_range.hpp"

namespace lacuna::system {

/// What a simulated chip says of some rows, one after the other.
struct ChipCost {
  Cycle cycles = 0;
  Cycle exchange_cycles = 0;  // of those, the tiles' mean in exchange between them
  EnergyRange joules;         // of these cycles
  std::uint64_t flop = 0;     // useful
  // of operands whose pattern may change, for a new one: what the host sends, and what it takes to
  // make that
  std::uint64_t host_bytes = 0;
  std::uint64_t host_ns = 0;
  std::uint64_t tile_bytes = 0;  // that the fullest tile needs for any of them
  std::uint64_t edge_bytes = 0;  // that come in at the edge of a wafer
  double density = 1;            // of the mask of the last row

  ChipCost& operator+=(const ChipCost& other) {
    cycles += other.cycles;
    exchange_cycles += other.exchange_cycles;
    joules.add(other.joules);
    flop += other.flop;
    host_bytes += other.host_bytes;
    host_ns += other.host_ns;
    edge_bytes += other.edge_bytes;
    tile_bytes = std::max(tile_bytes, other.tile_bytes);
    density = other.density;
    return *this;
  }

  ChipCost& add(const ChipCost& other, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) *this += other;
    return *this;
  }
};

/// Bytes of results and gradients of a block, for one micro-batch.
struct LiveBytes {
  std::uint64_t forward = 0;   // most in a forward pass of which nothing is kept
  std::uint64_t kept = 0;      // that the backward pass needs
  std::uint64_t backward = 0;  // most in a forward pass and the backward pass after it
};

/// Trained numbers of a chip: how many, and their bytes in the types that the recipe gives them.
struct Trained {
  std::uint64_t elements = 0;
  std::uint64_t weights = 0;    // as products read them, of sparse ones with their places
  std::uint64_t gradients = 0;  // of a micro-batch, and of all that are accumulated
  std::uint64_t state = 0;      // of the optimizer, master copies with it

  Trained& operator+=(const Trained& other) {
    elements += other.elements;
    weights += other.weights;
    gradients += other.gradients;
    state += other.state;
    return *this;
  }

  Trained operator*(std::uint64_t times) const {
    return {elements * times, weights * times, gradients * times, state * times};
  }
};

/// The costs of a part of a model on one chip, for one micro-batch.
struct PartCost {
  ChipCost forward;
  ChipCost backward;
  ChipCost update;  // of all of its weights
  Trained trained;
  ChipCost table_update;  // of those, the table of tokens, which a head may share
  Trained table;
  LiveBytes live;
};

}  // namespace lacuna::system
