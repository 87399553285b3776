// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/why/why_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/layout/layout.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/why/why_words.hpp"
#include "sim/machines/machine_kind.hpp"
#include "sim/report/layout_note.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

/// The layouts of all rows of a run, however they were chosen.
LayoutRequest held_layouts(const RunRecord& record) {
  LayoutRequest request;
  request.source = LayoutRequest::Source::held;
  request.file = "the run";
  for (const OpRecord& op : record.ops) {
    LayoutEntry entry;
    entry.of = {{"id", op.row.op_id}};
    for (const std::string& each : laid_out_by(op.result)) {
      const std::size_t equals = each.find('=');
      entry.layout.push_back({each.substr(0, equals), each.substr(equals + 1), "--why"});
    }
    request.entries.push_back(std::move(entry));
  }
  return request;
}

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

/// What was asked for, and how it was laid out.
std::optional<WhyTime> time_of(const WhyAsk& ask, const std::optional<RunRecord>& run) {
  if (!run || run->total.status != Status::ok) return std::nullopt;
  WhyTime known = time_of(*run);
  const bool one = run->ops.size() == 1;
  if (one) known.layout = laid_out_by(run->ops[0].result);
  if (!one && ask.search_layout) known.layout = {kLayoutOfRows};
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

class WhyRuns {
 public:
  WhyRuns(const Point& point, const RunRecord& record, const WhyMeans& means)
      : point_(point), means_(means), settings_(point.settings_or(means.settings)) {
    Execution plain;  // nothing is asked for but the time
    plain.engine = settings_.execution.engine;
    plain.fold = settings_.execution.fold;
    settings_.execution = plain;
    if (record.ops.size() > 1) held_ = held_layouts(record);
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
    PointRuns how{settings_, means_.masks, means_.pricing, progress, means_.jobs};
    how.keep_going = true;
    Records records(points.size());
    run_points(points, how, records);
    std::vector<std::optional<WhyTime>> times;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      keep_layouts(asks[i], records[i]);
      times.push_back(time_of(asks[i], records[i]));
    }
    return times;
  }

 private:
  std::unique_ptr<Machine> machine_for(const WhyAsk& ask, WorkloadTrace& workload) const {
    std::unique_ptr<Machine> machine;
    if (ask.dense && ask.settings.empty())
      machine = point_.machine->clone();  // laid out for itself
    if (!machine) machine = plain_copy(*point_.machine);
    if (!machine) {
      throw RequestError(
          fmt::format("--why: '{}' is of a kind that cannot be copied, so that nothing can be "
                      "taken away from it; it goes with chips and wafers",
                      point_.machine->name()));
    }
    bool found = false;
    for (const std::string& each : ask.settings) {
      const Setting setting = parse_setting(each);
      if (setting.path == kResidencyKey) {
        set_residency(setting.value, workload);
      } else if (setting.path == "layout") {
        found = true;
      } else {
        machine->set(setting.path, setting.value, "--why");
      }
    }
    machine->check();
    if (ask.search_layout) return with_layouts(std::move(machine), short_search());
    if (found && searched_) return with_layouts(std::move(machine), *searched_);
    const std::optional<LayoutRequest>& held = ask.dense ? held_dense_ : held_;
    return held ? with_layouts(std::move(machine), *held) : std::move(machine);
  }

  static LayoutRequest short_search() {
    LayoutRequest request = layout_request("best:16", true);
    request.effort_of_rows.budget = 2;
    return request;
  }

  static void set_residency(const std::string& word, WorkloadTrace& workload) {
    for (LayerOp& op : workload.ops) {
      if (has_weights(op)) op.residency = parse_residency(word);
    }
  }

  /// Rows that follow each other are laid out again as they were found.
  void keep_layouts(const WhyAsk& ask, const std::optional<RunRecord>& record) {
    if (!record || record->total.status != Status::ok || record->ops.size() < 2) return;
    if (ask.search_layout) searched_ = held_layouts(*record);
    if (ask.dense && !held_dense_) held_dense_ = held_layouts(*record);
  }

  const Point& point_;
  const WhyMeans& means_;
  RunSettings settings_;
  std::optional<WorkloadTrace> dense_;
  std::optional<LayoutRequest> held_;        // of several rows, as they were run
  std::optional<LayoutRequest> held_dense_;  // likewise of the dense run
  std::optional<LayoutRequest> searched_;
};

}  // namespace

std::optional<Why> ask_why(const Point& point, const RunRecord& record, const WhyMeans& means) {
  const MachineKind* const kind = known_kind(point.machine->kind());
  const bool declared = kind != nullptr && kind->causes != nullptr;
  if (!declared || record.total.status != Status::ok) return std::nullopt;
  const std::vector<DeclaredCause> causes = kind->causes();
  WhyRuns runs(point, record, means);
  WhyQuestion question{time_of(record), causes};
  question.has_dense = runs.has_dense();
  question.without_zeros = without_zeros(record);
  question.value = [&](const std::string& path) { return value_of(record, path); };
  if (record.ops.size() == 1) {
    question.held = laid_out_by(record.ops[0].result);
    question.density = record.total.density;
  }
  return find_why(question, [&](const std::vector<WhyAsk>& asks) { return runs.run(asks); });
}

}  // namespace lacuna
