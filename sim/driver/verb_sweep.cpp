// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command_line.hpp"
#include "sim/driver/locations.hpp"
#include "sim/driver/mpi_ranks.hpp"
#include "sim/driver/output.hpp"
#include "sim/driver/point_runner.hpp"
#include "sim/driver/progress.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/driver/result_json.hpp"
#include "sim/driver/sha256.hpp"
#include "sim/driver/sweep.hpp"
#include "sim/driver/sweep_journal.hpp"
#include "sim/driver/trust.hpp"
#include "sim/driver/verbs.hpp"
#include "sim/report/area_front.hpp"
#include "sim/report/mean.hpp"
#include "sim/report/sweep_study.hpp"
#include "sim/report/table_sweep.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRows = 60;  // of a table on a terminal
constexpr std::size_t kLongestInput = std::size_t{1} << 30U;

/// What must be the same for finished points to be those of this experiment: what the file says,
/// the files it names, the machines, the prices and the program.
SweepJournal::Facts journal_facts(const Sweep& sweep, const Options& options) {
  SweepJournal::Facts facts = sweep.facts;
  facts.emplace_back("version of lacuna", version());
  for (const auto& [name, value] :
       {std::pair("--engine", options.engine), std::pair("--fold", options.fold),
        std::pair("--seed", options.seed)}) {
    if (value) facts.emplace_back(name, *value);
  }
  facts.emplace_back("--values", options.values ? "given" : "not given");
  facts.emplace_back("with_dense", sweep.with_dense ? "true" : "false");
  facts.emplace_back("number of points", fmt::format("{}", sweep.points.size()));
  for (const std::string& path : input_files(sweep.workloads)) {
    facts.emplace_back("SHA-256 of " + path, sha256(read_text(path, kLongestInput)));
  }
  for (const char* const name : {"energy_table.csv", "energy_actions.csv"}) {
    facts.emplace_back(std::string("SHA-256 of ") + name,
                       sha256(read_text(config_folder() / name, kLongestInput)));
  }
  if (options.energy_table) {
    facts.emplace_back("SHA-256 of --energy-table",
                       sha256(read_text(*options.energy_table, kLongestInput)));
  }
  for (std::size_t i = 0; i < sweep.machines.size(); ++i) {
    std::string text;
    sweep.machines[i]->parameters().for_each([&](const std::string& path, const ParamBase& each) {
      text += path + '=' + each.value_text() + '\n';
    });
    facts.emplace_back(fmt::format("parameters of machine {}, {}", i, sweep.machines[i]->name()),
                       sha256(text));
  }
  return facts;
}

/// The points that are still to be run, with their places among all.
struct Rest {
  std::vector<Point> points;
  std::vector<std::size_t> places;
};

Rest rest_of(const Sweep& sweep, const std::vector<std::optional<RunRecord>>& records) {
  Rest rest;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (records[i]) continue;
    rest.points.push_back(sweep.points[i]);
    rest.places.push_back(i);
  }
  return rest;
}

/// Runs what is not finished yet; each point is kept as it finishes. True if all are done.
bool run_rest(const Sweep& sweep, const RunSettings& settings, std::size_t jobs,
              const Pricing& pricing, MpiRanks& ranks, SweepJournal* journal, Progress& progress,
              std::vector<std::optional<RunRecord>>& records) {
  const Rest rest = rest_of(sweep, records);
  Forking forking;
  forking.masks_in_children = true;
  forking.keep_going = true;
  forking.finished = [&](std::size_t index, const RunRecord& record) {
    if (journal != nullptr) journal->add(rest.places[index], encode_record(record));
  };
  MaskStore masks(settings.seed);
  Finished finished =
      ranks.several() ? ranks.run(rest.points, rest.places, settings, progress, forking)
                      : run_forked(rest.points, settings, masks, pricing, jobs, progress, forking);
  progress.clear();
  for (std::size_t i = 0; i < finished.records.size(); ++i) {
    if (finished.records[i]) records[rest.places[i]] = std::move(finished.records[i]);
  }
  return !finished.interrupted;
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
  streams.out << sweep.name << ": " << sweep.asked << " points\n\n";
  if (records.size() <= kMostRows) {
    streams.out << sweep_table(records, sweep.axes, sweep.axis_text) << trust_notes(records);
  } else {
    streams.out << "Each is a row of summary.csv, which --out writes.\n";
  }
  const auto section = [&](const char* title, const std::string& table) {
    if (!table.empty()) streams.out << '\n' << title << "\n\n" << table;
  };
  if (has_several_seeds(records)) section("Means over the seeds", seeds_table(records));
  section("No other point of its machine is both faster and cheaper (Pareto front)",
          pareto_table(records, axes));
  section("No other point of its workload is both smaller and faster (Pareto front)",
          area_front_table(records, axes));
  section("How much each axis matters: longest over shortest, with all else the same",
          sensitivity_table(records, axes));
}

/// What a sweep says of its points together, as files of its result.
void add_study(const Sweep& sweep, const std::vector<RunRecord>& records, Output& output) {
  const SweepAxes axes{sweep.axes, sweep.axis_text};
  output.add_file("pareto.csv", pareto_csv(records, axes));
  const std::string area = area_front_csv(records, axes);
  if (!area.empty()) output.add_file("pareto_area.csv", area);
  output.add_file("sensitivity.csv", sensitivity_csv(records, axes));
}

int finish(const Sweep& sweep, std::vector<RunRecord> records, Output* output,
           const Options& options, const Streams& streams) {
  std::vector<RunRecord> extra(records.begin() + static_cast<std::ptrdiff_t>(sweep.asked),
                               records.end());
  records.resize(sweep.asked);
  compare_with_dense(records, extra);
  add_trust(records, Trust(config_folder()));
  if (output != nullptr) {
    add_study(sweep, records, *output);
    output->write(sweep.name, sweep.workloads, records, streams);
  }
  print(sweep, records, options, streams);
  return report_failures(records, streams);
}

/// A resumed sweep that was finished already has no journal, and nothing to do.
bool is_finished(const fs::path& journal, const Output& output, const Options& options) {
  std::error_code ignored;
  return options.resume && !fs::exists(journal, ignored) && is_result(output.target());
}

/// The journal of a sweep at `path`; the points that it holds are put into `records`.
std::unique_ptr<SweepJournal> open_journal(const fs::path& path, const Sweep& sweep,
                                           const Options& options, const Streams& streams,
                                           std::vector<std::optional<RunRecord>>& records) {
  auto journal =
      std::make_unique<SweepJournal>(path, journal_facts(sweep, options), options.resume);
  for (const auto& [index, bytes] : journal->finished()) {
    records.at(index) = decode_record(bytes);
  }
  if (!journal->finished().empty() && !options.quiet) {
    streams.err << fmt::format("lacuna: {} of {} points were finished before\n",
                               journal->finished().size(), sweep.points.size());
  }
  return journal;
}

std::size_t unfinished(const std::vector<std::optional<RunRecord>>& records) {
  return static_cast<std::size_t>(std::count(records.begin(), records.end(), std::nullopt));
}

std::string interrupted_text(const std::vector<std::optional<RunRecord>>& records, bool kept) {
  return fmt::format("lacuna: interrupted; {} of {} points are finished{}\n",
                     records.size() - unfinished(records), records.size(),
                     kept ? ", and kept: --resume goes on" : "; nothing was kept without --out");
}

}  // namespace

int sweep_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  if (options.resume && !options.out) {
    throw RequestError("--resume: needs --out, the folder of the sweep to go on with");
  }
  const SweepFile file = read_sweep(options.subjects.front());
  const Sweep sweep = plan_sweep(file, options, kinds);
  const RunSettings settings = run_settings(options);
  const std::size_t jobs = job_count(options);
  const Pricing pricing = make_pricing(options, streams);
  MpiRanks ranks;
  if (ranks.is_server()) {
    ranks.serve(sweep.points, settings, pricing);
    return kDone;
  }
  std::optional<Output> output;
  std::unique_ptr<SweepJournal> journal;
  std::vector<std::optional<RunRecord>> records(sweep.points.size());
  if (options.out) {
    output.emplace(*options.out, options);
    output->add_input(file.path);
    const fs::path path = output->target().string() + ".journal";
    if (is_finished(path, *output, options)) {
      streams.err << "lacuna: the sweep is finished: " << output->target().string() << '\n';
      return kDone;
    }
    journal = open_journal(path, sweep, options, streams, records);
  }
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, unfinished(records));
  if (!run_rest(sweep, settings, jobs, pricing, ranks, journal.get(), progress, records)) {
    streams.err << interrupted_text(records, journal != nullptr);
    return kNotCompleted;
  }
  std::vector<RunRecord> all;
  all.reserve(records.size());
  for (std::optional<RunRecord>& record : records) all.push_back(std::move(*record));
  const int status = finish(sweep, std::move(all), output ? &*output : nullptr, options, streams);
  if (journal) journal->remove();
  return status;
}

}  // namespace lacuna
