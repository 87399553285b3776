// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/sparsity/mask.hpp"
#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// A row of a trace as a wafer is asked to run it.
struct WaferRequest {
  const std::string& machine;  // its name, for messages
  const WseParams& params;
  const LayerOp& op;
  const Mask* mask = nullptr;  // of the masked operand; null: dense
  std::uint64_t seed = 0;
  const Execution& execution;

  /// The same wafer asked for another row, or for other records of it.
  WaferRequest with(const LayerOp& other, const Execution& records) const {
    return {machine, params, other, mask, seed, records};
  }
};

/// The same simulation without numbers, events and explanation: for a time to compare with.
Execution without_record(const Execution& execution);

/// Which elements of X are not zero, drawn from `seed`; nothing if all are.
std::optional<Mask> x_mask_of(const LayerOp& op, std::uint64_t seed);

}  // namespace lacuna
