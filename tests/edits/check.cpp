// SPDX-License-Identifier: Apache-2.0
// edit_check CASES [STATISTIC]: random programs on random hardware, `event` against `clocked`, as
// the hardware's text says it now. Fails if they differ. Fails too if the edit changed nothing: if
// no program differs from the oracle, which knows the hardware as it is documented; or, of an edit
// that adds a statistic of cores, if no core has counted any.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>  // declares sc_main with C linkage

#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/stream_tallies.hpp"
#include "models/wse/task_stats.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/oracle/tasks.hpp"
#include "tests/support/wse/random_forms.hpp"
#include "tests/support/wse/random_streaming.hpp"
#include "tests/support/wse/random_tasks.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

constexpr Cycle kPatience = 30000;

struct Checked {
  std::uint64_t compared = 0;
  std::uint64_t unlike_oracle = 0;
  std::uint64_t wrong = 0;
  std::uint64_t counted = 0;  // of the statistic

  void complain(const std::string& text) {
    if (++wrong <= 5) fmt::print("event is not clocked: {}\n", text);
  }
};

std::optional<TaskOutcome> run(const TaskCase& made, Engine engine, std::uint64_t shuffle) {
  RunOptions options;
  options.engine = engine;
  options.shuffle = shuffle;
  try {
    return simulate(made.params, made.program, options);
  } catch (const DeadlockError&) {
    return std::nullopt;
  }
}

std::uint64_t value_of(const StatGroup& group, std::string_view statistic) {
  std::uint64_t value = 0;
  for (const Counter* const counter : group.counters()) {
    if (counter->name() == statistic) value += counter->value();
  }
  return value;
}

/// What cores and routers that run tasks have counted of it.
std::uint64_t counted(const TaskOutcome& run, std::string_view statistic) {
  TaskStats stats;
  stats.add(run, 1, run.cycles);
  return value_of(stats.core, statistic) + value_of(stats.router, statistic);
}

void check(const char* what, const TaskCase& made, std::uint64_t seed, std::string_view statistic,
           Checked& tally) {
  const std::optional<TaskOutcome> expected =
      oracle::run_tasks(made.params, made.program, kPatience);
  if (!expected) return;  // it waits for ever, or for long
  const std::optional<TaskOutcome> clocked = run(made, Engine::clocked, seed);
  const std::optional<TaskOutcome> event = run(made, Engine::event, 0);
  ++tally.compared;
  if (!clocked || !event) {
    if (clocked.has_value() != event.has_value()) tally.complain(fmt::format("{} {}", what, seed));
    ++tally.unlike_oracle;
    return;
  }
  tally.counted += counted(*clocked, statistic);
  TaskOutcome plain = *expected;
  plain.events.clear();
  if (!difference(plain, *clocked).empty()) ++tally.unlike_oracle;
  const std::string where = difference(*clocked, *event);
  if (!where.empty()) tally.complain(fmt::format("{} {}: {}", what, seed, where));
}

/// Streams, one by one and in lanes.
void check_stream(std::uint64_t seed, std::string_view statistic, Checked& tally) {
  StreamingScenario scenario = random_reduction(seed, Rows::random_blocks);
  const Program program = make_program(scenario);
  RunOptions clocked;
  clocked.engine = Engine::clocked;
  clocked.shuffle = seed;
  const WaferOutcome definition = simulate(scenario.params, program, clocked);
  ++tally.compared;
  for (const CoreCounters& core : definition.cores) {
    for (std::size_t i = 0; i < kStreamTallies.size(); ++i) {
      if (kStreamTallies[i].name == statistic) tally.counted += core.tallies.at(i);
    }
  }
  std::string where = difference(definition, simulate(scenario.params, program, RunOptions()));
  const auto lanes = stream_in_lanes(scenario.params, program, {});
  if (where.empty() && lanes) {
    where =
        difference(definition, unfold(lanes->kept, lanes->fold, program, scenario.params.router));
  }
  if (!where.empty()) tally.complain(fmt::format("stream {}: {}", seed, where));
}

int compare(std::uint64_t cases, std::string_view statistic) {
  Checked tally;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    check("tasks", random_tasks(seed), seed, statistic, tally);
    check("line", random_relays(seed), seed, statistic, tally);
    check("circle", random_shifts(seed), seed, statistic, tally);
    check_stream(seed, statistic, tally);
  }
  fmt::print("{} programs compared, {} differ between engines, {} from the oracle\n",
             tally.compared, tally.wrong, tally.unlike_oracle);
  if (!statistic.empty()) fmt::print("{} counted of {}\n", tally.counted, statistic);
  const bool changes = statistic.empty() ? tally.unlike_oracle != 0 : tally.counted != 0;
  return tally.wrong == 0 && changes ? 0 : 1;
}

}  // namespace
}  // namespace lacuna::wse

// the library of SystemC calls it
[[gnu::visibility("default")]] int sc_main(int argc, char* argv[]) {
  try {
    return lacuna::wse::compare(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100,
                                argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
