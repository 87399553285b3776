// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/machines/machine.hpp"
#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a machine adds whose operations can be laid out in several ways. A layout is keys with
/// values, as a file of layouts has them; without any it is the machine as it is set.
class PlansLayouts {
 public:
  virtual ~PlansLayouts() = default;

  /// Whether operations are laid out by the machine's rule from now on, as far as no word of it is
  /// set by name. If not, all parameters are as they are set.
  virtual void plan_layouts(bool by_rule) = 0;

  /// What was set by name is from now on where a layout may begin, and not a part of it.
  virtual void take_as_not_given() {}

  /// What is set from now on is a layout: operations that have all units in every layout run on the
  /// machine as it is now.
  virtual void begin_layout() {}

  /// The layouts of which the rule takes the fastest; none if an operation has one layout only.
  virtual std::vector<Pairs> planned(const LayerOp& op, const Mask* mask) const = 0;

  /// The layouts that rows of a workload which follow each other have together: the first is the
  /// rule's, others may be faster.
  virtual std::vector<Pairs> planned_together(const WorkloadTrace& workload,
                                              const MaskOf& mask_of) const = 0;

  /// The layouts of a row in such a layout of all, of which the rule takes the fastest.
  virtual std::vector<Pairs> of_row(const LayerOp& /*op*/, const Mask* /*mask*/,
                                    const Pairs& /*together*/) const {
    return {{}};
  }

  /// Layouts that are one step from `layout`, of which a part may be left out as of little promise;
  /// the most promising first.
  virtual std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                                    const Pairs& layout) const = 0;

  /// Counts the units that stand beside those of a layout into its result.
  virtual void add_idle(OpResult& result) const = 0;
};

}  // namespace lacuna
