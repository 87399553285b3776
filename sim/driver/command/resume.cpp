// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestJournalled = std::size_t{1} << 30U;

fs::path journal_of(const fs::path& target) { return target.string() + ".journal"; }

}  // namespace

Journal::Facts facts_of_arguments(const Options& options) {
  return {{"arguments", shell_line(reproducing_arguments(options))}};
}

std::string command_of_trace(const Options& options) {
  std::vector<std::string> arguments = reproducing_arguments(options);
  arguments.resize(arguments.size() - 2);
  return "lacuna " + shell_line(arguments);
}

std::vector<const Machine*> machines_of(const std::vector<Point>& points) {
  std::vector<const Machine*> machines;
  for (const Point& point : points) {
    if (!contains(machines, point.machine)) {
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

namespace {

constexpr const char* kShard = ".shard";

/// Takes what shards have kept beside `target` into its journal.
void adopt_shards(const fs::path& target, const Journal::Facts& facts, const Options& options,
                  Journal& journal) {
  for (const fs::path& path : files_in(fs::absolute(target).parent_path(), ".journal")) {
    if (!starts_with(path.filename().string(), target.filename().string() + kShard)) continue;
    if (!options.resume) {
      throw refused("a share of the points is kept in '{}'; --resume takes it, or remove it",
                    path.string());
    }
    Journal shard(path, facts, true);
    journal.adopt(shard);
    shard.remove();
  }
}

std::unique_ptr<Journal> open_at(fs::path target, const Journal::Facts& facts,
                                 const Options& options) {
  if (options.shard) {
    const Shard shard = shard_of(options);
    target += fmt::format("{}{}of{}", kShard, shard.first + 1, shard.all);
  }
  auto journal = std::make_unique<Journal>(journal_of(target), facts, options.resume);
  if (!options.shard) adopt_shards(target, facts, options, *journal);
  InterruptLine::say(journal->finished().empty() ? InterruptLine::Kept::nothing
                                                 : InterruptLine::Kept::kept);
  return journal;
}

}  // namespace

std::unique_ptr<Journal> open_journal(const fs::path& target, const Journal::Facts& facts,
                                      std::size_t points, std::size_t operations,
                                      const Options& options, std::ostream& said) {
  std::unique_ptr<Journal> journal = open_at(target, facts, options);
  const auto& kept = journal->finished();
  const std::size_t finished =
      operations != 0 ? kept.size()
                      : count_where(kept, [&](const auto& part) { return part.first < points; });
  if (finished == 0 || options.quiet) return journal;
  said << fmt::format("lacuna: {} of {} {} were finished before\n", finished,
                      operations != 0 ? operations : points,
                      operations != 0 ? "operations" : "points");
  return journal;
}

Shard shard_of(const Options& options) {
  if (!options.shard) return {};
  const std::string& text = *options.shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    throw refused("--shard: found '{}'; allowed: I/N, such as 2/4", text);
  }
  const std::uint64_t all = check_count("--shard: N", text.substr(slash + 1), 1, 100000);
  return {check_count("--shard: I", text.substr(0, slash), 1, all) - 1, all};
}

bool ends_as_share(const Options& options, std::size_t kept, std::size_t all,
                   const Streams& streams) {
  if (!options.shard) return false;
  streams.err << fmt::format(
      "lacuna: share {}: {} of {} points are kept beside {}; when all are, --resume without "
      "--shard makes the result\n",
      *options.shard, kept, all, *options.out);
  return true;
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
  throw refused(
      "--resume: nothing is kept of this request, and '{}' is the result of another one, or of "
      "files that have changed since:\n  lacuna {}\nWithout --resume it is replaced",
      target.string(), shell_line(found.command));
}

}  // namespace lacuna
