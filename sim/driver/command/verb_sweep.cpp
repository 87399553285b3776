// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/command/study.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/sweep/sweep.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/figures/area_front.hpp"
#include "sim/report/sweep_study.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// What the file says, and the options that may say it in its place.
Journal::Facts sweep_facts(const Sweep& sweep, const Options& options) {
  Journal::Facts facts = sweep.facts;
  for (const auto& [name, value] :
       {std::pair("--engine", options.engine), std::pair("--fold", options.fold),
        std::pair("--seed", options.seed)}) {
    if (value) facts.emplace_back(name, *value);
  }
  facts.emplace_back("--values", options.values ? "given " + *options.values : "not given");
  facts.emplace_back("with_dense", sweep.with_dense ? "true" : "false");
  facts.emplace_back("number of points", fmt::format("{}", sweep.points.size()));
  return facts;
}

/// Says which points failed, and why; the exit status that they call for.
int report_failures(const Runs& records, const Streams& streams) {
  int status = kDone;
  for (const RunRecord& record : records) {
    if (record.total.status != Status::failed) continue;
    const std::string& reason = record.total.reason;
    streams.err << fmt::format("lacuna: point {} failed: {}\n", record.run, reason);
    const bool defect = reason.find(kDefectMark) != std::string::npos;
    status = std::max<int>(status, defect ? kDefect : kNotCompleted);
  }
  return status;
}

void print(const Sweep& sweep, const Runs& records, const Options& options,
           const Streams& streams) {
  if (options.json) {
    streams.out << summary_json(records);
    return;
  }
  const SweepAxes axes{sweep.axes, sweep.axis_text};
  const Answer answer = answer_of(records);
  const std::string matters = csv_as_text(sensitivity_csv(records, axes));
  streams.out << points_screen(
      answer,
      {fmt::format("{}: {} points", sweep.name, sweep.asked), options.wide,
       matters.empty() ? ""
                       : "\nlongest over shortest along each axis, all else the same\n" + matters,
       "More: --explain (Pareto fronts), --wide (all rows, all columns), --out DIR (page, "
       "files)\n"},
      &axes);
  notes(options, streams) << note_lines(answer);
  if (!options.explain) return;
  const auto section = [&](const char* title, const std::string& table) {
    if (!table.empty()) streams.out << '\n' << title << "\n\n" << table;
  };
  section("No other point of its machine is both faster and cheaper (Pareto front)",
          csv_as_text(pareto_csv(records, axes)));
  section("No other point of its workload is both smaller and faster (Pareto front)",
          csv_as_text(area_front_csv(records, axes)));
  streams.out << '\n' << trust_notes(records);
}

/// What a sweep says of its points together, as files of its result.
void add_study(const Sweep& sweep, const Runs& records, Output& output) {
  const SweepAxes axes{sweep.axes, sweep.axis_text};
  output.add_file("pareto.csv", pareto_csv(records, axes));
  const std::string area = area_front_csv(records, axes);
  if (!area.empty()) output.add_file("pareto_area.csv", area);
  output.add_file("sensitivity.csv", sensitivity_csv(records, axes));
}

/// Completes the records of the points that were asked for, and writes them.
void finish(const Sweep& sweep, Runs& records, Output* output, const Streams& streams) {
  Runs extra(records.begin() + static_cast<std::ptrdiff_t>(sweep.asked), records.end());
  records.resize(sweep.asked);
  compare_with_dense(records, extra);
  add_trust(records, Trust(config_folder()));
  if (output != nullptr) {
    add_study(sweep, records, *output);
    output->write(sweep.name, sweep.workloads, records, streams);
  }
}

}  // namespace

int sweep_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const SweepFile file = read_sweep(options.subjects.front());
  if (is_of_model(file)) return run_model_sweep(file, options, kinds, streams);
  const std::optional<SweepResult> result = run_sweep(options, kinds, streams, true);
  return result ? result->status : kDone;
}

std::optional<SweepResult> run_sweep(const Options& options, const MachineTable& kinds,
                                     const Streams& streams, bool print_tables) {
  const SweepFile file = read_sweep(options.subjects.front());
  refuse_model_words(file, options);
  check_needs(options);
  const Sweep sweep = plan_sweep(file, options, kinds);
  PointStudy study({sweep.name, sweep_facts(sweep, options), sweep.workloads, {file.path}, true},
                   sweep.points, run_settings(options), options, streams);
  if (!study.begin()) return std::nullopt;
  streams.err << idle_settings(sweep.machines, options.settings, options.fold.has_value(),
                               IdleOn::all);
  if (!study.run()) return SweepResult{{}, kNotCompleted, true};
  if (study.ends_as_share()) return SweepResult{{}, kDone, true};
  Runs all;
  for (std::optional<RunRecord>& record : study.records()) all.push_back(std::move(*record));
  SweepResult result{std::move(all), kDone, false};
  finish(sweep, result.records, study.output(), streams);
  study.end();
  if (print_tables) print(sweep, result.records, options, streams);
  result.status = report_failures(result.records, streams);
  return result;
}

}  // namespace lacuna
