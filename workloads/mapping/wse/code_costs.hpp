// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/wse/params.hpp"

namespace lacuna::wse {

/// What compiled code costs.
struct CodeCosts {
  CoreParams core;
  ScalarParams scalar;
  VectorParams vec;
  TaskCostParams task;

  /// Issue slots of a vector operation before its first beat, if `descriptors` have to be loaded
  /// and nothing before hides its way through the pipeline.
  std::uint32_t setup(std::uint32_t descriptors) const {
    return descriptors * vec.setup_descriptor + vec.setup_use + vec.setup_first;
  }
  /// The same behind another operation: loads and dispatch alone.
  std::uint32_t next(std::uint32_t descriptors) const {
    return descriptors * vec.setup_descriptor + vec.setup_use;
  }
  /// A data task with so many cycles of instructions. What the core's dispatch takes is part of
  /// task.overhead; it overlaps the task before if the core can do that.
  std::uint32_t data_task(std::uint32_t instructions) const {
    const std::uint32_t dispatch = core.dispatch_overlap ? 0U : core.dispatch.value();
    return std::max(task.overhead.value(), dispatch) - dispatch + instructions;
  }
};

}  // namespace lacuna::wse
