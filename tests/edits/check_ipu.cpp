// SPDX-License-Identifier: Apache-2.0
// edit_check_ipu CASES [STATISTIC] [PATH=VALUE]: random programs on random chips, `event` against
// `clocked`, with a statistic of tiles or a value of a parameter that an edit has declared. Fails
// if they differ, also at the ends of intervals; if no tile has counted the statistic, or the last
// interval does not end with what all have; or if the parameter changes no time.

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <systemc>  // declares sc_main with C linkage

#include "tests/support/ipu/chip_bench.hpp"

namespace lacuna::ipu {
namespace {

constexpr Cycle kInterval = 100;

struct Edit {
  std::string statistic;
  std::string path;
  std::string value;
};

struct Checked {
  std::uint64_t wrong = 0;
  std::uint64_t changed = 0;  // programs that take another time
  std::uint64_t counted = 0;  // of the statistic

  void complain(const char* what, std::uint64_t seed) {
    ++wrong;
    fmt::print("{}: {}\n", what, seed);
  }
};

Outcome run(const Scenario& scenario, Engine engine, std::uint64_t order) {
  Execution execution;
  execution.domain = execution.tiles = engine;
  execution.order = order;
  execution.interval = kInterval;
  return simulate(scenario, execution);
}

bool same(const Outcome& a, const Outcome& b) {
  return a.cycles == b.cycles && a.counters == b.counters && a.issues == b.issues &&
         a.accounts == b.accounts && a.borders == b.borders && a.events == b.events &&
         a.memories == b.memories && a.ports == b.ports;
}

/// What is counted of the statistic; 0 too if there is none of that name.
std::uint64_t counted(const std::map<std::string, std::uint64_t>& counters,
                      const std::string& statistic) {
  const auto found = counters.find(statistic);
  return found == counters.end() ? 0 : found->second;
}

void check(std::uint64_t seed, const Edit& edit, Checked& tally) {
  const Scenario scenario = random_scenario(seed, edit.path, edit.value);
  const Outcome clocked = run(scenario, Engine::clocked, seed);
  const Outcome event = run(scenario, Engine::event, 0);
  if (!same(clocked, event)) tally.complain("event is not clocked", seed);
  if (!edit.path.empty() && run(random_scenario(seed), Engine::event, 0).cycles != clocked.cycles) {
    ++tally.changed;
  }
  const std::uint64_t all = counted(clocked.counters, edit.statistic);
  tally.counted += all;
  if (!clocked.borders.empty() && counted(clocked.borders.back().second, edit.statistic) != all) {
    tally.complain("intervals do not end with what all tiles have counted", seed);
  }
}

int compare(std::uint64_t cases, const Edit& edit) {
  Checked tally;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) check(seed, edit, tally);
  fmt::print("{} programs compared, {} wrong", cases, tally.wrong);
  if (!edit.path.empty()) fmt::print(", {} take another time", tally.changed);
  if (!edit.statistic.empty()) fmt::print(", {} counted of {}", tally.counted, edit.statistic);
  fmt::print("\n");
  const bool felt = (edit.path.empty() || tally.changed != 0) &&
                    (edit.statistic.empty() || tally.counted != 0) &&
                    !(edit.path.empty() && edit.statistic.empty());
  return tally.wrong == 0 && felt ? 0 : 1;
}

}  // namespace
}  // namespace lacuna::ipu

// the library of SystemC calls it
[[gnu::visibility("default")]] int sc_main(int argc, char* argv[]) {
  try {
    if (argc < 3) return 2;
    lacuna::ipu::Edit edit;
    for (int i = 2; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        edit.statistic = word;
      } else {
        edit.path = word.substr(0, equals);
        edit.value = word.substr(equals + 1);
      }
    }
    return lacuna::ipu::compare(std::strtoull(argv[1], nullptr, 10), edit);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
