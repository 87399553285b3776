// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/systems.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/validate/outcome.hpp"

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

/// A system as published points name it: the chip, and how many.
struct Pod {
  std::string preset;  // without the number
  unsigned chips = 0;
};

/// "POD64-GC200" and "BowPod64"; other names are no pods.
std::optional<Pod> pod_of(const std::string& system) {
  const std::vector<std::array<std::string, 3>> forms = {{"POD", "-GC200", "pod"},
                                                         {"BowPod", "", "bow_pod"}};
  for (const auto& [begin, end, preset] : forms) {
    if (system.size() <= begin.size() + end.size() || !starts_with(system, begin)) continue;
    const std::string digits =
        system.substr(begin.size(), system.size() - begin.size() - end.size());
    const bool number = digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number || digits.size() > 5) continue;
    if (!ends_with(system, end)) continue;
    return Pod{preset, static_cast<unsigned>(std::stoul(digits))};
  }
  return std::nullopt;
}

/// How near a description is to a point: 0 is not at all. That of another number of the same chips
/// is farther than any of the same system, and the nearer the fewer times the chips.
double nearness(const TrainingParams& training, const ValidationPoint& point) {
  const std::string& ours = training.published_workload;
  if (model_words(ours) != model_words(point.workload)) return 0;
  const bool same_round = round_of(ours) == round_of(point.workload);
  if (training.published_system.value() == point.system) {
    if (ours == point.workload) return 4;
    if (same_round) return 3;
    return batch_of(ours) == batch_of(point.workload) ? 2 : 1;
  }
  const std::optional<Pod> there = pod_of(point.system);
  const std::optional<Pod> here = pod_of(training.published_system);
  if (!there || !here || there->preset != here->preset) return 0;
  const double times = std::abs(std::log2(static_cast<double>(there->chips) / here->chips));
  return (same_round ? 0.5 : 0.25) / (1 + times);
}

/// The description on the system of the point, with as many replicas as that has room for; nothing
/// if there is no such system or it has no room for one.
std::optional<TrainingParams> on_system(TrainingParams training, const ValidationPoint& point) {
  if (training.published_system.value() == point.system) return training;
  const Pod pod = pod_of(point.system).value();
  const std::string name = fmt::format("{}{}", pod.preset, pod.chips);
  const std::vector<std::string> names = system_names();
  const unsigned replica = training.tensor * training.pipeline;
  const bool known = contains(names, name);
  if (!known || pod.chips % replica != 0) return std::nullopt;
  training.set("system", name);
  const unsigned replicas = pod.chips / replica;
  if (training.rts_state == training.replicas) training.rts_state = replicas;
  if (training.rts == training.replicas) training.rts = replicas;
  training.replicas = replicas;
  return training;
}

/// The description with the batch of the point; nothing if no number of accumulations makes it.
std::optional<TrainingParams> with_batch(TrainingParams training, const ValidationPoint& point) {
  const std::optional<double> batch = batch_of(point.workload);
  const bool same = training.published_workload.value() == point.workload &&
                    training.published_system.value() == point.system;
  if (!batch || same) return training;
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
        settings_(for_systems(settings.settings)),
        engine_(settings.execution.engine) {
    for (const std::string& file : shipped_trainings()) {
      TrainingParams training = read_training(file, {});
      if (!training.published_system.value().empty()) trainings_.push_back(std::move(training));
    }
  }

  std::optional<double> simulate(const ValidationPoint& point, ValidationOutcome& outcome) {
    const std::vector<const TrainingParams*> near = layouts_for(point);
    if (near.empty()) {
      say_what_is_missing(point);
      return std::nullopt;
    }
    const TrainingParams& best = *near.front();
    const std::string rows = best.rows.value().substr(0, best.rows.value().find(' '));
    outcome.family =
        fmt::format("system {} {}", rows.empty() ? best.model.value() : rows, point.metric);
    std::optional<TrainingParams> training;
    bool has_room = false;
    for (std::size_t i = 0; i < near.size() && !training; ++i) {
      const std::optional<TrainingParams> there = on_system(*near[i], point);
      has_room = has_room || there;
      if (there) training = with_batch(*there, point);
    }
    if (!has_room) {
      throw Unsupported{
          fmt::format("no known layout of '{}' is for {}, or for so many of its chips",
                      model_words(point.workload), point.system)};
    }
    if (!training) {
      throw Unsupported{"no number of accumulations makes this batch with a known layout"};
    }
    if (point.metric == "time_to_train") {
      throw Unsupported{"the number of weight updates until the target is reached is not known"};
    }
    set_training(*training, settings_);
    const double seconds = step_seconds(*training) * training->updates_per_iteration;
    const double all = training->global_batch() * training->updates_per_iteration;
    const bool rate = point.metric == "training_rate" || point.metric == "throughput";
    return rate ? all / seconds : seconds / (point.unit == "ms" ? 1e-3 : 1);
  }

 private:
  /// Settings of systems and of trainings as they are; others are of the systems' chips.
  static std::vector<std::string> for_systems(const std::vector<std::string>& settings) {
    std::set<std::string> groups = {"training", "chip"};
    system::SystemParams().for_each([&](const std::string& path, const ParamBase& /*parameter*/) {
      groups.insert(path.substr(0, path.find('.')));
    });
    std::vector<std::string> all;
    for (const std::string& setting : settings) {
      const bool own = groups.count(setting.substr(0, setting.find_first_of(".="))) != 0;
      all.push_back(own ? setting : "chip." + setting);
    }
    return all;
  }

  /// The descriptions of the model of `point`, on systems of its chips, the nearest first.
  std::vector<const TrainingParams*> layouts_for(const ValidationPoint& point) const {
    std::vector<const TrainingParams*> near;
    for (const TrainingParams& training : trainings_) {
      if (nearness(training, point) > 0) near.push_back(&training);
    }
    sort_all(near, [&](const auto* a, const auto* b) {
      return nearness(*a, point) > nearness(*b, point);
    });
    return near;
  }

  /// Of a system that is known: it is the workload that is not.
  void say_what_is_missing(const ValidationPoint& point) const {
    const bool known = any_of(trainings_, [&](const TrainingParams& training) {
      return training.published_system.value() == point.system;
    });
    if (!known) return;
    throw Unsupported{fmt::format("no layout of '{}' on {} is shipped", model_words(point.workload),
                                  point.system)};
  }

  /// Points with different metrics of one run share it.
  double step_seconds(const TrainingParams& training) {
    const std::string key = settings_text(training);
    const auto known = seconds_.find(key);
    if (known != seconds_.end()) return known->second;
    const SystemMachine machine = make_system(training.system, settings_);
    system::SystemExecution execution;
    execution.engine = engine_;
    const double seconds =
        run_training({{table_, pricing_, times_, training, execution}, machine}).seconds();
    seconds_.emplace(key, seconds);
    return seconds;
  }

  const MachineTable& table_;
  Pricing pricing_;
  ChipTimes times_;
  std::vector<std::string> settings_;
  Engine engine_;
  std::vector<TrainingParams> trainings_;
  std::map<std::string, double> seconds_;
};

}  // namespace

void simulate_systems(const ValidationPoints& points, const MachineTable& table,
                      const ValidationRunSettings& settings, Outcomes& outcomes) {
  std::unique_ptr<SystemPoints> systems;  // made where there is something to run
  simulate_points(points, outcomes, [&](const ValidationPoint& point, ValidationOutcome& outcome) {
    const bool step = point.workload.find("GBS=") != std::string::npos ||
                      point.metric == "step_time" || point.metric == "time_to_train" ||
                      point.workload.find("BioKG") == 0;
    if (!step) return std::optional<double>();
    if (systems == nullptr) systems = std::make_unique<SystemPoints>(table, settings);
    return systems->simulate(point, outcome);
  });
}

}  // namespace lacuna
