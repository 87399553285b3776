// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/element_functions.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/mix.hpp"

namespace lacuna {
namespace {

using Shared = ElementFunction::Shared;

constexpr double kScale = 0.125;  // of scores: one over the root of a head's width of 64

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The tanh form of GELU: 0.5 x (1 + tanh(c (x + a x^3))).
constexpr double kGeluCubic = 0.044715;
double gelu_inner(double x) { return std::sqrt(2 / M_PI) * (x + kGeluCubic * x * x * x); }
double gelu(double x) { return 0.5 * x * (1 + std::tanh(gelu_inner(x))); }
double gelu_slope(double x) {
  const double t = std::tanh(gelu_inner(x));
  const double inner = std::sqrt(2 / M_PI) * (1 + 3 * kGeluCubic * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

const std::vector<ElementFunction>& forward_functions() {
  static const std::vector<ElementFunction> kFunctions = {
      {"relu", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return std::max(x[0], 0.0); }},
      {"gelu", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return gelu(x[0]); }},
      {"silu", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * sigmoid(x[0]); }},
      {"tanh", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return std::tanh(x[0]); }},
      {"sigmoid", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return sigmoid(x[0]); }},
      {"swiglu", Phase::fwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) {
         return x[0] * sigmoid(x[0]) * x[1];
       }},
      {"glu", Phase::fwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return sigmoid(x[0]) * x[1]; }},
      {"add", Phase::fwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] + x[1]; }},
      {"mul", Phase::fwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * x[1]; }},
      {"bias", Phase::fwd, Shared::features, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] + s; }},
      {"bias_add", Phase::fwd, Shared::features, 2, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] + s + x[1]; }},
      {"bias_gelu", Phase::fwd, Shared::features, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return gelu(x[0] + s); }},
      {"scale", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * kScale; }},
      {"mask", Phase::fwd, Shared::columns, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] + s; }},
      {"scale_mask", Phase::fwd, Shared::columns, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] * kScale + s; }},
      {"copy", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0]; }},
      {"rope", Phase::fwd, Shared::none, 3, 1,
       [](const double* x, double, const double* pair, unsigned) {
         return x[0] * x[1] + pair[0] * x[2];
       }},
      {"dropout", Phase::fwd, Shared::none, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] * s; }},
  };
  return kFunctions;
}

// Operand 0 is the gradient of the result, those after it are the operands of the function. The
// backward of relu, silu, tanh and sigmoid takes the slope from the saved result.
const std::vector<ElementFunction>& backward_functions() {
  static const std::vector<ElementFunction> kFunctions = {
      {"relu", Phase::bwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[1] > 0 ? x[0] : 0.0; }},
      {"gelu", Phase::bwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * gelu_slope(x[1]); }},
      {"silu", Phase::bwd, Shared::none, 3, 1,
       [](const double* x, double, const double*, unsigned) {
         return x[0] * (x[1] + x[2] * (1 - x[1]));  // of y and the saved sigmoid
       }},
      {"tanh", Phase::bwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * (1 - x[1] * x[1]); }},
      {"sigmoid", Phase::bwd, Shared::none, 2, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * x[1] * (1 - x[1]); }},
      {"swiglu", Phase::bwd, Shared::none, 3, 2,
       [](const double* x, double, const double*, unsigned r) {
         const double s = sigmoid(x[1]);
         return r == 0 ? x[0] * x[2] * (s + x[1] * s * (1 - s)) : x[0] * x[1] * s;
       }},
      {"glu", Phase::bwd, Shared::none, 3, 2,
       [](const double* x, double, const double*, unsigned r) {
         const double s = sigmoid(x[1]);
         return r == 0 ? x[0] * x[2] * s * (1 - s) : x[0] * s;
       }},
      {"add", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0]; }},
      {"mul", Phase::bwd, Shared::none, 3, 2,
       [](const double* x, double, const double*, unsigned r) { return x[0] * x[2 - r]; }},
      {"scale", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * kScale; }},
      {"mask", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0]; }},
      {"scale_mask", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0] * kScale; }},
      {"copy", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double, const double*, unsigned) { return x[0]; }},
      {"rope", Phase::bwd, Shared::none, 3, 1,
       [](const double* x, double, const double* pair, unsigned) {
         return x[0] * x[1] - pair[0] * x[2];
       }},
      {"dropout", Phase::bwd, Shared::none, 1, 1,
       [](const double* x, double s, const double*, unsigned) { return x[0] * s; }},
  };
  return kFunctions;
}

// Numbers of the row's type from those of another one.
const ElementFunction& cast_function() {
  static const ElementFunction kCast{
      "cast", Phase::fwd, Shared::none,
      1,      1,          [](const double* x, double, const double*, unsigned) { return x[0]; }};
  return kCast;
}

}  // namespace

const ElementFunction* find_element_function(const LayerOp& op) {
  if (op.fn == "cast") return &cast_function();
  const bool backward = op.phase == Phase::bwd;
  for (const ElementFunction& f : backward ? backward_functions() : forward_functions()) {
    if (op.fn == f.name) return &f;
  }
  return nullptr;
}

double dropout_factor(std::uint64_t seed, std::uint64_t p) {
  constexpr std::uint64_t kRate = 6554;  // of 2^16: 0.1, decided by 16 random bits
  constexpr double kKeep = 0.9;
  return (mix(seed ^ mix(p)) >> 48U) < kRate ? 0 : 1 / kKeep;
}

}  // namespace lacuna
