// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Gives each point that is unsupported so far the value that `measure(point, outcome)` returns, or
/// the reason why it has none. `measure` returns nothing of what is not its to measure, or of which
/// it says itself why not.
template <class Measure>
void measure_each(const std::vector<ValidationPoint>& points,
                  std::vector<ValidationOutcome>& outcomes, const Measure& measure) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    ValidationOutcome& outcome = outcomes[i];
    if (outcome.status != Status::unsupported) continue;
    try {
      const std::optional<double> value = measure(points[i], outcome);
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
