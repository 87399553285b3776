// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/training.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/base/error.hpp"
#include "sim/driver/system/fit.hpp"

namespace lacuna {

TrainingResult run_training(const TrainingJob& job) {
  if (job.training.rows.value().empty()) {
    const std::string why = misfit(account_training(job));
    if (!why.empty()) {
      throw OutOfMemoryError(fmt::format("{}: {}; {}", job.system.name, why, nearest_fit(job)));
    }
  }
  return simulate_training(job);
}

}  // namespace lacuna
