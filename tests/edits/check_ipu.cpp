// SPDX-License-Identifier: Apache-2.0
// edit_check_ipu CASES PATH=VALUE: random programs on random chips, `event` against `clocked`, with
// a parameter that an edit has declared. Fails if they differ, or if the parameter changes no time.

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <systemc>  // declares sc_main with C linkage

#include "tests/support/ipu/chip_bench.hpp"

namespace lacuna::ipu {
namespace {

Outcome run(const Scenario& scenario, Engine engine, std::uint64_t order) {
  Execution execution;
  execution.domain = execution.tiles = engine;
  execution.order = order;
  return simulate(scenario, execution);
}

bool same(const Outcome& a, const Outcome& b) {
  return a.cycles == b.cycles && a.counters == b.counters && a.issues == b.issues &&
         a.accounts == b.accounts && a.events == b.events && a.memories == b.memories &&
         a.ports == b.ports;
}

int compare(std::uint64_t cases, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  std::uint64_t wrong = 0;
  std::uint64_t changed = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    Scenario scenario = random_scenario(seed);
    const Cycle before = run(scenario, Engine::event, 0).cycles;
    scenario.params.set(setting.substr(0, equals), setting.substr(equals + 1));
    const Outcome clocked = run(scenario, Engine::clocked, seed);
    if (clocked.cycles != before) ++changed;
    if (same(clocked, run(scenario, Engine::event, 0))) continue;
    ++wrong;
    fmt::print("event is not clocked: {}\n", seed);
  }
  fmt::print("{} programs compared, {} differ between engines, {} take another time\n", cases,
             wrong, changed);
  return wrong == 0 && changed != 0 ? 0 : 1;
}

}  // namespace
}  // namespace lacuna::ipu

// the library of SystemC calls it
[[gnu::visibility("default")]] int sc_main(int argc, char* argv[]) {
  try {
    if (argc != 3) return 2;
    return lacuna::ipu::compare(std::strtoull(argv[1], nullptr, 10), argv[2]);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
