// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate_systems.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/driver/locations.hpp"
#include "sim/driver/system_job.hpp"

namespace lacuna {

using system::TrainingParams;

namespace {

/// What is left of "MODEL ... GBS=N (round)" before the batch.
std::string model_words(const std::string& workload) {
  std::string text = workload.substr(0, workload.find(" GBS="));
  return text.substr(0, text.find(" ("));
}

std::optional<double> batch_of(const std::string& workload) {
  const std::size_t at = workload.find("GBS=");
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(workload.c_str() + at + 4, nullptr);
}

std::string round_of(const std::string& workload) {
  const std::size_t at = workload.rfind('(');
  return at == std::string::npos ? "" : workload.substr(at);
}

/// How near a description is to a point: 0 is not at all.
int nearness(const TrainingParams& training, const ValidationPoint& point) {
  if (training.published_system.value() != point.system) return 0;
  const std::string& ours = training.published_workload;
  if (ours == point.workload) return 4;
  if (model_words(ours) != model_words(point.workload)) return 0;
  if (round_of(ours) == round_of(point.workload)) return 3;
  return batch_of(ours) == batch_of(point.workload) ? 2 : 1;
}

/// The description with the batch of the point; nothing if no number of accumulations makes it.
std::optional<TrainingParams> with_batch(TrainingParams training, const ValidationPoint& point) {
  const std::optional<double> batch = batch_of(point.workload);
  if (!batch || training.published_workload.value() == point.workload) return training;
  const double rest = training.global_batch() / training.accumulation;
  const double accumulation = std::round(*batch / rest / training.updates_per_iteration);
  const double made = accumulation * rest * training.updates_per_iteration;
  if (accumulation < 1 || std::abs(made - *batch) > 0.5) return std::nullopt;
  training.accumulation = static_cast<unsigned>(accumulation);
  return training;
}

class SystemPoints {
 public:
  SystemPoints(const MachineTable& table, const ValidationRunSettings& settings)
      : table_(table),
        pricing_(config_folder()),
        times_(pricing_, settings.seed, settings.execution.engine),
        engine_(settings.execution.engine) {
    for (const std::string& file : shipped_trainings()) {
      TrainingParams training = read_training(file, {});
      if (!training.published_system.value().empty()) trainings_.push_back(std::move(training));
    }
  }

  void measure(const ValidationPoint& point, ValidationOutcome& outcome) {
    const TrainingParams* best = nullptr;
    for (const TrainingParams& training : trainings_) {
      const int near = nearness(training, point);
      if (near > (best == nullptr ? 0 : nearness(*best, point))) best = &training;
    }
    if (best == nullptr) {
      say_what_is_missing(point, outcome);
      return;
    }
    const std::string rows = best->rows.value().substr(0, best->rows.value().find(' '));
    outcome.family =
        fmt::format("system {} {}", rows.empty() ? best->model.value() : rows, point.metric);
    const std::optional<TrainingParams> training = with_batch(*best, point);
    if (!training) {
      outcome.reason = "no number of accumulations makes this batch with the known layout";
    } else if (point.metric == "time_to_train") {
      outcome.reason = "the number of weight updates until the target is reached is not known";
    } else {
      run(*training, point, outcome);
    }
  }

 private:
  /// Of a system that is known: it is the workload that is not.
  void say_what_is_missing(const ValidationPoint& point, ValidationOutcome& outcome) const {
    for (const TrainingParams& training : trainings_) {
      if (training.published_system.value() != point.system) continue;
      outcome.reason = fmt::format("no layout of '{}' on {} is shipped",
                                   model_words(point.workload), point.system);
      return;
    }
  }

  void run(const TrainingParams& training, const ValidationPoint& point,
           ValidationOutcome& outcome) {
    try {
      const double seconds = step_seconds(training) * training.updates_per_iteration;
      const double all = training.global_batch() * training.updates_per_iteration;
      const bool rate = point.metric == "training_rate" || point.metric == "throughput";
      if (rate) {
        outcome.simulated = all / seconds;
      } else {
        outcome.simulated = seconds / (point.unit == "ms" ? 1e-3 : 1);
      }
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

  /// Points with different metrics of one run share it.
  double step_seconds(const TrainingParams& training) {
    std::string key;
    training.for_each([&](const std::string& path, const ParamBase& parameter) {
      key += path + "=" + parameter.value_text() + "\n";
    });
    const auto known = seconds_.find(key);
    if (known != seconds_.end()) return known->second;
    const SystemMachine machine = make_system(training.system, {});
    system::SystemExecution execution;
    execution.engine = engine_;
    const double seconds =
        run_training({table_, pricing_, times_, machine, training, execution, true}).seconds();
    seconds_.emplace(key, seconds);
    return seconds;
  }

  const MachineTable& table_;
  Pricing pricing_;
  ChipTimes times_;
  Engine engine_;
  std::vector<TrainingParams> trainings_;
  std::map<std::string, double> seconds_;
};

}  // namespace

void measure_systems(const std::vector<ValidationPoint>& points, const MachineTable& table,
                     const ValidationRunSettings& settings,
                     std::vector<ValidationOutcome>& outcomes) {
  std::unique_ptr<SystemPoints> systems;  // made where there is something to run
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool step = points[i].workload.find("GBS=") != std::string::npos ||
                      points[i].metric == "step_time" || points[i].metric == "time_to_train" ||
                      points[i].workload.find("BioKG") == 0;
    if (outcomes[i].status != Status::unsupported || !step) continue;
    if (systems == nullptr) systems = std::make_unique<SystemPoints>(table, settings);
    systems->measure(points[i], outcomes[i]);
  }
}

}  // namespace lacuna
