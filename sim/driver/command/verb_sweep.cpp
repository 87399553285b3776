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
#include "sim/driver/command/output.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/idle_settings_rows.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"
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
  std::vector<const Machine*> machines;
  for (const std::unique_ptr<Machine>& machine : sweep.machines) machines.push_back(machine.get());
  return facts_of_request(std::move(facts), options, sweep.workloads, machines);
}

/// Says which points failed, and why; the exit status that they call for.
int report_failures(const std::vector<RunRecord>& records, const Streams& streams) {
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

void print(const Sweep& sweep, const std::vector<RunRecord>& records, const Options& options,
           const Streams& streams) {
  if (options.json) {
    streams.out << summary_json(records);
    return;
  }
  const SweepAxes axes{sweep.axes, sweep.axis_text};
  const Answer answer = answer_of(records);
  const std::string matters = csv_as_text(sensitivity_csv(records, axes));
  const ScreenAxes shown{sweep.axes, sweep.axis_text};
  streams.out << points_screen(
      answer,
      {fmt::format("{}: {} points", sweep.name, sweep.asked), options.wide,
       matters.empty() ? ""
                       : "\nlongest over shortest along each axis, all else the same\n" + matters,
       "More: --explain (Pareto fronts), --wide (all rows, all columns), --out DIR (page, "
       "files)\n"},
      &shown);
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
void add_study(const Sweep& sweep, const std::vector<RunRecord>& records, Output& output) {
  const SweepAxes axes{sweep.axes, sweep.axis_text};
  output.add_file("pareto.csv", pareto_csv(records, axes));
  const std::string area = area_front_csv(records, axes);
  if (!area.empty()) output.add_file("pareto_area.csv", area);
  output.add_file("sensitivity.csv", sensitivity_csv(records, axes));
}

/// Completes the records of the points that were asked for, and writes them.
void finish(const Sweep& sweep, std::vector<RunRecord>& records, Output* output,
            const Streams& streams) {
  std::vector<RunRecord> extra(records.begin() + static_cast<std::ptrdiff_t>(sweep.asked),
                               records.end());
  records.resize(sweep.asked);
  compare_with_dense(records, extra);
  add_trust(records, Trust(config_folder()));
  if (output != nullptr) {
    add_study(sweep, records, *output);
    output->write(sweep.name, sweep.workloads, records, streams);
  }
}

/// The points of --shard; none without it.
std::vector<std::size_t> share_of(const Options& options, std::size_t points) {
  std::vector<std::size_t> share;
  if (!options.shard) return share;
  const Shard shard = shard_of(options);
  for (std::size_t i = shard.first; i < points; i += shard.all) share.push_back(i);
  return share;
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
  const RunSettings settings = run_settings(options);
  const std::size_t jobs = job_count(options);
  const Pricing pricing = make_pricing(options, streams);
  const MpiRanks ranks;
  MaskStore masks(settings.seed);
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, sweep.points.size());
  PointRuns how{settings, masks, pricing, progress, jobs, &ranks};
  how.masks_in_children = how.keep_going = true;
  if (ranks.is_server()) {
    serve_points(sweep.points, how);
    return std::nullopt;
  }
  std::optional<Output> output;
  std::unique_ptr<Journal> journal;
  if (options.out) {
    output.emplace(*options.out, options);
    output->add_input(file.path);
    if (is_finished(*output, sweep.name, sweep.workloads, options, streams)) return std::nullopt;
    journal = open_journal(*output, sweep_facts(sweep, options), sweep.points, options, streams);
  }
  how.journal = journal.get();
  Records records = kept_records(journal.get(), sweep.points.size());
  say_what_is_slow(sweep.points, options, streams);
  streams.err << settings_without_effect(sweep.machines, options.settings,
                                         options.fold.has_value());
  streams.err << idle_for_rows(sweep.points, options.settings);
  progress.skip(count_finished(records));
  const std::vector<std::size_t> share = share_of(options, records.size());
  if (!run_points(sweep.points, how, records, options.shard ? &share : nullptr)) {
    streams.err << interrupted_text(records, journal != nullptr);
    return SweepResult{{}, kNotCompleted, true};
  }
  if (options.shard) {
    streams.err << fmt::format(
        "lacuna: share {}: {} of {} points are kept beside {}; when all are, --resume without "
        "--shard makes the result\n",
        *options.shard, count_finished(records), records.size(), *options.out);
    return SweepResult{{}, kDone, true};
  }
  std::vector<RunRecord> all;
  all.reserve(records.size());
  for (std::optional<RunRecord>& record : records) all.push_back(std::move(*record));
  SweepResult result{std::move(all), kDone, false};
  finish(sweep, result.records, output ? &*output : nullptr, streams);
  if (journal) journal->remove();
  if (print_tables) print(sweep, result.records, options, streams);
  result.status = report_failures(result.records, streams);
  return result;
}

}  // namespace lacuna
