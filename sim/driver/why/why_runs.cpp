// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/why/why_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/layout/layout.hpp"
#include "sim/driver/run/idle_settings_rows.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/machines/machine_kind.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "sim/report/layout_note.hpp"
#include "sim/report/tables/table_bounds.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

WhyTime time_of(const RunRecord& run) {
  WhyTime known;
  for (const OpRecord& op : run.ops) known.time += static_cast<double>(op.result.cycles);
  double all = 0;
  for (const StackPart& part : run.stack()) {
    if (part.layer == Layer::idle) continue;
    const auto cycles = static_cast<double>(part.cycles);
    known.parts[std::string(layer_name(part.layer)) + "." + part.kind] += cycles;
    all += cycles;
  }
  for (auto& part : known.parts) part.second /= all;
  return known;
}

constexpr const char* kLayoutOption = "layout";

/// What lays a row out as it was: its layout, of which no rule may take less.
std::vector<std::string> held_layout(const OpRecord& row) {
  std::vector<std::string> settings = laid_out_by(row.result);
  if (!settings.empty()) settings.push_back(std::string(kLayoutOption) + "=first");
  return settings;
}

/// Of one row with its layout; of several the machine finds it again.
std::optional<WhyTime> time_of(const std::optional<RunRecord>& run) {
  if (!run || run->total.status != Status::ok) return std::nullopt;
  WhyTime known = time_of(*run);
  if (run->ops.size() == 1) known.layout = held_layout(run->ops[0]);
  return known;
}

/// The cycles of operations without zeros beside those with; 0 if all are alike.
double without_zeros(const RunRecord& run) {
  double with = 0;
  double without = 0;
  for (const OpRecord& op : run.ops) {
    const bool zeros = op.row.pattern != "dense" && !op.row.pattern.empty();
    (zeros ? with : without) += static_cast<double>(op.result.cycles);
  }
  return with == 0 ? 0 : without;
}

/// Of the dense run that was run beside it.
std::optional<double> dense_time(const RunRecord& run, double cycles) {
  const std::optional<double>& gain = run.total.speedup_vs_dense;
  return gain ? std::optional(std::round(cycles * *gain)) : std::nullopt;
}

/// Whether the rule of its machine has no other layout for a row than the one that it had.
bool is_by_rule(const Point& point, const OpRecord& row, MaskStore& masks) {
  const std::unique_ptr<Machine> machine = plain_copy(*point.machine);
  auto* const plans = dynamic_cast<PlansLayouts*>(machine.get());
  if (plans == nullptr) return false;
  plans->take_as_not_given();
  plans->plan_layouts(true);
  const LayerOp& op = point.workload.ops.front();
  const std::vector<Layout> layouts = plans->planned(op, masks.mask(op, point.workload), {});
  return layouts.size() == 1 &&
         layout_text(layouts.front()) == note_of(row.result, kPlannedLayoutNote);
}

/// The least times that bounds of a run leave without causes that they name.
std::map<std::string, double> least_times(const RunRecord& record, const MachineKind& kind) {
  std::map<std::string, double> least;
  const std::vector<WhatIf> what_ifs = kind.what_ifs();
  const std::vector<Bound> bounds = bounds_of(record, what_ifs);
  for (std::size_t i = 0; i < bounds.size(); ++i) least[what_ifs[i].cause] = bounds[i].cycles;
  return least;
}

class WhyRuns {
 public:
  WhyRuns(const Point& point, const RunRecord& record, const WhyMeans& means)
      : point_(point),
        means_(means),
        settings_(point.settings_or(means.settings)),
        one_row_(record.ops.size() == 1) {
    keep({}, record);
    Execution plain;  // nothing is asked for but the time
    plain.engine = settings_.execution.engine;
    plain.fold = settings_.execution.fold;
    settings_.execution = plain;
    std::vector<Point> dense = missing_dense_points({point});
    if (!dense.empty()) dense_ = std::move(dense.front().workload);
  }

  bool has_dense() const { return dense_.has_value(); }

  std::vector<std::optional<WhyTime>> run(const std::vector<WhyAsk>& asks) {
    std::vector<std::unique_ptr<Machine>> machines;
    std::vector<Point> points;
    for (const WhyAsk& ask : asks) {
      Point point = point_;
      point.run = points.size();
      point.settings = settings_;
      if (ask.dense) point.workload = *dense_;
      machines.push_back(machine_for(ask, point.workload));
      point.machine = machines.back().get();
      points.push_back(std::move(point));
    }
    Progress progress(means_.progress, means_.quiet, means_.terminal, points.size());
    PointRuns how{settings_, means_.masks, means_.pricing, progress, {means_.jobs}};
    how.keep_going = true;
    how.known = [&](std::size_t ask, const std::string& content) {
      return known(asks[ask], content);
    };
    Records records(points.size());
    if (!run_points(points, how, records)) throw SimulationError(kInterruptedWhy);
    std::vector<std::optional<WhyTime>> times;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      times.push_back(time_of(records[i]));
      if (records[i]) keep(asks[i], *records[i]);
    }
    return times;
  }

 private:
  /// Operations of a run that was made, by their contents.
  struct Made {
    WhyAsk ask;
    std::map<std::string, OpRecord> ops;
  };

  void keep(const WhyAsk& ask, const RunRecord& record) {
    if (one_row_) return;  // whose settings are its layout, too
    Made& made = made_.emplace_back(Made{ask, {}});
    for (const OpRecord& op : record.ops) {
      OpRecord& kept = made.ops[op.content] = op;
      kept.result.events.clear();
      kept.view.clear();
    }
  }

  /// An operation that takes as long in a run that is asked for as it took in another: nothing of
  /// it differs, and of the settings those alone that act on other rows.
  std::optional<OpRecord> known(const WhyAsk& ask, const std::string& content) const {
    for (const Made& made : made_) {
      const auto found = made.ops.find(content);
      if (found == made.ops.end() || made.ask.by_rule != ask.by_rule) continue;
      std::vector<std::string> differing = added_settings(ask.settings, made.ask.settings);
      append(differing, added_settings(made.ask.settings, ask.settings));
      const OpResult& result = found->second.result;
      const bool streams = !result.residency.empty() || result.io_bytes > 0;
      if (differing.empty() || (!streams && all_of(differing, acts_on_streams_alone))) {
        return found->second;
      }
    }
    return std::nullopt;
  }

  std::unique_ptr<Machine> machine_for(const WhyAsk& ask, WorkloadTrace& workload) const {
    std::unique_ptr<Machine> machine = plain_copy(*point_.machine);
    if (!machine) {
      throw refused(
          "--why: '{}' is of a kind that cannot be copied, so that nothing can be "
          "taken away from it; it goes with chips and wafers",
          point_.machine->name());
    }
    for (const std::string& each : ask.settings) {
      const Setting setting = parse_setting(each);
      if (setting.path == kResidencyKey) {
        set_residency(setting.value, workload);
      } else if (setting.path != kLayoutOption) {
        machine->set(setting.path, setting.value, "--why");
      }
    }
    machine->check();
    if (ask.by_rule) return by_rule(std::move(machine));
    const bool laid_out_by_settings = one_row_ && !(ask.dense && ask.settings.empty());
    return laid_out_by_settings ? std::move(machine)
                                : with_layouts(std::move(machine), means_.layouts);
  }

  /// As its rule lays it out where nothing is given by name.
  static std::unique_ptr<Machine> by_rule(std::unique_ptr<Machine> machine) {
    if (auto* const plans = dynamic_cast<PlansLayouts*>(machine.get())) plans->take_as_not_given();
    LayoutRequest planned;
    planned.source = LayoutRequest::Source::planned;
    return with_layouts(std::move(machine), planned);
  }

  static void set_residency(const std::string& word, WorkloadTrace& workload) {
    for (LayerOp& op : workload.ops) {
      if (has_weights(op)) op.residency = parse_residency(word);
    }
  }

  const Point& point_;
  const WhyMeans& means_;
  RunSettings settings_;
  bool one_row_;  // whose layout is settings
  std::vector<Made> made_;
  std::optional<WorkloadTrace> dense_;
};

}  // namespace

std::optional<Why> ask_why(const Point& point, const RunRecord& record, const WhyMeans& means) {
  const MachineKind* const kind = known_kind(point.machine->kind());
  const bool declared = kind != nullptr && kind->causes != nullptr;
  if (!declared || record.total.status != Status::ok) return std::nullopt;
  std::vector<DeclaredCause> causes = kind->causes();
  const bool several = record.ops.size() > 1;  // whose layouts are no settings
  if (several || is_by_rule(point, record.ops.front(), means.masks)) {
    const auto is_ruled = [](const auto& each) { return each.settings.empty(); };
    causes.erase(std::remove_if(causes.begin(), causes.end(), is_ruled), causes.end());
  }
  WhyRuns runs(point, record, means);
  WhyQuestion question{time_of(record), causes};
  question.has_dense = runs.has_dense();
  if (question.has_dense) question.dense = dense_time(record, question.run.time);
  question.without_zeros = without_zeros(record);
  question.value = [&](const std::string& path) { return value_of(record, path); };
  if (!several) {
    question.least = least_times(record, *kind);
    question.held = held_layout(record.ops[0]);
    question.density = record.total.density;
  }
  return find_why(question, [&](const std::vector<WhyAsk>& asks) { return runs.run(asks); });
}

}  // namespace lacuna
