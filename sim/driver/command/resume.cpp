// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/resume.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestJournalled = std::size_t{1} << 30U;

constexpr const char* kKept = "\nlacuna: interrupted; what is finished is kept: --resume goes on\n";
constexpr const char* kNothingYet = "\nlacuna: interrupted before anything was finished\n";
constexpr const char* kLost = "\nlacuna: interrupted; nothing is kept without --out\n";

// a signal handler can reach nothing else
const char* line_to_say = kLost;  // NOLINT(*-avoid-non-const-global-variables)

void say_and_end(int /*signal*/) {
  const ssize_t ignored = write(STDERR_FILENO, line_to_say, std::strlen(line_to_say));
  static_cast<void>(ignored);  // nobody listens
  _exit(kNotCompleted);
}

fs::path journal_of(const fs::path& target) { return target.string() + ".journal"; }

/// Power over time is not among what processes and journals pass on: it follows from what is.
void add_power(const Point& point, const Pricing& pricing, RunRecord& record) {
  for (OpRecord& op : record.ops) {
    if (op.result.status != Status::ok || op.result.intervals.each.empty()) continue;
    pricing.price(*point.machine, op);
  }
}

}  // namespace

void check_resume(const Options& options) {
  if (options.resume && !options.out) {
    throw RequestError("--resume: needs --out, the folder to go on with");
  }
}

Journal::Facts facts_of_arguments(const Options& options) {
  return {{"arguments", shell_line(reproducing_arguments(options))}};
}

std::vector<const Machine*> machines_of(const std::vector<Point>& points) {
  std::vector<const Machine*> machines;
  for (const Point& point : points) {
    if (std::find(machines.begin(), machines.end(), point.machine) == machines.end()) {
      machines.push_back(point.machine);
    }
  }
  return machines;
}

Journal::Facts facts_of_request(Journal::Facts about, const Options& options,
                                const std::vector<WorkloadTrace>& workloads,
                                const std::vector<const Machine*>& machines) {
  Journal::Facts facts = std::move(about);
  facts.emplace_back("version of lacuna", build_version());
  for (const std::string& path : input_files(workloads)) {
    facts.emplace_back("SHA-256 of " + path, hash_of_input(path));
  }
  for (const char* const name : {"energy_table.csv", "energy_set.csv", "energy_actions.csv"}) {
    facts.emplace_back(std::string("SHA-256 of ") + name,
                       sha256(read_text(config_folder() / name, kLongestJournalled)));
  }
  if (options.energy_table) {
    facts.emplace_back("SHA-256 of --energy-table",
                       sha256(read_text(*options.energy_table, kLongestJournalled)));
  }
  if (options.layout && *options.layout != "planned") {
    facts.emplace_back("--layout", content_of_layouts(*options.layout));
  }
  for (std::size_t i = 0; i < machines.size(); ++i) {
    std::string text;
    for_each_parameter(*machines[i], [&](const std::string& path, const ParamBase& each) {
      text += path + '=' + each.value_text() + '\n';
    });
    facts.emplace_back(fmt::format("parameters of machine {}, {}", i, machines[i]->name()),
                       sha256(text));
  }
  return facts;
}

std::unique_ptr<Journal> open_journal(const fs::path& target, const Journal::Facts& facts,
                                      std::size_t all, const char* parts, bool resume, bool quiet,
                                      std::ostream& said) {
  auto journal = std::make_unique<Journal>(journal_of(target), facts, resume);
  if (!journal->finished().empty() && !quiet) {
    const std::string of_all = all == 0 ? "" : fmt::format(" of {}", all);
    said << fmt::format("lacuna: {}{} {} were finished before\n", journal->finished().size(),
                        of_all, parts);
  }
  return journal;
}

bool is_finished(const fs::path& target, const ResultHeader& own, const std::string& verb,
                 std::ostream& said) {
  std::error_code ignored;
  if (fs::exists(journal_of(target), ignored) || !is_result(target)) return false;
  const ResultHeader found = read_header(target);
  if (found.interrupted) return false;  // its journal is lost: from the beginning
  if (found.version == own.version && found.command == own.command &&
      found.workload == own.workload && found.workload_path == own.workload_path &&
      found.files == own.files) {
    said << fmt::format("lacuna: the {} is finished: {}\n", verb, target.string());
    return true;
  }
  throw RequestError(fmt::format(
      "--resume: nothing is kept of this request, and '{}' is the result of another one, or of "
      "files that have changed since:\n  lacuna {}\nWithout --resume it is replaced",
      target.string(), shell_line(found.command)));
}

std::vector<std::optional<RunRecord>> kept_records(const Journal* journal, std::size_t all) {
  std::vector<std::optional<RunRecord>> records(all);
  if (journal == nullptr) return records;
  for (const auto& [index, bytes] : journal->finished()) records.at(index) = decode_record(bytes);
  return records;
}

bool run_rest(const std::vector<Point>& points, const RestRunner& how, Journal* journal,
              Progress& progress, std::vector<std::optional<RunRecord>>& records) {
  std::vector<Point> rest;
  std::vector<std::size_t> places;  // among all
  const auto add = [&](std::size_t i) {
    if (records[i]) return;
    rest.push_back(points[i]);
    places.push_back(i);
  };
  if (how.order != nullptr) std::for_each(how.order->begin(), how.order->end(), add);
  for (std::size_t i = 0; how.order == nullptr && i < points.size(); ++i) add(i);
  Forking forking = how.forking;
  forking.finished = [&](std::size_t index, const RunRecord& record) {
    if (journal != nullptr) journal->add(places[index], encode_record(record));
  };
  Finished finished =
      how.ranks != nullptr && how.ranks->several()
          ? how.ranks->run(rest, places, how.settings, progress, forking)
          : run_forked(rest, how.settings, how.masks, how.pricing, how.jobs, progress, forking);
  progress.clear();
  for (std::size_t i = 0; i < finished.records.size(); ++i) {
    if (finished.records[i]) records[places[i]] = std::move(finished.records[i]);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (records[i]) add_power(points[i], how.pricing, *records[i]);
  }
  return !finished.interrupted;
}

InterruptLine::InterruptLine(bool keeps, bool kept) {
  line_to_say = !keeps ? kLost : kept ? kKept : kNothingYet;
  struct sigaction action = {};
  action.sa_handler = say_and_end;
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

void InterruptLine::has_kept() {
  if (line_to_say == kNothingYet) line_to_say = kKept;
}

void InterruptLine::restore() const {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

}  // namespace lacuna
