// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/element_functions.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/mix.hpp"

namespace lacuna {
namespace {

using Shared = ElementFunction::Shared;
using Operands = const ElementOperands&;

constexpr double kScale = 0.125;  // of scores: one over the root of a head's width of 64

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The tanh form of GELU: 0.5 x (1 + tanh(c (x + a x^3))).
constexpr double kGeluCubic = 0.044715;
double gelu_inner(double x) { return std::sqrt(2 / M_PI) * (x + kGeluCubic * x * x * x); }
double gelu(double x) { return 0.5 * x * (1 + std::tanh(gelu_inner(x))); }
double same(Operands o) { return o.x[0]; }
double with_shared(Operands o) { return o.x[0] + o.s; }
double scaled(Operands o) { return o.x[0] * kScale; }
double times_shared(Operands o) { return o.x[0] * o.s; }

const std::vector<ElementFunction>& forward_functions() {
  static const std::vector<ElementFunction> kFunctions = {
      {"relu", [](Operands o) { return std::max(o.x[0], 0.0); }},
      {"gelu", [](Operands o) { return gelu(o.x[0]); }},
      {"silu", [](Operands o) { return o.x[0] * sigmoid(o.x[0]); }},
      {"tanh", [](Operands o) { return std::tanh(o.x[0]); }},
      {"sigmoid", [](Operands o) { return sigmoid(o.x[0]); }},
      {"swiglu", [](Operands o) { return o.x[0] * sigmoid(o.x[0]) * o.x[1]; }, 2},
      {"glu", [](Operands o) { return sigmoid(o.x[0]) * o.x[1]; }, 2},
      {"add", [](Operands o) { return o.x[0] + o.x[1]; }, 2},
      {"mul", [](Operands o) { return o.x[0] * o.x[1]; }, 2},
      {"bias", with_shared, 1, 1, Shared::features},
      {"bias_add", [](Operands o) { return o.x[0] + o.s + o.x[1]; }, 2, 1, Shared::features},
      {"bias_gelu", [](Operands o) { return gelu(o.x[0] + o.s); }, 1, 1, Shared::features},
      {"scale", scaled},
      {"mask", with_shared, 1, 1, Shared::columns},
      {"scale_mask", [](Operands o) { return scaled(o) + o.s; }, 1, 1, Shared::columns},
      {"copy", same},
      {"rope", [](Operands o) { return o.x[0] * o.x[1] + o.pair[0] * o.x[2]; }, 3},
      {"dropout", times_shared},
  };
  return kFunctions;
}

// Operand 0 is the gradient of the result, those after it are the operands of the function. The
// backward of relu, silu, tanh and sigmoid takes the slope from the saved result.
const std::vector<ElementFunction>& backward_functions() {
  static const std::vector<ElementFunction> kFunctions = {
      {"relu", [](Operands o) { return o.x[1] > 0 ? o.x[0] : 0.0; }, 2},
      {"gelu", [](Operands o) { return o.x[0] * gelu_slope(o.x[1]); }, 2},
      // of y and the saved sigmoid
      {"silu", [](Operands o) { return o.x[0] * (o.x[1] + o.x[2] * (1 - o.x[1])); }, 3},
      {"tanh", [](Operands o) { return o.x[0] * (1 - o.x[1] * o.x[1]); }, 2},
      {"sigmoid", [](Operands o) { return o.x[0] * o.x[1] * (1 - o.x[1]); }, 2},
      {"swiglu",
       [](Operands o) {
         const double s = sigmoid(o.x[1]);
         return o.r == 0 ? o.x[0] * o.x[2] * (s + o.x[1] * s * (1 - s)) : o.x[0] * o.x[1] * s;
       },
       3, 2},
      {"glu",
       [](Operands o) {
         const double s = sigmoid(o.x[1]);
         return o.r == 0 ? o.x[0] * o.x[2] * s * (1 - s) : o.x[0] * s;
       },
       3, 2},
      {"add", same},
      {"mul", [](Operands o) { return o.x[0] * o.x[2 - o.r]; }, 3, 2},
      {"scale", scaled},
      {"mask", same},
      {"scale_mask", scaled},
      {"copy", same},
      {"rope", [](Operands o) { return o.x[0] * o.x[1] - o.pair[0] * o.x[2]; }, 3},
      {"dropout", times_shared},
  };
  return kFunctions;
}

}  // namespace

const ElementFunction* find_element_function(const LayerOp& op) {
  // numbers of the row's type from those of another one
  static const ElementFunction kCast{"cast", same};
  if (op.fn == "cast") return &kCast;
  const bool backward = op.phase == Phase::bwd;
  for (const ElementFunction& f : backward ? backward_functions() : forward_functions()) {
    if (op.fn == f.name) return &f;
  }
  return nullptr;
}

double gelu_slope(double x) {
  const double t = std::tanh(gelu_inner(x));
  const double inner = std::sqrt(2 / M_PI) * (1 + 3 * kGeluCubic * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

double dropout_factor(std::uint64_t seed, std::uint64_t p) {
  constexpr std::uint64_t kRate = 6554;  // of 2^16: 0.1, decided by 16 random bits
  constexpr double kKeep = 0.9;
  return (mix(seed ^ mix(p)) >> 48U) < kRate ? 0 : 1 / kKeep;
}

}  // namespace lacuna
