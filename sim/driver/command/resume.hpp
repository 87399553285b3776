// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/driver/command/output.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/journal.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

/// RequestError if --resume is given without --out, the folder that says what to go on with.
void check_resume(const Options& options);

/// What must be the same for kept parts to be of this request, beside what `about` says of it: the
/// files it names, the parameters of the machines, the prices and the program.
Journal::Facts facts_of_request(Journal::Facts about, const Options& options,
                                const std::vector<WorkloadTrace>& workloads,
                                const std::vector<const Machine*>& machines);

/// What a request says by its arguments, for facts_of_request().
Journal::Facts facts_of_arguments(const Options& options);

/// The machines of some points, each once.
std::vector<const Machine*> machines_of(const std::vector<Point>& points);

/// Opens the journal beside `target` and says how many of its `all` parts (0: not known yet), such
/// as "points", were finished before.
std::unique_ptr<Journal> open_journal(const std::filesystem::path& target,
                                      const Journal::Facts& facts, std::size_t all,
                                      const char* parts, bool resume, bool quiet,
                                      std::ostream& said);

inline std::unique_ptr<Journal> open_journal(const Output& output, const Journal::Facts& facts,
                                             std::size_t all, const char* parts,
                                             const Options& options, const Streams& streams) {
  return open_journal(output.target(), facts, all, parts, options.resume, options.quiet,
                      streams.err);
}

/// True, and said, if a resumed request has nothing left to do: no journal, and its result, which
/// would say `own` of itself, is in `target`. RequestError if that is the result of another one.
bool is_finished(const std::filesystem::path& target, const ResultHeader& own,
                 const std::string& verb, std::ostream& said);

inline bool is_finished(const Output& output, const std::string& name,
                        const std::vector<WorkloadTrace>& workloads, const Options& options,
                        const Streams& streams) {
  return options.resume &&
         is_finished(output.target(), output.header(name, workloads), options.verb, streams.err);
}

/// The finished points of a journal, each at its place among `all`.
std::vector<std::optional<RunRecord>> kept_records(const Journal* journal, std::size_t all);

/// How points that are left are run: one of `ranks` if there are several, else child processes.
struct RestRunner {
  const RunSettings& settings;
  MaskStore& masks;
  const Pricing& pricing;
  std::size_t jobs = 1;
  Forking forking;  // but for `finished`
  MpiRanks* ranks = nullptr;
  const std::vector<std::size_t>* order = nullptr;  // which points, as they are begun; null: all
};

/// Runs the points that `records` lacks, each kept in the journal, if there is one, as it finishes.
/// False if that was interrupted.
bool run_rest(const std::vector<Point>& points, const RestRunner& how, Journal* journal,
              Progress& progress, std::vector<std::optional<RunRecord>>& records);

/// While it lives, Ctrl-C and SIGTERM end the process with status 1 and a line that says what
/// becomes of finished work.
class InterruptLine {
 public:
  /// `keeps` what is finished, of which there is some if `kept`.
  InterruptLine(bool keeps, bool kept);
  ~InterruptLine() { restore(); }
  InterruptLine(const InterruptLine&) = delete;
  InterruptLine& operator=(const InterruptLine&) = delete;

  /// Something that was finished is kept from now on.
  static void has_kept();

  /// In a child, which is to say nothing.
  void restore() const;

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

}  // namespace lacuna
