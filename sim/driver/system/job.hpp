// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/system_chips.hpp"
#include "sim/driver/system/times.hpp"
#include "workloads/mapping/system/training_program.hpp"

namespace lacuna {

/// Before the path of a trace in TrainingParams::rows.
inline constexpr const char* kRowsOfFile = "file:";

/// A training step as a file describes it; `settings` beginning with "training." go over it.
system::TrainingParams read_training(const std::string& file,
                                     const std::vector<std::string>& settings);

/// Takes those of `settings` that begin with training., and checks.
void set_training(system::TrainingParams& training, const std::vector<std::string>& settings);

/// The shipped descriptions of training steps, sorted by name.
std::vector<std::string> shipped_trainings();

/// The layers of the model that is trained.
unsigned layers_of(const system::TrainingParams& training);

/// The rows of a weight update of the model on one chip, with so many of its layers; `recompute`:
/// with those that are done again before the backward pass.
WorkloadTrace model_trace(const system::TrainingParams& training, unsigned layers, bool recompute);

/// What one weight update came to.
struct TrainingResult : StepResult {
  std::vector<system::Stages> phases;
  system::ChipCosts costs;  // by chip of a replica
  double clock_ghz = 0;
  std::uint64_t parameters = 0;  // that are trained
};

/// What a system is to train, or which rows its chips are to run, and with what they are simulated
/// and priced: the same whatever joins the chips.
struct SystemJob {
  const MachineTable& kinds;
  const Pricing& pricing;
  ChipTimes& times;
  const system::TrainingParams& training;
  system::SystemExecution execution;
  std::uint64_t seed = 1;
};

/// A job on chips joined by links.
struct TrainingJob : SystemJob {
  TrainingJob(const SystemJob& job, const SystemMachine& machine)
      : SystemJob(job), system(machine) {}

  const SystemMachine& system;
};

/// Simulates the rows of the model on the chip and the step on the system, whether it fits or not.
TrainingResult simulate_training(const TrainingJob& job);

/// Its memory alone, without simulating anything.
TrainingResult account_training(const TrainingJob& job);

/// Why an account does not fit, with its bytes; empty if all do.
std::string misfit(const TrainingResult& result);

}  // namespace lacuna
