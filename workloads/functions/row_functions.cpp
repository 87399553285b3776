// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/row_functions.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/functions/element_functions.hpp"

namespace lacuna {
namespace {

using Element = const RowElement&;
using Found = const RowStats*;

constexpr double kEpsilon = 1e-5;  // keeps a norm from dividing by zero

double length(Element e) { return static_cast<double>(e.length); }

// softmax: maximum; exp(x - max) and its sum; times 1 / sum.
double softmax_partial(Element e, unsigned stage, unsigned, Found found) {
  return stage == 0 ? e.x : std::exp(e.x - found[0][0]);
}
double softmax_result(Element e, Found found) { return std::exp(e.x - found[0][0]) / found[1][0]; }

// take_max: the maximum; all that is smaller.
double take_max_partial(Element e, unsigned, unsigned, Found) { return e.x; }
double take_max_result(Element e, Found found) { return e.x < found[0][0] ? e.x : 0; }

// Of y and dy: y (dy - sum of y dy).
double softmax_back_partial(Element e, unsigned, unsigned, Found) { return e.x * e.dy; }
double softmax_back(Element e, Found found) { return e.x * (e.dy - found[0][0]); }

// layernorm: sum and sum of squares; (x - mean) / deviation, times gamma, plus beta.
double layernorm_partial(Element e, unsigned, unsigned i, Found) {
  return i == 0 ? e.x : e.x * e.x;
}
double layernorm_result(Element e, Found found) {
  const double mean = found[0][0] / length(e);
  const double variance = std::max(found[0][1] / length(e) - mean * mean, 0.0);
  return (e.x - mean) / std::sqrt(variance + kEpsilon) * e.gamma + e.beta;
}

double normal(Element e) { return (e.x - e.saved[0]) * e.saved[1]; }

// With g = gamma dy and z the normalised x: (g - mean of g - z mean of g z) / deviation.
double layernorm_back_partial(Element e, unsigned, unsigned i, Found) {
  return e.gamma * e.dy * (i == 0 ? 1 : normal(e));
}
double layernorm_back(Element e, Found found) {
  return e.saved[1] *
         (e.gamma * e.dy - found[0][0] / length(e) - normal(e) * found[0][1] / length(e));
}
double layernorm_column(Element e, unsigned i) { return i == 0 ? e.dy : e.dy * normal(e); }

// rmsnorm: sum of squares; x / root of the mean square, times gamma.
double rmsnorm_partial(Element e, unsigned, unsigned, Found) { return e.x * e.x; }
double rmsnorm_result(Element e, Found found) {
  return e.x / std::sqrt(found[0][0] / length(e) + kEpsilon) * e.gamma;
}
double rmsnorm_back_partial(Element e, unsigned, unsigned, Found) {
  return e.gamma * e.dy * e.x * e.saved[1];
}
double rmsnorm_back(Element e, Found found) {
  return e.saved[1] * (e.gamma * e.dy - e.x * e.saved[1] * found[0][0] / length(e));
}
double rmsnorm_column(Element e, unsigned) { return e.dy * e.x * e.saved[1]; }

double gradient_column(Element e, unsigned) { return e.x; }  // the one operand

// The slope of GELU in its tanh form, of x and the bias of its column.
double bias_gelu_back(Element e, Found) { return e.dy * gelu_slope(e.x + e.gamma); }
double bias_gelu_column(Element e, unsigned) { return bias_gelu_back(e, nullptr); }

const std::vector<RowFunction>& row_functions() {
  static const std::vector<RowFunction> kFunctions = {
      {"softmax", Phase::fwd, false, 1, 0, {{1, true}, {1}, {}}, softmax_partial, softmax_result},
      {"softmax", Phase::bwd, false, 2, 0, {{1}, {}}, softmax_back_partial, softmax_back},
      {"take_max", Phase::fwd, false, 1, 0, {{1, true}, {}}, take_max_partial, take_max_result},
      {"layernorm", Phase::fwd, true, 1, 2, {{2}, {}}, layernorm_partial, layernorm_result},
      {"layernorm",
       Phase::bwd,
       true,
       2,
       1,
       {{2}, {}},
       layernorm_back_partial,
       layernorm_back,
       2,
       layernorm_column,
       true},
      {"rmsnorm", Phase::fwd, true, 1, 1, {{1}, {}}, rmsnorm_partial, rmsnorm_result},
      {"rmsnorm",
       Phase::bwd,
       true,
       2,
       1,
       {{1}, {}},
       rmsnorm_back_partial,
       rmsnorm_back,
       1,
       rmsnorm_column,
       true},
      {"bias", Phase::bwd, true, 1, 0, {}, nullptr, nullptr, 1, gradient_column},
      {"bias_add", Phase::bwd, true, 1, 0, {}, nullptr, nullptr, 1, gradient_column},
      {"bias_gelu",
       Phase::bwd,
       true,
       2,
       1,
       {RowStage{}},
       nullptr,
       bias_gelu_back,
       1,
       bias_gelu_column},
  };
  return kFunctions;
}

}  // namespace

const RowFunction* find_row_function(const LayerOp& op) {
  const std::string& name = op.op == "eltwise" ? op.fn : op.op;
  // A row of the update phase has no meaning of its own here.
  const Phase phase = op.phase == Phase::bwd ? Phase::bwd : Phase::fwd;
  for (const RowFunction& f : row_functions()) {
    if (name == f.op && phase == f.phase) return &f;
  }
  return nullptr;
}

}  // namespace lacuna
