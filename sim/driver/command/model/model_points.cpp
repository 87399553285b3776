// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/sweep/combinations.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 100000;
constexpr const char* kNotSaid = "none";

/// Of words that a point of a model may have.
bool is_word(const std::string& key) {
  const OptionDeclaration* const option = find_option(key);
  return option != nullptr && option->is(OptionDeclaration::word) &&
         (option->requests & kOfModel) != 0;
}

/// A word of which `none` says nothing.
void say(Options& options, const std::string& word, const std::string& value) {
  if (value != kNotSaid) say_word(options, word, value);
}

class Planner {
 public:
  Planner(const SweepFile& file, const Options& options, const MachineTable& kinds)
      : file_(file), options_(options), kinds_(kinds) {}

  ModelSweep plan() {
    sweep_.name = fs::path(file_.path).stem().string();
    sweep_.axes = varying_axes(file_);
    refuse_said_twice(file_, options_);
    for (const SweepAxis& axis : file_.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        unused_.emplace(axis.keys[i], axis.places[i]);
      }
    }
    for_each_combination(file_, kMostPoints,
                         [&](const Assignment& assigned) { add_point(assigned); });
    for (const auto& [key, place] : unused_) refuse_unused(key, place);
    for (const std::string& text : options_.settings) {
      if (used_settings_.count(text) == 0) refuse_unused(parse_setting(text).path, "--set");
    }
    return std::move(sweep_);
  }

 private:
  void add_point(const Assignment& assigned) {
    ModelPoint point;
    point.options = options_;
    point.options.verb = "run";
    point.options.settings.clear();
    for (const Assigned& each : assigned) {
      if (each.key == "machine") point.machine = each.value;
    }
    if (point.machine.empty()) {
      throw refused(
          "{}: machine: give a wafer, an IPU or a system of IPUs, such as wse3 or "
          "pod16",
          file_.path);
    }
    point.options.machines = {point.machine};
    unused_.erase("machine");
    std::map<std::string, std::string> taken;
    for (const std::string& text : options_.settings) {
      if (!has(point.machine, parse_setting(text).path)) continue;
      point.options.settings.push_back(text);
      used_settings_.insert(text);
    }
    for (const Assigned& each : assigned) take(each, point, taken);
    for (const std::string& axis : sweep_.axes) {
      const auto found = taken.find(axis);
      point.varying.push_back(found == taken.end() ? "" : found->second);
    }
    check(point, assigned);
    std::string same = point.machine;
    for (const auto& [key, value] : taken) same += fmt::format("\n{}={}", key, value);
    if (known_.insert(same).second) sweep_.points.push_back(std::move(point));
  }

  /// A word or parameter of a point, if it is for its machine.
  void take(const Assigned& each, ModelPoint& point, std::map<std::string, std::string>& taken) {
    const std::string key = bare_key(each.key);
    if (!is_key_of(point.machine, each.key)) return;
    if (key == "machine") {
      // it is the point's already
    } else if (is_word(key)) {
      const bool path = key == "model" || key == "requests";
      say(point.options, key, path ? located(each.value, file_) : each.value);
    } else if (has(point.machine, key)) {
      point.options.settings.push_back(fmt::format("{}={}", key, each.value));
    } else {
      return;
    }
    unused_.erase(each.key);
    taken[each.key] = each.value;
  }

  void check(const ModelPoint& point, const Assignment& assigned) const {
    try {
      read_model_request(point.options, kinds_);
    } catch (const RequestError& error) {
      throw RequestError(where_in(file_, assigned) + error.what());
    }
  }

  /// Whether a machine or system has a parameter.
  bool has(const std::string& machine, const std::string& path) {
    const auto [known, is_new] = has_.try_emplace(machine + '\n' + path);
    if (is_new) known->second = look_up(machine, path);
    return known->second;
  }

  bool look_up(const std::string& machine, const std::string& path) const {
    constexpr const char* kInference = "inference.";
    const auto chip_has = [&](const std::string& chip, const std::string& name) {
      return make_machine(kinds_, chip)->parameters().find(name) != nullptr;
    };
    const bool system = is_system(machine);
    if (starts_with(path, kInference)) {
      const std::string word = path.substr(std::strlen(kInference));
      const bool wafer = !system && std::string(make_machine(kinds_, machine)->kind()) == "wse";
      return system::InferenceParams().find(word) != nullptr && (!wafer || word == "context_step");
    }
    if (!system) return chip_has(machine, path);
    const system::SystemParams params = make_system(machine, {}).params;
    return starts_with(path, kChipPrefix)
               ? chip_has(params.chip, path.substr(std::strlen(kChipPrefix)))
               : params.find(path) != nullptr;
  }

  [[noreturn]] static void refuse_unused(const std::string& key, const std::string& place) {
    std::vector<std::string> known = experiment_words(kOfModel);
    if (contains(experiment_words(kOfRows), key) && !is_word(key)) {
      throw refused("{}: '{}' does not go with model", place, key);
    }
    throw ParameterError(fmt::format("{}: no machine of this experiment has '{}'{}", place, key,
                                     hint_of(key, known)));
  }

  const SweepFile& file_;
  const Options& options_;
  const MachineTable& kinds_;
  ModelSweep sweep_;
  std::map<std::string, std::string> unused_;  // with their places
  std::set<std::string> used_settings_;
  std::map<std::string, bool> has_;
  std::set<std::string> known_;
};

}  // namespace

std::string ModelSweep::name_of(std::size_t point) const {
  std::string text = points[point].machine;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != "machine") text += fmt::format(", {}={}", axes[i], points[point].varying[i]);
  }
  return text;
}

void refuse_model_words(const SweepFile& file, const Options& options) {
  if (options.cache) throw RequestError("--cache: is for experiments with the word model");
  for (const SweepAxis& axis : file.axes) {
    for (std::size_t i = 0; i < axis.keys.size(); ++i) {
      const std::string& key = axis.keys[i];
      const std::string word = bare_key(key);
      if (word == "model") {
        throw refused(
            "{}: experiments of a model have no operations; lacuna sweep "
            "and lacuna search run them",
            axis.places[i]);
      }
      if (!contains(experiment_words(kOfModel), word)) continue;
      throw refused("{}: '{}' needs the word model", axis.places[i], key);
    }
  }
}

ModelSweep plan_model_sweep(const SweepFile& file, const Options& options,
                            const MachineTable& kinds) {
  return Planner(file, options, kinds).plan();
}

}  // namespace lacuna
