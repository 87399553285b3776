// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/sweep/combinations.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostPoints = 1000000;

bool is_word(const std::string& key) {
  const OptionDeclaration* const option = find_option(key);
  return option != nullptr && option->is(OptionDeclaration::word) &&
         (option->requests & kOfRows) != 0;
}

class Planner {
 public:
  Planner(const SweepFile& file, const Options& options, const MachineTable& kinds)
      : file_(file), options_(options), kinds_(kinds) {}

  Sweep plan() {
    sweep_.name = fs::path(file_.path).stem().string();
    sweep_.axes = varying_axes(file_);
    note_axes();
    check_not_given_twice();
    check_words_known();
    for_each_combination(file_, kMostPoints,
                         [&](Assignment assigned) { add_point(std::move(assigned)); });
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
      throw refused("--set: '{}' is given in {} too", path, twice->second);
    }
    refuse_said_twice(file_, options_);
  }

  void add_point(Assignment assigned) {
    settle_pattern(assigned);
    for (const Assigned& each : assigned) idle_.erase(each.key);
    const Machine* const machine = machine_of(assigned);
    std::string same = fmt::format("{}", fmt::ptr(machine));
    for (const Assigned& each : assigned) {
      if (is_word(each.key) && each.key != "machine") same += ' ' + each.key + '=' + each.value;
    }
    if (!known_.insert(same).second) return;
    Options options = options_;
    options.patterns.clear();
    for (const Assigned& each : assigned) {
      if (is_word(each.key) && each.key != "machine") say_word(options, each.key, each.value);
    }
    if (find(assigned, "with_dense") != nullptr) sweep_.with_dense = options.with_dense;
    std::vector<std::string> texts;
    for (const std::string& axis : sweep_.axes) {
      const Assigned* const each = find(assigned, axis);
      texts.push_back(each == nullptr ? "" : each->value);
    }
    Point point = make_point(options, assigned);
    point.label = label_of(assigned);
    point.machine = machine;
    const std::uint64_t seeds = depends_on_seed(point.workload) ? seed_count(options_) : 1;
    for (std::uint64_t s = 0; s < seeds; ++s) {
      point.run = sweep_.points.size();
      sweep_.points.push_back(point);
      sweep_.points.back().settings->seed += s;
      if (seeds > 1)
        sweep_.points.back().label += fmt::format(", seed {}", point.settings->seed + s);
      sweep_.axis_text.push_back(texts);
    }
  }

  /// What varies, but for what a point is called by in any case.
  std::string label_of(const Assignment& assigned) const {
    std::vector<std::string> words;
    for (const std::string& axis : sweep_.axes) {
      const Assigned* const each = find(assigned, axis);
      if (each == nullptr || axis == "machine" || axis == "pattern") continue;
      words.push_back(axis + '=' + each->value);
    }
    return fmt::format("{}", fmt::join(words, ", "));
  }

  Point make_point(Options& options, const Assignment& assigned) {
    try {
      if (options.trace) options.trace = located(*options.trace, file_);
      if (options.matrix) options.matrix = located(*options.matrix, file_);
      if (options.program) options.program = located(*options.program, file_);
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
      throw RequestError(where_in(file_, assigned) + error.what());
    }
  }

  /// Words that say nothing of a point with pattern dense.
  static bool means_nothing_dense(const std::string& key) {
    return key == "density" || key == "block" || key == "nm" || key == "mode";
  }

  static void settle_pattern(Assignment& assigned) {
    auto* const pattern =
        find_where(assigned, [](const Assigned& each) { return each.key == "pattern"; });
    if (pattern == nullptr) return;
    const Assigned* const block = find(assigned, "block");
    const bool blocks = block != nullptr && block->value != "1";
    if (pattern->value == "unstructured" && blocks) pattern->value = "block";
    const bool is_dense = pattern->value == "dense";
    if (!is_dense) return;
    erase_where(assigned, [](const Assigned& each) { return means_nothing_dense(each.key); });
  }

  const WorkloadTrace& workload_of(const Options& options) {
    const std::string key = fmt::format("{}|{}|{}|{}|{}", options.trace.value_or(""),
                                        options.gemm.value_or(""), options.matrix.value_or(""),
                                        options.n.value_or(""), options.program.value_or(""));
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
      settings.push_back({bare_key(each.key), each.value, each.place});
      return false;
    };
    erase_where(assigned, has_not);
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

  static bool has(const Machine& machine, const std::string& key) {
    return is_key_of(machine.name(), key) && find_parameter(machine, bare_key(key)) != nullptr;
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
      const bool known =
          any_of(plain_, [&word = key](const auto& each) { return has(*each.second, word); });
      if (!known) refuse_parameter(place, key);
    }
  }

  [[noreturn]] void refuse_parameter(const std::string& place, const std::string& path) const {
    std::vector<std::string> known = experiment_words(kOfRows);
    for (const auto& [name, machine] : plain_) {
      for_each_parameter(*machine,
                         [&](const std::string& each, const ParamBase&) { known.push_back(each); });
    }
    if (std::count(known.begin(), known.end(), bare_key(path)) != 0) {
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
               : located(name, file_);
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
      set_once(bare_key(setting.path), setting);
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
      throw refused("{}: '{}' acts on no point: those there are of pattern dense, which takes none",
                    place, word);
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
      throw refused("{}: 'fold' acts on wafers alone, and no machine here is one",
                    axis.places[static_cast<std::size_t>(key - axis.keys.begin())]);
    }
  }

  /// Columns for what varies and has none of its own, and the dense partners.
  void finish() {
    const std::vector<std::string>& own = summary_columns();
    const std::set<std::string> covered = {"trace", "gemm", "matrix", "nm"};
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < sweep_.axes.size(); ++i) {
      const std::string& axis = sweep_.axes[i];
      if (covered.count(axis) != 0 || contains(own, axis)) continue;
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
