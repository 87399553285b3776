// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/element_passes.hpp"

#include <map>
#include <string>

namespace lacuna::ipu {
namespace {

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
      {"relu", make_pass(1, 0, 1, 1, 0)},       {"gelu", make_pass(1, 0, 1, 2, 5, 1)},
      {"silu", make_pass(1, 0, 1, 0, 1, 1)},    {"tanh", make_pass(1, 0, 1, 0, 0, 1)},
      {"sigmoid", make_pass(1, 0, 1, 0, 0, 1)}, {"swiglu", make_pass(2, 0, 1, 0, 2, 1)},
      {"glu", make_pass(2, 0, 1, 0, 1, 1)},     {"add", make_pass(2, 0, 1, 1, 0)},
      {"mul", make_pass(2, 0, 1, 0, 1)},        {"bias", make_pass(1, 1, 1, 1, 0)},
      {"bias_add", make_pass(2, 1, 1, 2, 0)},   {"bias_gelu", make_pass(1, 1, 1, 3, 5, 1)},
      {"scale", make_pass(1, 0, 1, 0, 1)},      {"mask", make_pass(1, 1, 1, 1, 0)},
      {"scale_mask", make_pass(1, 1, 1, 1, 1)}, {"copy", make_pass(1, 0, 1, 0, 0)},
      {"rope", make_pass(3, 0, 1, 1, 2)},       {"dropout", make_pass(1, 0, 1, 0, 1, 0, 0, 3)},
  };
  return kPasses;
}

// The backward of relu, silu, tanh and sigmoid takes the slope from the saved result.
const Passes& backward_passes() {
  static const Passes kPasses = {
      {"relu", make_pass(2, 0, 1, 0, 0, 0, 0, 1)},
      {"gelu", make_pass(2, 0, 1, 4, 8, 1)},
      {"silu", make_pass(3, 0, 1, 2, 2)},
      {"tanh", make_pass(2, 0, 1, 1, 2)},
      {"sigmoid", make_pass(2, 0, 1, 1, 2)},
      {"swiglu", make_pass(3, 0, 2, 2, 4, 1)},
      {"glu", make_pass(3, 0, 2, 1, 3, 1)},
      {"add", make_pass(1, 0, 1, 0, 0)},
      {"mul", make_pass(3, 0, 2, 0, 2)},
      {"scale", make_pass(1, 0, 1, 0, 1)},
      {"mask", make_pass(1, 0, 1, 0, 0)},
      {"scale_mask", make_pass(1, 0, 1, 0, 1)},
      {"copy", make_pass(1, 0, 1, 0, 0)},
      {"rope", make_pass(3, 0, 1, 1, 2)},
      {"dropout", make_pass(1, 0, 1, 0, 1, 0, 0, 3)},
  };
  return kPasses;
}

// A cast makes FP8 from FP16; f32v4tof16 and f16v2tof32 convert a vector of the result at a time,
// f16v4tof8 half of one.
const VectorPass& cast_pass(DType to) {
  static const VectorPass kToHalf = make_pass(2, 0, 1, 0, 0, 0, 1);
  static const VectorPass kToQuarter = make_pass(2, 0, 1, 0, 0, 0, 2);
  static const VectorPass kToSingle = make_pass(1, 0, 1, 0, 0, 0, 1);
  if (to == DType::fp8) return kToQuarter;
  return to == DType::fp32 ? kToSingle : kToHalf;
}

}  // namespace

const VectorPass& element_pass(const LayerOp& op) {
  if (op.fn == "cast") return cast_pass(op.dtype);
  return (op.phase == Phase::bwd ? backward_passes() : forward_passes()).at(op.fn);
}

}  // namespace lacuna::ipu
