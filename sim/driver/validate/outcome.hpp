// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/error.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Gives a point the value that `measure` returns, or the reason why it has none.
template <class Measure>
void measure_into(ValidationOutcome& outcome, const Measure& measure) {
  try {
    outcome.simulated = measure();
    outcome.status = Status::ok;
    outcome.reason.clear();
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

}  // namespace lacuna
