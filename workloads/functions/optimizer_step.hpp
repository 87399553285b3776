// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace lacuna {

/// Constants of the first step of a training run, with which optimizers are checked.
struct OptimizerStep {
  static constexpr double kRate = 0.125;
  static constexpr double kDecay = 0.0625;  // of weights
  static constexpr double kFirst = 0.875;   // moment kept
  static constexpr double kSecond = 0.75;
  static constexpr double kEpsilon = 1e-3;

  double weight = 0;  // after the step, but for LAMB's trust ratio
  double first = 0;
  double second = 0;
  double update = 0;  // the direction
};

/// A parameter and its state after a step of sgd, sgdm, adam, adamw or lamb, in double precision.
inline OptimizerStep optimizer_step(const std::string& rule, double w, double g, double first,
                                    double second) {
  using Step = OptimizerStep;
  Step p{w, first, second, g};
  if (rule == "sgdm") p.update = p.first = Step::kFirst * first + g;
  if (rule == "adam" || rule == "adamw" || rule == "lamb") {
    p.first = Step::kFirst * first + (1 - Step::kFirst) * g;
    p.second = Step::kSecond * second + (1 - Step::kSecond) * g * g;
    p.update =
        p.first / (1 - Step::kFirst) / (std::sqrt(p.second / (1 - Step::kSecond)) + Step::kEpsilon);
    if (rule != "adam") p.update += Step::kDecay * w;
  }
  p.weight = w - Step::kRate * p.update;
  return p;
}

/// LAMB's ratio of the norms of weights and updates, of their squares.
inline double trust_ratio(double weights, double updates) {
  return weights > 0 && updates > 0 ? std::sqrt(weights / updates) : 1;
}

}  // namespace lacuna
