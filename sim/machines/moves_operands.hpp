// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/machines/machine.hpp"
#include "sim/machines/product_runs.hpp"

namespace lacuna {

/// What a machine adds if the rows of a workload may each have a layout of their own. What a row
/// takes then moves from where it was left, and the move is part of the row's time.
class MovesOperands {
 public:
  virtual ~MovesOperands() = default;

  /// A machine of equal parameters that finds operand `i` of a row (LayerOp::sources) where
  /// `makers[i]` leaves its results; null: where it does so itself.
  virtual std::unique_ptr<Machine> taking_from(const std::vector<const Machine*>& makers) const = 0;

  /// Cycles in which the operands of a product come to where it takes them. `seed`: the row's.
  virtual Cycle operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t seed) const = 0;

  /// Leaves in the rows of a workload, whose sources find_sources() has given, those that move here
  /// if they lie otherwise, with who makes them, by the ids of rows.
  virtual void keep_moved(WorkloadTrace& /*workload*/,
                          std::vector<std::vector<std::string>>& /*makers*/) const {}

  /// From now on it is a row that others take from, as it is laid out here.
  virtual void stand_for(const LayerOp& /*op*/, const Mask* /*mask*/) {}

  /// True if where a row leaves its result follows from its content too, not from its layout alone.
  virtual bool lies_by_content() const { return false; }

  /// From now on it runs one product alone, and shares its simulations; null: it keeps none.
  virtual void share_runs(std::shared_ptr<ProductRuns> runs) = 0;
};

}  // namespace lacuna
