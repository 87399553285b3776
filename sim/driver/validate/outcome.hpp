// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Gives each point that is unsupported so far the value that `simulate(point, outcome)` returns,
/// or the reason why it has none. `simulate` returns nothing for a point of another kind, or where
/// it gives a reason of its own.
template <class Simulate>
void simulate_points(const ValidationPoints& points, Outcomes& outcomes, const Simulate& simulate) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    ValidationOutcome& outcome = outcomes[i];
    if (outcome.status != Status::unsupported) continue;
    try {
      const std::optional<double> value = simulate(points[i], outcome);
      if (!value) continue;
      outcome.simulated = value;
      outcome.status = Status::ok;
      outcome.reason.clear();
    } catch (const Unsupported& unsupported) {
      if (!unsupported.reason.empty()) outcome.reason = unsupported.reason;
    } catch (const OutOfMemoryError& error) {
      outcome.status = Status::out_of_memory;
      outcome.reason = error.what();
    } catch (const UnsupportedError& error) {
      outcome.reason = error.what();
    } catch (const SimulationError& error) {
      outcome.status = Status::failed;
      outcome.reason = error.what();
    }
  }
}

}  // namespace lacuna
