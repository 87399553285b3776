// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostPoints = 1000000;

/// A word of the experiment with its value at one point.
struct Assigned {
  std::string key;
  std::string value;
  std::string place;
};

using Assignment = std::vector<Assigned>;

const Assigned* find(const Assignment& assignment, const std::string& key) {
  const auto found = std::find_if(assignment.begin(), assignment.end(),
                                  [&](const Assigned& each) { return each.key == key; });
  return found == assignment.end() ? nullptr : &*found;
}

bool is_word(const std::string& key) {
  const std::vector<std::string>& words = sweep_words();
  return std::find(words.begin(), words.end(), key) != words.end();
}

/// The member of the options that a word of an experiment sets; null if it sets none of them.
std::optional<std::string> Options::*option_of(const std::string& key) {
  const std::map<std::string, std::optional<std::string> Options::*> members = {
      {"trace", &Options::trace},
      {"gemm", &Options::gemm},
      {"matrix", &Options::matrix},
      {"n", &Options::n},
      {"density", &Options::density},
      {"block", &Options::block},
      {"nm", &Options::nm},
      {"mode", &Options::mode},
      {"residency", &Options::residency},
      {"layout", &Options::layout},
      {"x_pattern", &Options::x_pattern},
      {"x_density", &Options::x_density},
      {"dtype", &Options::dtype},
      {"partials", &Options::partials},
      {"seed", &Options::seed},
      {"engine", &Options::engine},
      {"fold", &Options::fold}};
  const auto found = members.find(key);
  return found == members.end() ? nullptr : found->second;
}

/// A file as it is named, or if there is none, beside the experiment file.
std::string located(const std::string& name, const std::string& experiment) {
  std::error_code ignored;
  const fs::path beside = fs::path(experiment).parent_path() / name;
  return !fs::exists(name, ignored) && fs::exists(beside, ignored) ? beside.string() : name;
}

class Planner {
 public:
  Planner(const SweepFile& file, const Options& options, const MachineTable& kinds)
      : file_(file), options_(options), kinds_(kinds) {}

  Sweep plan() {
    sweep_.name = fs::path(file_.path).stem().string();
    note_axes();
    check_not_given_twice();
    check_words_known();
    std::vector<std::size_t> step(file_.axes.size(), 0);
    std::size_t combinations = 0;
    do {
      if (++combinations > kMostPoints) {
        throw RequestError(fmt::format("{}: more than {} combinations", file_.path, kMostPoints));
      }
      add_point(assignment(step));
    } while (advance(step));
    if (sweep_.points.empty()) {
      throw RequestError(fmt::format("{}: no combination meets the conditions", file_.path));
    }
    check_parameters_used();
    check_folds();
    finish();
    return std::move(sweep_);
  }

 private:
  void note_axes() {
    for (const SweepAxis& axis : file_.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        std::vector<std::string> values;
        for (const std::vector<std::string>& each : axis.steps) {
          const bool layouts = axis.keys[i] == "layout";
          values.push_back(layouts ? content_of_layouts(word_or_file(each[i])) : each[i]);
        }
        sweep_.facts.emplace_back(axis.keys[i], fmt::format("{}", fmt::join(values, ", ")));
        if (axis.steps.size() > 1) sweep_.axes.push_back(axis.keys[i]);
        if (!is_word(axis.keys[i])) unused_.emplace(axis.keys[i], axis.places[i]);
        if (means_nothing_dense(axis.keys[i])) idle_.emplace(axis.keys[i], axis.places[i]);
      }
    }
    for (std::size_t i = 0; i < file_.where.size(); ++i) {
      sweep_.facts.emplace_back(fmt::format("where {}", i + 1), file_.where[i].text());
    }
    for (const std::string& text : options_.settings) {
      const Setting setting = parse_setting(text);
      sweep_.facts.emplace_back("--set " + setting.path, setting.value);
    }
  }

  void check_not_given_twice() const {
    for (const SweepAxis& axis : file_.axes) {
      const auto seed = std::find(axis.keys.begin(), axis.keys.end(), "seed");
      if (!options_.seeds || seed == axis.keys.end()) continue;
      throw RequestError("--seeds: the file has seeds of its own");
    }
    for (const std::string& text : options_.settings) {
      const std::string path = parse_setting(text).path;
      const auto twice = unused_.find(path);
      if (twice == unused_.end()) continue;
      throw RequestError(fmt::format("--set: '{}' is given in {} too", path, twice->second));
    }
    for (const auto& [key, given] :
         {std::pair("seed", options_.seed), std::pair("engine", options_.engine),
          std::pair("fold", options_.fold), std::pair("layout", options_.layout)}) {
      if (!given) continue;
      for (const SweepAxis& axis : file_.axes) {
        const auto twice = std::find(axis.keys.begin(), axis.keys.end(), key);
        if (twice == axis.keys.end()) continue;
        throw RequestError(
            fmt::format("--{}: is given in {} too", key,
                        axis.places[static_cast<std::size_t>(twice - axis.keys.begin())]));
      }
    }
  }

  /// The next combination, the last axis the fastest; false after the last.
  bool advance(std::vector<std::size_t>& step) const {
    for (std::size_t i = step.size(); i-- > 0;) {
      if (++step[i] < file_.axes[i].steps.size()) return true;
      step[i] = 0;
    }
    return false;
  }

  Assignment assignment(const std::vector<std::size_t>& step) const {
    Assignment assigned;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const SweepAxis& axis = file_.axes[i];
      for (std::size_t j = 0; j < axis.keys.size(); ++j) {
        assigned.push_back({axis.keys[j], axis.steps[step[i]][j], axis.places[j]});
      }
    }
    return assigned;
  }

  bool wanted(const Assignment& assigned) const {
    return std::all_of(file_.where.begin(), file_.where.end(), [&](const SweepCondition& where) {
      return where.holds([&](const std::string& name) -> std::optional<std::string> {
        const Assigned* const found = find(assigned, name);
        if (found == nullptr) return std::nullopt;
        return found->value;
      });
    });
  }

  void add_point(Assignment assigned) {
    if (!wanted(assigned)) return;
    settle_pattern(assigned);
    for (const Assigned& each : assigned) idle_.erase(each.key);
    const Machine* const machine = machine_of(assigned);
    std::string same = fmt::format("{}", fmt::ptr(machine));
    for (const Assigned& each : assigned) {
      if (is_word(each.key) && each.key != "machine") same += ' ' + each.key + '=' + each.value;
    }
    if (!known_.insert(same).second) return;
    Options options = options_;
    for (const Assigned& each : assigned) {
      if (const auto member = option_of(each.key)) options.*member = each.value;
      if (each.key == "with_dense") {
        sweep_.with_dense = check_word("with_dense", each.value, {"true", "false"}) == "true";
      }
    }
    if (const Assigned* const pattern = find(assigned, "pattern")) {
      options.patterns = {pattern->value};
    }
    std::vector<std::string> texts;
    for (const std::string& axis : sweep_.axes) {
      const Assigned* const each = find(assigned, axis);
      texts.push_back(each == nullptr ? "" : each->value);
    }
    Point point = make_point(options, assigned);
    point.machine = machine;
    const std::uint64_t seeds = depends_on_seed(point.workload) ? seed_count(options_) : 1;
    for (std::uint64_t s = 0; s < seeds; ++s) {
      point.run = sweep_.points.size();
      sweep_.points.push_back(point);
      sweep_.points.back().settings->seed += s;
      sweep_.axis_text.push_back(texts);
    }
  }

  Point make_point(Options& options, const Assignment& assigned) {
    try {
      if (options.trace) options.trace = located(*options.trace, file_.path);
      if (options.matrix) options.matrix = located(*options.matrix, file_.path);
      const std::vector<PatternChoice> choices = pattern_choices(options);
      Point point;
      std::vector<WorkloadTrace> settled{settle(workload_of(options), choices[0], options)};
      point.pattern = choices[0].label;
      // where the mode goes through all points, a dense one among them has none
      if (find(assigned, "pattern") == nullptr) settle_mode(settled, options);
      point.workload = std::move(settled[0]);
      point.settings = run_settings(options);
      return point;
    } catch (const RequestError& error) {
      throw RequestError(fmt::format("{}: {}{}", file_.path, where_in(assigned), error.what()));
    }
  }

  /// "at density = 0.1, block = 4: ", of what varies.
  std::string where_in(const Assignment& assigned) const {
    std::string text;
    for (const std::string& axis : sweep_.axes) {
      if (const Assigned* const each = find(assigned, axis)) {
        text += fmt::format("{}{} = {}", text.empty() ? "at " : ", ", axis, each->value);
      }
    }
    return text.empty() ? text : text + ": ";
  }

  /// Words that say nothing of a point with pattern dense.
  static bool means_nothing_dense(const std::string& key) {
    return key == "density" || key == "block" || key == "nm" || key == "mode";
  }

  static void settle_pattern(Assignment& assigned) {
    const auto pattern = std::find_if(assigned.begin(), assigned.end(),
                                      [](const Assigned& each) { return each.key == "pattern"; });
    if (pattern == assigned.end()) return;
    const Assigned* const block = find(assigned, "block");
    const bool blocks = block != nullptr && block->value != "1";
    if (pattern->value == "unstructured" && blocks) pattern->value = "block";
    const bool is_dense = pattern->value == "dense";
    if (!is_dense) return;
    const auto means_nothing = [](const Assigned& each) { return means_nothing_dense(each.key); };
    assigned.erase(std::remove_if(assigned.begin(), assigned.end(), means_nothing), assigned.end());
  }

  const WorkloadTrace& workload_of(const Options& options) {
    const std::string key =
        fmt::format("{}|{}|{}|{}", options.trace.value_or(""), options.gemm.value_or(""),
                    options.matrix.value_or(""), options.n.value_or(""));
    const auto [found, is_new] = workloads_.try_emplace(key);
    if (is_new) {
      found->second = load_workload(options);
      sweep_.workloads.push_back(found->second);
    }
    return found->second;
  }

  /// The machine of a point, made once for each set of parameters. What it does not have is taken
  /// out of the assignment.
  const Machine* machine_of(Assignment& assigned) {
    const Assigned* const given = find(assigned, "machine");
    const std::string name = given == nullptr ? "bow" : given->value;
    const Machine& plain = plain_machine(name);
    std::vector<Setting> settings;
    const auto has_not = [&](const Assigned& each) {
      if (is_word(each.key)) return false;
      if (!has(plain, each.key)) return true;
      unused_.erase(each.key);
      settings.push_back({path_of(each.key), each.value, each.place});
      return false;
    };
    assigned.erase(std::remove_if(assigned.begin(), assigned.end(), has_not), assigned.end());
    const Assigned* const layout = find(assigned, "layout");
    const std::optional<std::string> wanted =
        layout == nullptr ? options_.layout : std::optional(word_or_file(layout->value));
    std::string key = name + '\n' + wanted.value_or("planned");
    for (const Setting& setting : settings) key += '\n' + setting.path + '=' + setting.value;
    const auto [found, is_new] = made_.try_emplace(key, nullptr);
    if (is_new) found->second = make(name, settings, wanted);
    return found->second;
  }

  /// The machine of a name, as it is without this file.
  const Machine& plain_machine(const std::string& name) {
    std::unique_ptr<Machine>& plain = plain_[name];
    if (plain == nullptr) plain = make_machine(kinds_, word_or_file(name));
    return *plain;
  }

  /// A key without the machine that it is for.
  static std::string path_of(const std::string& key) { return key.substr(key.find(':') + 1); }

  static bool has(const Machine& machine, const std::string& key) {
    const std::size_t colon = key.find(':');
    const bool meant = colon == std::string::npos || key.substr(0, colon) == machine.name();
    return meant && find_parameter(machine, path_of(key)) != nullptr;
  }

  /// Refuses words that no machine of the file has, before what follows from their absence.
  void check_words_known() {
    for (const SweepAxis& axis : file_.axes) {
      for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        if (axis.keys[i] != "machine") continue;
        for (const std::vector<std::string>& values : axis.steps) plain_machine(values[i]);
      }
    }
    if (plain_.empty()) plain_machine("bow");
    for (const auto& [key, place] : unused_) {
      const bool known = std::any_of(plain_.begin(), plain_.end(), [&word = key](const auto& each) {
        return has(*each.second, word);
      });
      if (!known) refuse_parameter(place, key);
    }
  }

  [[noreturn]] void refuse_parameter(const std::string& place, const std::string& path) const {
    std::vector<std::string> known = sweep_words();
    for (const auto& [name, machine] : plain_) {
      for_each_parameter(*machine,
                         [&](const std::string& each, const ParamBase&) { known.push_back(each); });
    }
    if (std::count(known.begin(), known.end(), path_of(path)) != 0) {
      throw ParameterError(fmt::format(
          "{}: '{}' acts on no point: none is left of the machines that have it", place, path));
    }
    throw ParameterError(fmt::format("{}: no machine of this experiment has a parameter '{}'{}",
                                     place, path, hint_of(path, known)));
  }

  /// A word, such as the name of a machine, or a file: that has a '/' or an extension.
  std::string word_or_file(const std::string& name) const {
    return name.find('/') == std::string::npos && fs::path(name).extension().empty()
               ? name
               : located(name, file_.path);
  }

  const Machine* make(const std::string& name, const std::vector<Setting>& settings,
                      const std::optional<std::string>& layout) {
    // --set is for all machines of the experiment that have it
    // a copy where there can be one: a preset is not read again for each of thousands of points
    std::unique_ptr<Machine> machine = plain_machine(name).clone();
    if (machine == nullptr) machine = make_machine(kinds_, word_or_file(name));
    std::map<std::string, std::string> said;  // where, of each path
    const auto set_once = [&](const std::string& path, const Setting& setting) {
      const auto [first, is_new] = said.try_emplace(path, setting.origin);
      if (!is_new) {
        throw ParameterError(fmt::format("{}: '{}' is given twice for {}; first in {}",
                                         setting.origin, path, name, first->second));
      }
      machine->set(path, setting.value, setting.origin);
    };
    for (const std::string& text : options_.settings) {
      const Setting setting = parse_setting(text);
      if (!has(*machine, setting.path)) continue;
      set_once(path_of(setting.path), setting);
      used_options_.insert(text);
    }
    for (const Setting& setting : settings) set_once(setting.path, setting);
    machine->check();
    sweep_.machines.push_back(
        with_layouts(std::move(machine), layout_request(layout, options_.no_cache)));
    return sweep_.machines.back().get();
  }

  void check_parameters_used() const {
    for (const auto& [path, place] : unused_) refuse_parameter(place, path);
    for (const auto& [word, place] : idle_) {
      throw RequestError(fmt::format(
          "{}: '{}' acts on no point: those there are of pattern dense, which takes none", place,
          word));
    }
    for (const std::string& text : options_.settings) {
      if (used_options_.count(text) == 0) refuse_parameter("--set", parse_setting(text).path);
    }
  }

  /// Points that differ in `fold` alone are one point without a wafer.
  void check_folds() const {
    if (can_fold(sweep_.machines)) return;
    for (const SweepAxis& axis : file_.axes) {
      const auto key = std::find(axis.keys.begin(), axis.keys.end(), "fold");
      if (key == axis.keys.end()) continue;
      throw RequestError(
          fmt::format("{}: 'fold' acts on wafers alone, and no machine here is one",
                      axis.places[static_cast<std::size_t>(key - axis.keys.begin())]));
    }
  }

  /// Columns for what varies and has none of its own, and the dense partners.
  void finish() {
    const std::vector<std::string>& own = summary_columns();
    const std::set<std::string> covered = {"trace", "gemm", "matrix", "nm"};
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < sweep_.axes.size(); ++i) {
      const std::string& axis = sweep_.axes[i];
      if (covered.count(axis) != 0 || std::find(own.begin(), own.end(), axis) != own.end())
        continue;
      shown.push_back(i);
    }
    for (Point& point : sweep_.points) {
      for (const std::size_t i : shown) {
        point.varying.push_back(sweep_.axes[i]);
        point.values.push_back(sweep_.axis_text[point.run][i]);
      }
    }
    sweep_.asked = sweep_.points.size();
    sweep_.with_dense = sweep_.with_dense || options_.with_dense;
    if (!sweep_.with_dense) return;
    for (Point& dense : missing_dense_points(sweep_.points)) {
      sweep_.points.push_back(std::move(dense));
    }
  }

  const SweepFile& file_;
  const Options& options_;
  const MachineTable& kinds_;
  Sweep sweep_;
  std::map<std::string, std::string> unused_;              // parameters, with their places
  std::map<std::string, std::string> idle_;                // words that no point has yet, the same
  std::set<std::string> used_options_;                     // of --set
  std::map<std::string, std::unique_ptr<Machine>> plain_;  // by name, as the preset has it
  std::map<std::string, const Machine*> made_;             // by name and parameters
  std::map<std::string, WorkloadTrace> workloads_;
  std::set<std::string> known_;  // points, to find equal ones
};

}  // namespace

Sweep plan_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds) {
  return Planner(file, options, kinds).plan();
}

}  // namespace lacuna
