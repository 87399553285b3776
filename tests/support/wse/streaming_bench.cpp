// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/streaming_bench.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {

Program make_program(const StreamingScenario& scenario) {
  Program program;
  StreamingKernel& kernel = program.kernel;
  kernel.steps = static_cast<std::uint32_t>(scenario.final_column.size());
  kernel.lookahead = scenario.lookahead;
  kernel.simd = scenario.simd;
  kernel.beat_cycles = scenario.beat_cycles;
  kernel.tokens = scenario.tokens;
  kernel.final_column = scenario.final_column;
  kernel.counts = scenario.counts;
  program.rate = scenario.rate;
  route_streaming(program, scenario.columns);
  return program;
}

std::string trace_of(const WaferOutcome& outcome, UnitId unit) {
  std::multimap<std::pair<Cycle, bool>, std::string> items;  // in a cycle beats come last
  for (const Event& event : outcome.events) {
    if (event.unit != unit) continue;
    if (event.kind == kVectorActive) items.emplace(std::pair(event.cycle, false), "V");
    if (event.kind == kTask && event.argument == 1)
      items.emplace(std::pair(event.cycle, false), "C");
    if (event.kind != kBeatRun || (event.argument & 1U) == 0) continue;
    for (Cycle i = 0; i < event.argument >> 1U; ++i)
      items.emplace(std::pair(event.cycle + i, true), "r");
  }
  std::string text;
  for (const auto& [when, what] : items) {
    text += fmt::format("{}{}@{}", text.empty() ? "" : " ", what, when.first);
  }
  return text;
}

}  // namespace lacuna::wse
