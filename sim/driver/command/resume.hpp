// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sim/driver/command/output.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/journal.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// What must be the same for kept parts to be of this request, beside what `about` says of it. That
/// is: the files it names, the parameters of the machines, the prices and the program.
Journal::Facts facts_of_request(Journal::Facts about, const Options& options,
                                const std::vector<WorkloadTrace>& workloads,
                                const std::vector<const Machine*>& machines);

/// What a request says by its arguments, for facts_of_request().
Journal::Facts facts_of_arguments(const Options& options);

/// The command that makes a trace again: without --engine, which a trace does not have.
std::string command_of_trace(const Options& options);

/// The machines of some points, each once.
std::vector<const Machine*> machines_of(const std::vector<Point>& points);

/// Opens the journal beside `target` and says how many of its `points` were finished before; of a
/// single one how many of its `operations`, if it has some.
std::unique_ptr<Journal> open_journal(const std::filesystem::path& target,
                                      const Journal::Facts& facts, std::size_t points,
                                      std::size_t operations, const Options& options,
                                      std::ostream& said);

/// The part of a request that this process simulates, with --shard: every `all`-th point from
/// `first` on. Each share keeps its points beside the result folder, and a request with --resume
/// takes them.
struct Shard {
  std::size_t first = 0;
  std::size_t all = 1;

  bool has(std::size_t point) const { return point % all == first; }
};

/// What --shard says; all points without it.
Shard shard_of(const Options& options);

/// True with --shard, which makes no result. Says how many of all points are kept.
bool ends_as_share(const Options& options, std::size_t kept, std::size_t all,
                   const Streams& streams);

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

}  // namespace lacuna
