// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// What compiled code costs.
struct CodeCosts {
  CoreParams core;
  ScalarParams scalar;
  VectorParams vec;
  TaskCostParams task;

  /// Until an operation is dispatched: the loads of descriptors that no register holds, and the
  /// wait for the last. Without loads that is the way through the pipeline behind another
  /// operation.
  std::uint32_t dispatch(std::uint32_t descriptors) const {
    return descriptors * vec.setup_descriptor + vec.setup_use;
  }
  /// Before the first beat of an operation if nothing before hides its way through the pipeline.
  std::uint32_t setup(std::uint32_t descriptors) const {
    return dispatch(descriptors) + vec.setup_first;
  }
  /// Between the last beat of an operation and the first of the next.
  std::uint32_t next(std::uint32_t descriptors) const {
    return dispatch(descriptors) + (descriptors == 0 ? 0U : vec.setup_next.value());
  }
  /// From scalar code, which may have written addresses, to the first beat of an operation whose
  /// descriptors are in registers, and from its last beat to the code behind it.
  std::uint32_t from_registers() const { return dispatch(0) + vec.setup_next; }

  /// Between two operations, the second of which is `what`, none of whose descriptors is in a
  /// register; nor is a source that is a number, unless it `stands` there. An operand that is the
  /// result too has no descriptor of its own.
  std::uint32_t start(const Instruction& what, bool stands = false) const;
  /// What the main thread does before `what` is handed to a microthread.
  std::uint32_t start_beside(const Instruction& what) const;
};

}  // namespace lacuna::wse
