// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "models/ipu/ipu_chip.hpp"
#include "tests/support/event_log.hpp"

namespace lacuna::ipu {

/// A chip, its program, and how unruly the modules at its tiles' ports are.
struct Scenario {
  ChipParams params;
  Program program;
  double stalls = 0;  // how often a module at a port holds back
  Cycle jitter = 0;   // further cycles a token may take between tile and module
  std::uint64_t seed = 1;
};

/// How a scenario is simulated. Nothing here may change the outcome.
struct Execution {
  Engine domain = Engine::clocked;
  Engine tiles = Engine::clocked;
  std::uint64_t order = 0;
  bool event_log = true;
  Cycle interval = 0;
};

/// What all tiles had counted at the end of an interval, with the cycle stack.
using Border = std::pair<Cycle, std::map<std::string, std::uint64_t>>;

struct Outcome {
  Cycle cycles = 0;
  std::map<std::string, std::uint64_t> counters;     // work and cycle stack, all tiles
  std::vector<std::uint64_t> issues;                 // by bundle
  std::vector<std::vector<std::uint64_t>> accounts;  // by tile and Spend
  std::vector<Border> borders;
  std::vector<Event> events;
  std::vector<std::vector<std::uint32_t>> memories;  // by tile, if the program has values
  std::map<TileId, lacuna::test::EventLog<std::uint32_t>> ports;  // what came out of them
};

/// Runs the scenario. Each tile whose port the program uses has a Feeder or Collector bound.
Outcome simulate(const Scenario& scenario, const Execution& execution = {});

/// A program of random codelets, vertices, transfers, port transfers and values on random hardware,
/// of which `path` has `value` if it is given: the program is made for that too.
Scenario random_scenario(std::uint64_t seed, const std::string& path = {},
                         const std::string& value = {});

inline void PrintTo(const Execution& execution, std::ostream* out) {
  const auto name = [](Engine engine) { return engine == Engine::clocked ? "clocked" : "event"; };
  *out << "domain " << name(execution.domain) << ", tiles " << name(execution.tiles) << ", order "
       << execution.order;
}

}  // namespace lacuna::ipu

namespace lacuna {

inline void PrintTo(const Event& event, std::ostream* out) {
  *out << "cycle " << event.cycle << " unit " << event.unit << " "
       << ipu::event_kind_names().at(event.kind) << " " << event.argument;
}

}  // namespace lacuna
