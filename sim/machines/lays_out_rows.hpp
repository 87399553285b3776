// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a machine adds that lays out each row of a workload in a way of its own.
class LaysOutRows {
 public:
  virtual ~LaysOutRows() = default;

  /// How a row and those whose results it takes are laid out: rows of equal content may differ in
  /// that.
  virtual std::string layouts_of(const LayerOp& op) const = 0;
};

}  // namespace lacuna
