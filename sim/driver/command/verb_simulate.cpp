// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/event_outputs.hpp"
#include "sim/driver/command/model/decode_run.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/command/study.hpp"
#include "sim/driver/command/system_run.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/layout/known_layouts.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/layout/layout_entries.hpp"
#include "sim/driver/layout/layouts_file.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/system/chip_system.hpp"
#include "sim/driver/system/store_record.hpp"
#include "sim/driver/why/why_runs.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/explain.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/table_bounds.hpp"
#include "sim/report/tables/table_runs.hpp"

namespace lacuna {

std::vector<Point> make_points(const std::vector<const Machine*>& machines,
                               const WorkloadTrace& workload, const Options& options,
                               const RunSettings& settings) {
  const std::vector<PatternChoice> choices = pattern_choices(options);
  std::vector<WorkloadTrace> settled;
  settled.reserve(choices.size());
  for (const PatternChoice& choice : choices) settled.push_back(settle(workload, choice, options));
  settle_mode(settled, options);
  const std::uint64_t seeds = seed_count(options);
  if (seeds > 1 && !any_of(settled, depends_on_seed)) {
    throw refused(
        "--seeds: found '{}', but nothing here is drawn from a seed: the weights are dense or of "
        "a file",
        *options.seeds);
  }
  std::vector<Point> points;
  for (const Machine* const machine : machines) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
      for (std::uint64_t s = 0; s < (depends_on_seed(settled[i]) ? seeds : 1); ++s) {
        points.push_back({points.size(), machine, choices[i].label, settled[i], settings});
        points.back().settings->seed += s;
        if (seeds > 1) points.back().label = fmt::format("seed {}", points.back().settings->seed);
      }
    }
  }
  return points;
}

namespace {

using Machines = std::vector<std::unique_ptr<Machine>>;

std::vector<const Machine*> pointers(const Machines& machines) {
  std::vector<const Machine*> all;
  for (const std::unique_ptr<Machine>& machine : machines) all.push_back(machine.get());
  return all;
}

/// The points, and those that --with-dense needs beside them.
std::vector<Point> with_dense_points(const std::vector<Point>& points, const Options& options) {
  std::vector<Point> all = points;
  if (!options.with_dense) return all;
  for (Point& point : missing_dense_points(points)) all.push_back(std::move(point));
  return all;
}

/// Refuses steps of time of machines that have steps of their own.
void check_view_steps(const std::vector<Point>& points, const Options& options) {
  if (!options.view_steps && !options.view_path) return;
  for (const Point& point : points) {
    if (point.machine->kind() == std::string("wse")) return;
  }
  refuse_view_words(options);
}

/// Refuses what a system of wafers cannot do, before anything is simulated.
void check_weight_stores(const std::vector<Point>& points, const RunSettings& settings,
                         MaskStore& masks) {
  for (const Point& point : points) check_weight_store(point, settings, masks);
}

/// Says why of the first seed of each machine and pattern.
void add_why(const std::vector<Point>& points, const WhyMeans& means, Runs& records) {
  std::set<std::pair<const Machine*, std::string>> asked;
  for (RunRecord& record : records) {
    const Point& point = points.at(record.run);
    if (!asked.emplace(point.machine, point.pattern).second) continue;
    record.why = ask_why(point, record, means);
  }
}

constexpr const char* kMore =
    "More: --wide (all rows, columns), --explain (stack by kind, plan, bounds), --out DIR (page, "
    "files)\n";

/// The first screen of runs, its notes, and with --explain what is behind it.
void print_answer(const Runs& records, const std::string& below, const Options& options,
                  const Streams& streams) {
  const Answer answer = answer_of(records);
  std::string remarks;
  for (const RunRecord& record : records) {
    if (!options.wide) break;
    remarks += remarks_text(record, records.size() == 1 ? "" : fmt::format("run {}, ", record.run));
  }
  const ScreenWords words{screen_title(records), options.wide, below + remarks, kMore};
  streams.out << (records.size() == 1 ? run_screen(answer, words) : points_screen(answer, words));
  if (!options.wide) notes(options, streams) << note_lines(answer);
  streams.out << causes_text(answer);
  if (!options.explain) return;
  for (const RunRecord& record : records) {
    streams.out << fmt::format("\nRun {}, {}\n\n", record.run, record.machine)
                << stack_table(record) << (options.wide ? "" : remarks_text(record));
    const std::string bounds =
        csv_as_text(bounds_csv_head() + bounds_csv_rows(record, what_ifs(record.kind)));
    if (!bounds.empty()) streams.out << "\nBounds, by its own cycle stack\n\n" << bounds;
    streams.out << '\n' << explain_text(record);
  }
  streams.out << '\n' << trust_notes(records);
}

void print_comparison(const Runs& records, const std::optional<Scaling>& systems,
                      const Options& options, const Streams& streams) {
  if (options.json) {
    streams.out << summary_json(
        records, options.explain,
        systems ? std::vector<NamedTable>{scaling_table(*systems)} : std::vector<NamedTable>{});
    return;
  }
  print_answer(records, power_text(records), options, streams);
  if (systems) streams.out << '\n' << scaling_text(*systems);
}

int status_of(const Runs& records, bool any_not_ok_counts) {
  const bool failed = any_of(records, [&](const RunRecord& record) {
    return record.total.status == Status::failed ||
           (any_not_ok_counts && record.total.status != Status::ok);
  });
  return failed ? kNotCompleted : kDone;
}

/// Splits what was run for comparison only from the points that were asked for.
Runs take_extra(Runs& records, std::size_t asked) {
  const auto first = std::find_if(records.begin(), records.end(),
                                  [&](const RunRecord& record) { return record.run >= asked; });
  Runs extra(std::make_move_iterator(first), std::make_move_iterator(records.end()));
  records.erase(first, records.end());
  return extra;
}

/// What systems make of all runs of a comparison, if all of them are of systems.
std::optional<Scaling> scaling_of_systems(const std::vector<Point>& points, const Runs& records) {
  if (!has_weight_store(*points.front().machine)) return std::nullopt;
  std::set<std::string> systems;
  for (const RunRecord& record : records) {
    const bool is_new = systems.insert(record.machine).second;
    if (!is_new || record.pattern != records.front().pattern) return std::nullopt;
    if (record.total.status != Status::ok) return std::nullopt;
  }
  Scaling scaling = scaling_of_shares(records.front().workload);
  for (const RunRecord& record : records) {
    scaling.rows.push_back(share_of(*points.at(record.run).machine, record.total));
  }
  return scaling;
}

/// The layouts that were searched, for --layout; those of dense runs beside them, too.
void add_layouts(const Runs& records, const Runs& dense, Output& output) {
  const std::string layouts = layouts_file({&records, &dense});
  if (!layouts.empty()) output.add_file("layouts.yaml", layouts);
}

void add_to_output(const std::optional<Scaling>& systems, Output& output) {
  if (!systems) return;
  const NamedTable table = scaling_table(*systems);
  output.add_file(table.name + ".csv", csv_of(table));
  output.add_figure(scaling_figure(*systems));
}

/// Files and figures of a system, beside those of the rows of one of its chips.
void add_to_output(const SystemRecord& system, Output& output) {
  for (const auto& [name, text] : files_of(system)) output.add_file(name, text);
  for (Figure& figure : figures_of(system)) output.add_figure(std::move(figure));
}

/// The first screen of `lacuna run`, or the summary as JSON.
void print_run(const Runs& records, const std::optional<SystemRecord>& system,
               const Options& options, const Streams& streams) {
  if (options.json) {
    streams.out << summary_json(records, options.explain,
                                system ? tables_of(*system) : std::vector<NamedTable>{});
    return;
  }
  if (!options.wide) notes(options, streams) << repeated_note(records[0]);
  print_answer(records, (options.wide ? repeated_note(records[0]) : "") + power_text({records[0]}),
               options, streams);
  if (system) streams.out << '\n' << text_of(*system);
}

/// Layouts are chosen for the operations of a chip or a wafer.
void check_layout(const Options& options, Request request) {
  if (!options.layout || *options.layout == "planned" || *options.layout == "first") return;
  if (request != kOfModel && request != kOfSystem) return;
  const char* const of = request == kOfModel     ? "--model"
                         : options.system_config ? "--system-config"
                                                 : "a system of chips";
  throw refused(
      "--layout: found '{}' with {}, of which only layout planned is there; best and files go with "
      "--trace, --gemm and --matrix on a machine of one chip",
      *options.layout, of);
}

/// What is asked for. RequestError of an option that says nothing of such a request, or lacks one
/// that it needs.
Request checked_request(const Options& options) {
  const OptionDeclaration* const of_model = first_of(options, kOfModel);
  if (of_model != nullptr && !options.model) {
    throw RequestError(of_model->dashed() + ": needs --model");
  }
  const Request request = !options.subjects.empty()  ? kOfResults
                          : of_model != nullptr      ? kOfModel
                          : asks_for_system(options) ? kOfSystem
                                                     : kOfRows;
  check_layout(options, request);
  refuse_others(options, request,
                request == kOfResults
                    ? "{}: goes with a workload; finished results are compared as they are"
                : request == kOfModel ? "{} does not go with --model"
                                      : "{} is for machines of one chip; what a system runs is in "
                                        "--system-config and --set training.WORD=VALUE");
  check_needs(options);
  return request;
}

/// Has a request without points done by a child. What it simulates is in its cache for the next.
int in_child(const Options& options, const Streams& streams,
             const std::function<int(const Streams&)>& verb) {
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, 1);
  std::vector<std::string> words = options.machines;
  for (const auto& word : {options.system_config, options.trace}) {
    if (word) words.push_back(*word);
  }
  const auto print = [&](std::ostream& out, std::ostream& err) {
    return verb({out, err, false, streams.columns});
  };
  const auto printed =
      printed_by_child(fmt::format("{}", fmt::join(words, ", ")), print, progress, streams.err);
  if (!printed) {
    streams.err << interrupted_with_cache(options);
    return kNotCompleted;
  }
  streams.out << printed->out;
  return printed->status;
}

}  // namespace

int simulate_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const bool compares = options.verb == "compare";
  const Request request = checked_request(options);
  if (request == kOfResults) return compare_results(options, streams);
  if (request == kOfModel) return run_decode(options, kinds, streams);
  if (request == kOfSystem) {
    return in_child(options, streams, [&](const Streams& own) {
      return compares ? compare_systems(options, kinds, own) : run_system(options, kinds, own);
    });
  }
  const RunSettings settings = run_settings(options);
  std::vector<std::string> names = options.machines;
  if (names.empty() && compares) throw RequestError("--machine: give one or more to compare");
  if (names.empty()) names.emplace_back("bow");
  Machines machines = make_machines(kinds, names, options.settings);
  streams.err << idle_settings(machines, options.settings, options.fold.has_value());
  const LayoutRequest layouts = layout_request(options.layout, options.no_cache);
  lay_out(machines, layouts);
  const WorkloadTrace workload = load_workload(options);
  streams.err << stored_zeros(options);
  if (!layouts.entries.empty()) {
    streams.err << unused_layouts(
        layouts.entries, layouts.file,
        with_dense_points(make_points(pointers(machines), workload, options, settings), options));
  }
  const std::optional<ComparedRuns> done =
      compare_machines(options, pointers(machines), workload, settings, streams, !compares);
  if (!done) return kDone;
  if (done->records.empty()) return done->status;
  if (layouts.source == LayoutRequest::Source::planned && !options.no_cache && !options.quiet) {
    streams.err << known_layouts(make_points(pointers(machines), workload, options, settings),
                                 done->records);
  }
  if (compares) {
    print_comparison(done->records, done->systems, options, streams);
  } else {
    print_run(done->records, done->system, options, streams);
  }
  const int values = check_values(done->records, options, streams);
  return done->status != kDone ? done->status : values;
}

namespace {

/// Finished records in the order of the points, and for each point of the request that was not
/// reached one that says so; points for comparison only are left out then.
Runs records_of(Records finished, const std::vector<Point>& points, std::size_t asked,
                const RunSettings& settings) {
  Runs records;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (finished[i]) {
      records.push_back(*std::move(finished[i]));
    } else if (i < asked) {
      records.push_back(interrupted_record(points[i], settings));
    }
  }
  return records;
}

/// True of a request that needs no process of its own: a few products of at most 2^20
/// multiply-accumulates in the fast engine, which are done sooner than a process begins. Also of
/// one run whose events are too many for a pipe.
bool stays_here(const std::vector<Point>& points, const Options& options) {
  if (points.size() == 1 && (options.timeline || !options.waves.empty())) return true;
  constexpr double kMostMacs = 1 << 20;
  double macs = 0;
  for (const Point& point : points) {
    if (point.workload.ops.size() > (options.out ? 1 : 4)) return false;  // of several each is kept
    for (const LayerOp& op : point.workload.ops) {
      macs += double{1.0} * std::max(op.m, 1U) * std::max(op.k, 1U) * std::max(op.n, 1U) * op.batch;
    }
  }
  return !options.engine && !options.fold && !options.values && !options.seeds && macs <= kMostMacs;
}

}  // namespace

std::optional<ComparedRuns> compare_machines(const Options& options,
                                             const std::vector<const Machine*>& machines,
                                             const WorkloadTrace& workload,
                                             const RunSettings& settings, const Streams& streams,
                                             bool may_stay_here) {
  const bool compares = options.verb == "compare";
  RunSettings of_chips = settings;
  of_chips.completes = compares;
  const std::vector<Point> points = make_points(machines, workload, options, of_chips);
  check_view_steps(points, options);
  const std::vector<Point> all = with_dense_points(points, options);
  PointStudy study({workload.name, facts_of_arguments(options), {workload}}, all, of_chips, options,
                   streams);
  check_weight_stores(points, settings, study.masks());
  if (!study.begin()) return std::nullopt;
  if (may_stay_here && stays_here(all, options)) study.stay_here();
  const bool whole = study.run();
  if (!whole && count_finished(study.records()) == 0) {
    return ComparedRuns{workload, settings, {}, {}, {}, kNotCompleted, true};
  }
  if (whole && study.ends_as_share()) return std::nullopt;
  ComparedRuns result{workload, settings, {}, {}, {}, kDone, !whole};
  Runs& records = result.records;
  records = records_of(std::move(study.records()), all, points.size(), settings);
  for (RunRecord& record : records) {
    if (compares) break;
    std::optional<SystemRecord> made =
        complete_record(all[record.run], settings, study.pricing(), {}, record);
    if (record.run == 0) result.system = std::move(made);
  }
  const Runs extra = take_extra(records, points.size());
  compare_with_dense(records, extra);
  add_trust(records, Trust(config_folder()));
  if (options.why && whole) {
    const LayoutRequest layouts = layout_request(options.layout, options.no_cache);
    add_why(points,
            {settings, study.masks(), study.pricing(), layouts, job_count(options), streams.err,
             options.quiet, streams.err_is_terminal},
            records);
  }
  if (compares) result.systems = scaling_of_systems(points, records);
  if (Output* const output = study.output()) {
    add_to_output(result.systems, *output);
    if (result.system) add_to_output(*result.system, *output);
    add_layouts(records, extra, *output);
    output->write(workload, records, streams);
  }
  if (whole) study.end();
  result.status = whole ? status_of(records, !compares) : static_cast<int>(kNotCompleted);
  return result;
}

}  // namespace lacuna
