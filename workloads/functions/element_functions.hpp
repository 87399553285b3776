// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The operands of one element of a result.
struct ElementOperands {
  const double* x;     // those laid out like the result
  double s;            // its number of the shared vector
  const double* pair;  // the operands of its partner in a rotated pair; else x
  unsigned r;          // which of the results
};

/// What an element-wise function reads and computes; a row of a table. What it costs is said by
/// each machine.
struct ElementFunction {
  /// A vector that is added or multiplied to each row of the operand: one number for each of the m
  /// features (operands then have the features of a token side by side), or for each of n columns.
  enum class Shared { none, features, columns };

  const char* name = "";
  double (*value)(const ElementOperands& operands) = nullptr;
  unsigned tensors = 1;  // operands laid out like the result
  unsigned results = 1;
  Shared shared = Shared::none;
};

/// The function of `op`, an `eltwise`; null for those whose backward is a sum over columns.
const ElementFunction* find_element_function(const LayerOp& op);

/// The slope of GELU in its tanh form.
double gelu_slope(double x);

/// What `dropout` makes of element p: 0, or 1 over the chance to be kept.
double dropout_factor(std::uint64_t seed, std::uint64_t p);

}  // namespace lacuna
