// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/system/job.hpp"

namespace lacuna {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 100000;
constexpr const char* kNotSaid = "none";

struct Assigned {
  std::string key;
  std::string value;
  std::string place;
};

/// Words that a point of a model may have beside those of models.
const std::vector<std::string>& shared_words() {
  static const std::vector<std::string> words = {"machine", "pattern", "density",
                                                 "block",   "seed",    "engine"};
  return words;
}

bool is_in(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Sets what a word says. False if there is no such word.
bool say(Options& options, const std::string& word, const std::string& value) {
  const std::map<std::string, std::optional<std::string> Options::*> texts = {
      {"model", &Options::model},
      {"context", &Options::context},
      {"prefill", &Options::prefill},
      {"chunk", &Options::chunk},
      {"kv_in", &Options::kv_in},
      {"kv_out", &Options::kv_out},
      {"streams", &Options::streams},
      {"requests", &Options::requests},
      {"batch", &Options::batch},
      {"layers", &Options::layers},
      {"blocks", &Options::blocks},
      {"experts", &Options::experts},
      {"block_cores", &Options::block_cores},
      {"window", &Options::window},
      {"kept", &Options::kept},
      {"density", &Options::density},
      {"block", &Options::block},
      {"seed", &Options::seed},
      {"engine", &Options::engine}};
  const std::map<std::string, std::vector<std::string> Options::*> lists = {
      {"weights", &Options::weights},
      {"activations", &Options::activations},
      {"pattern", &Options::patterns}};
  if (word == "decode") {
    options.decode = check_word("decode", value, {"true", "false"}) == "true";
  } else if (const auto text = texts.find(word); text != texts.end()) {
    if (value != kNotSaid) options.*text->second = value;
  } else if (const auto list = lists.find(word); list != lists.end()) {
    std::istringstream in(value);
    std::vector<std::string>& words = options.*list->second;
    for (std::string each; in >> each;) {
      if (each != kNotSaid) words.push_back(each);
    }
  } else {
    return false;
  }
  return true;
}

class Planner {
 public:
  Planner(const SweepFile& file, const Options& options, const MachineTable& kinds)
      : file_(file), options_(options), kinds_(kinds) {}

  ModelSweep plan() {
    sweep_.name = fs::path(file_.path).stem().string();
    for (const SweepAxis& axis : file_.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        if (axis.steps.size() > 1) sweep_.axes.push_back(axis.keys[i]);
        unused_.emplace(axis.keys[i], axis.places[i]);
        const bool twice = (axis.keys[i] == "seed" && options_.seed) ||
                           (axis.keys[i] == "engine" && options_.engine);
        if (!twice) continue;
        throw RequestError(fmt::format("--{}: is given in {} too", axis.keys[i], axis.places[i]));
      }
    }
    std::vector<std::size_t> step(file_.axes.size(), 0);
    do {
      add_point(assignment(step));
      if (sweep_.points.size() > kMostPoints) {
        throw RequestError(fmt::format("{}: more than {} points", file_.path, kMostPoints));
      }
    } while (advance(step));
    if (sweep_.points.empty()) {
      throw RequestError(fmt::format("{}: no combination meets the conditions", file_.path));
    }
    for (const auto& [key, place] : unused_) refuse_unused(key, place);
    for (const std::string& text : options_.settings) {
      if (used_settings_.count(text) == 0) refuse_unused(parse_setting(text).path, "--set");
    }
    return std::move(sweep_);
  }

 private:
  bool advance(std::vector<std::size_t>& step) const {
    for (std::size_t i = step.size(); i-- > 0;) {
      if (++step[i] < file_.axes[i].steps.size()) return true;
      step[i] = 0;
    }
    return false;
  }

  std::vector<Assigned> assignment(const std::vector<std::size_t>& step) const {
    std::vector<Assigned> assigned;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const SweepAxis& axis = file_.axes[i];
      for (std::size_t j = 0; j < axis.keys.size(); ++j) {
        assigned.push_back({axis.keys[j], axis.steps[step[i]][j], axis.places[j]});
      }
    }
    return assigned;
  }

  bool wanted(const std::vector<Assigned>& assigned) const {
    return std::all_of(file_.where.begin(), file_.where.end(), [&](const SweepCondition& where) {
      return where.holds([&](const std::string& name) -> std::optional<std::string> {
        const auto found = std::find_if(assigned.begin(), assigned.end(),
                                        [&](const Assigned& each) { return each.key == name; });
        return found == assigned.end() ? std::nullopt : std::optional(found->value);
      });
    });
  }

  void add_point(const std::vector<Assigned>& assigned) {
    if (!wanted(assigned)) return;
    ModelPoint point;
    point.options = options_;
    point.options.verb = "run";
    point.options.settings.clear();
    for (const Assigned& each : assigned) {
      if (each.key == "machine") point.machine = each.value;
    }
    if (point.machine.empty()) {
      throw RequestError(
          fmt::format("{}: machine: give a wafer, an IPU or a system of IPUs, such as wse3 or "
                      "pod16",
                      file_.path));
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
    const std::size_t colon = each.key.find(':');
    const std::string key = colon == std::string::npos ? each.key : each.key.substr(colon + 1);
    if (colon != std::string::npos && each.key.substr(0, colon) != point.machine) return;
    if (key == "machine") {
      taken[each.key] = each.value;
      return;
    }
    if (is_in(model_words(), key) || is_in(shared_words(), key)) {
      const bool path = key == "model" || key == "requests";
      say(point.options, key, path ? located(each.value) : each.value);
    } else if (has(point.machine, key)) {
      point.options.settings.push_back(fmt::format("{}={}", key, each.value));
    } else {
      return;
    }
    unused_.erase(each.key);
    taken[each.key] = each.value;
  }

  /// A file as it is named, or if there is none, beside the experiment file.
  std::string located(const std::string& name) const {
    std::error_code ignored;
    const fs::path beside = fs::path(file_.path).parent_path() / name;
    return !fs::exists(name, ignored) && fs::is_regular_file(beside, ignored) ? beside.string()
                                                                              : name;
  }

  void check(const ModelPoint& point, const std::vector<Assigned>& assigned) const {
    try {
      read_model_request(point.options, kinds_);
    } catch (const RequestError& error) {
      std::string where;
      for (const Assigned& each : assigned) {
        if (!is_in(sweep_.axes, each.key)) continue;
        where += fmt::format("{}{} = {}", where.empty() ? "at " : ", ", each.key, each.value);
      }
      throw RequestError(
          fmt::format("{}: {}{}{}", file_.path, where, where.empty() ? "" : ": ", error.what()));
    }
  }

  /// Whether a machine or system has a parameter.
  bool has(const std::string& machine, const std::string& path) {
    const std::string known = machine + '\n' + path;
    const auto found = has_.find(known);
    if (found != has_.end()) return found->second;
    constexpr const char* kInference = "inference.";
    constexpr const char* kChip = "chip.";
    const auto rest = [&](const char* prefix) { return path.substr(std::string(prefix).size()); };
    const auto chip_has = [&](const std::string& chip, const std::string& name) {
      return make_machine(kinds_, chip)->parameters().find(name) != nullptr;
    };
    bool is = false;
    const bool system = is_system(machine);
    if (path.rfind(kInference, 0) == 0) {
      const bool wafer = !system && std::string(make_machine(kinds_, machine)->kind()) == "wse";
      is = system::InferenceParams().find(rest(kInference)) != nullptr &&
           (!wafer || rest(kInference) == "context_step");
    } else if (system) {
      const system::SystemParams params = make_system(machine, {}).params;
      is = path.rfind(kChip, 0) == 0 ? chip_has(params.chip, rest(kChip))
                                     : params.find(path) != nullptr;
    } else {
      is = chip_has(machine, path);
    }
    return has_[known] = is;
  }

  [[noreturn]] static void refuse_unused(const std::string& key, const std::string& place) {
    std::vector<std::string> known = model_words();
    known.insert(known.end(), shared_words().begin(), shared_words().end());
    if (is_in(sweep_words(), key) && !is_in(known, key)) {
      throw RequestError(fmt::format("{}: '{}' does not go with model", place, key));
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

void refuse_model_words(const SweepFile& file, const Options& options) {
  if (options.cache) throw RequestError("--cache: is for experiments with the word model");
  for (const SweepAxis& axis : file.axes) {
    for (std::size_t i = 0; i < axis.keys.size(); ++i) {
      const std::string& key = axis.keys[i];
      const std::size_t colon = key.find(':');
      const std::string word = colon == std::string::npos ? key : key.substr(colon + 1);
      if (word == "model") {
        throw RequestError(
            fmt::format("{}: experiments of a model have no operations; lacuna sweep "
                        "and lacuna search run them",
                        axis.places[i]));
      }
      if (!is_in(model_words(), word)) continue;
      throw RequestError(fmt::format("{}: '{}' needs the word model", axis.places[i], key));
    }
  }
}

ModelSweep plan_model_sweep(const SweepFile& file, const Options& options,
                            const MachineTable& kinds) {
  return Planner(file, options, kinds).plan();
}

}  // namespace lacuna
