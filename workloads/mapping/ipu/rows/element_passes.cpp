// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/element_passes.hpp"

#include <map>
#include <string>

namespace lacuna::ipu {
namespace {

/// A pass in the order of VectorPass: loads of operands and of shared vectors, stores, additions,
/// multiplications, special functions, conversions, integer operations.
constexpr VectorPass pass(unsigned inputs, unsigned parameters, unsigned outputs, unsigned adds,
                          unsigned muls, unsigned specials = 0, unsigned converts = 0,
                          unsigned integers = 0) {
  return {inputs, parameters, outputs, adds, muls, specials, converts, integers};
}

using Passes = std::map<std::string, VectorPass>;

// Instructions of each vector, counted from the formulas:
//   gelu        x^2, a x^2 + 1, times c x, tanh, + 1, times x, times 0.5: 5 products with c folded
//               into a constant each, 2 sums, 1 tanh
//   dropout     a draw of random bits, a comparison with the rate, the mask; a product with 1/keep
//   rope        x c, the partner times s, their sum; tables of c and s are operands
// The forward counts add up to those of op_cost.cpp except for tanh and sigmoid, which the aux pipe
// has as one instruction.
const Passes& forward_passes() {
  static const Passes kPasses = {
      {"relu", pass(1, 0, 1, 1, 0)},       {"gelu", pass(1, 0, 1, 2, 5, 1)},
      {"silu", pass(1, 0, 1, 0, 1, 1)},    {"tanh", pass(1, 0, 1, 0, 0, 1)},
      {"sigmoid", pass(1, 0, 1, 0, 0, 1)}, {"swiglu", pass(2, 0, 1, 0, 2, 1)},
      {"glu", pass(2, 0, 1, 0, 1, 1)},     {"add", pass(2, 0, 1, 1, 0)},
      {"mul", pass(2, 0, 1, 0, 1)},        {"bias", pass(1, 1, 1, 1, 0)},
      {"bias_add", pass(2, 1, 1, 2, 0)},   {"bias_gelu", pass(1, 1, 1, 3, 5, 1)},
      {"scale", pass(1, 0, 1, 0, 1)},      {"mask", pass(1, 1, 1, 1, 0)},
      {"scale_mask", pass(1, 1, 1, 1, 1)}, {"copy", pass(1, 0, 1, 0, 0)},
      {"rope", pass(3, 0, 1, 1, 2)},       {"dropout", pass(1, 0, 1, 0, 1, 0, 0, 3)},
  };
  return kPasses;
}

// The backward of relu, silu, tanh and sigmoid takes the slope from the saved result.
const Passes& backward_passes() {
  static const Passes kPasses = {
      {"relu", pass(2, 0, 1, 0, 0, 0, 0, 1)},
      {"gelu", pass(2, 0, 1, 4, 8, 1)},
      {"silu", pass(3, 0, 1, 2, 2)},
      {"tanh", pass(2, 0, 1, 1, 2)},
      {"sigmoid", pass(2, 0, 1, 1, 2)},
      {"swiglu", pass(3, 0, 2, 2, 4, 1)},
      {"glu", pass(3, 0, 2, 1, 3, 1)},
      {"add", pass(1, 0, 1, 0, 0)},
      {"mul", pass(3, 0, 2, 0, 2)},
      {"scale", pass(1, 0, 1, 0, 1)},
      {"mask", pass(1, 0, 1, 0, 0)},
      {"scale_mask", pass(1, 0, 1, 0, 1)},
      {"copy", pass(1, 0, 1, 0, 0)},
      {"rope", pass(3, 0, 1, 1, 2)},
      {"dropout", pass(1, 0, 1, 0, 1, 0, 0, 3)},
  };
  return kPasses;
}

// A cast makes FP8 from FP16; f32v4tof16 and f16v2tof32 convert a vector of the result at a time,
// f16v4tof8 half of one.
const VectorPass& cast_pass(DType to) {
  static const VectorPass kToHalf = pass(2, 0, 1, 0, 0, 0, 1);
  static const VectorPass kToQuarter = pass(2, 0, 1, 0, 0, 0, 2);
  static const VectorPass kToSingle = pass(1, 0, 1, 0, 0, 0, 1);
  if (to == DType::fp8) return kToQuarter;
  return to == DType::fp32 ? kToSingle : kToHalf;
}

}  // namespace

const VectorPass& element_pass(const LayerOp& op) {
  if (op.fn == "cast") return cast_pass(op.dtype);
  return (op.phase == Phase::bwd ? backward_passes() : forward_passes()).at(op.fn);
}

}  // namespace lacuna::ipu
