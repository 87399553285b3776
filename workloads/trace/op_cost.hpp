// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// What an operation costs before any machine: the base of rooflines, for all its repeats.
struct OpCost {
  std::uint64_t algorithmic_macs = 0;  // zeros included
  std::uint64_t useful_macs = 0;       // of kept elements of the masked operand
  std::uint64_t expected_macs = 0;     // of those, with a non-zero of X (expected, if X is thin)
  std::uint64_t scalar = 0;            // scalar operations
  std::uint64_t special = 0;           // exp, tanh, sigmoid, reciprocal, square root
  std::uint64_t traffic = 0;           // bytes, each operand touched once
  std::uint64_t link = 0;              // bytes each rank of a collective must send at least
  std::uint64_t random_bits = 0;       // of dropout

  OpCost& operator+=(const OpCost& other);
};

/// `kept` is the number of kept elements of the masked operand; all of it for a dense one.
OpCost cost_of(const LayerOp& op, std::uint64_t kept);

/// An `optim` row with rows=touched as the update of the rows alone that have a gradient: as many
/// as `embed` rows of `trace` in phase bwd scatter to the same table, at most all. Indices that are
/// drawn twice count twice. Any other row as it is.
LayerOp only_touched(LayerOp op, const WorkloadTrace& trace);

/// The elements of the operand that a pattern may thin out; 0 if there is none.
std::uint64_t masked_elements(const LayerOp& op);

}  // namespace lacuna
