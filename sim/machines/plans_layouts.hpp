// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/machines/layout_space.hpp"
#include "sim/machines/machine.hpp"
#include "sim/machines/product_runs.hpp"
#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a machine adds whose operations can be laid out in several ways. A layout is keys with
/// values, as a file of layouts has them; without any it is the machine as it is set.
///
/// The rows of a workload may each have a layout of their own. What a row takes then moves from
/// where it was left, and the move is part of the row's time.
class PlansLayouts {
 public:
  virtual ~PlansLayouts() = default;

  /// What can be chosen of how operations lie here, for each kind of them.
  virtual const std::vector<LayoutSpace>& layouts() const = 0;

  /// That of the kind of `op`; null if it has one layout only.
  virtual const LayoutSpace* layout_space(const LayerOp& op, const Mask* mask) const = 0;

  /// Whether operations are laid out by the machine's rule from now on, as far as no word of it is
  /// set by name. If not, all parameters are as they are set.
  virtual void plan_layouts(bool /*by_rule*/) {}

  /// What was set by name is from now on where a layout may begin, and not a part of it.
  virtual void take_as_not_given() {}

  /// What is set from now on is a layout: operations that have all units in every layout run on the
  /// machine as it is now.
  virtual void begin_layout() {}

  /// The layouts of which the rule takes the fastest: of an operation by itself, or of a row in a
  /// layout of all rows. None if it has one layout only.
  virtual std::vector<Pairs> planned(const LayerOp& op, const Mask* mask,
                                     const Pairs& together) const = 0;

  /// The layouts that rows of a workload which follow each other have together: the first is the
  /// rule's, others may be faster.
  virtual std::vector<Pairs> planned_together(const WorkloadTrace& /*workload*/,
                                              const MaskOf& /*mask_of*/) const {
    return {{}};
  }

  /// Layouts that are one step from `layout`, of which a part may be left out as of little promise;
  /// the most promising first.
  virtual std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                                    const Pairs& layout) const = 0;

  /// Counts the units that stand beside those of a layout into its result.
  virtual void add_idle(OpResult& /*result*/) const {}

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
