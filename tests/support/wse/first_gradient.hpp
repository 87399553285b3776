// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "workloads/mapping/wse/gradient.hpp"

namespace lacuna::test {

/// The first part of a gradient.
inline wse::GradientPlan plan_gradient(const wse::GradientJob& job,
                                       const wse::StreamingSetup& setup) {
  std::optional<wse::GradientPlan> first;
  wse::plan_gradient_parts(job, setup, [&](const wse::GradientPlan& part) {
    if (!first) first = part;
  });
  return *std::move(first);
}

}  // namespace lacuna::test
