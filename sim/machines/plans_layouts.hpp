// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// What a machine adds that has a rule by which operations are laid out. A layout is keys with
/// values, as a file of layouts has them.
class PlansLayouts {
 public:
  virtual ~PlansLayouts() = default;

  /// Whether operations are laid out by the rule from now on, as far as nothing of it is set by
  /// name; if not, as before, all parameters are as they are set.
  virtual void plan_layouts(bool by_rule) = 0;

  /// The layouts of which the rule takes the fastest; none if it says nothing of an operation.
  virtual std::vector<Pairs> planned(const LayerOp& op, const Mask* mask) const = 0;

  /// Layouts that are one step from `layout`, of which a part may be left out as of little promise;
  /// the most promising first.
  virtual std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                                    const Pairs& layout) const = 0;

  /// Counts the units that stand beside those of a layout into its result.
  virtual void add_idle(OpResult& result) const = 0;
};

}  // namespace lacuna
