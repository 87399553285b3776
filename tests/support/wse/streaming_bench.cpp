// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/streaming_bench.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/base/random.hpp"
#include "workloads/mapping/wse/exchange.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {

namespace {

/// Each core keeps a number of non-zeros of each of 16 features that differs from core to core.
void hold(const StreamingScenario& scenario, StreamingKernel& kernel) {
  constexpr std::uint32_t kFeatures = 16;
  kernel.stalls = 0;
  for (std::size_t core = 0; core < kernel.tokens.size() * scenario.columns; ++core) {
    std::vector<std::uint16_t> mine;
    for (std::uint32_t j = 0; j < kFeatures; ++j) {
      mine.push_back(static_cast<std::uint16_t>((core * 7 + j * 5) % (scenario.held + 1)));
    }
    kernel.held.push_back(mine);
  }
  kernel.payloads.resize(scenario.columns);
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::uint32_t c = 0; c < scenario.columns; ++c) {
      for (std::uint32_t i = 0; i < kernel.count(s, c); ++i) {
        kernel.payloads[c].push_back((i % kFeatures) << 16U);
      }
    }
  }
}

/// A row of routers above the others; words enter in the middle group.
void copy_streams(const StreamingScenario& scenario, Program& program) {
  const ColumnGroups& groups = program.kernel.groups;
  program.from_north = true;
  program.distribution_rows = 1;
  program.entry = 1;
  program.kernel.tokens.insert(program.kernel.tokens.begin(), 0);
  for (std::uint32_t c = 0; c < scenario.columns; ++c) {
    program.source.push_back(groups.column_of(scenario.groups / 2, groups.place_of(c)));
  }
}

}  // namespace

std::vector<std::vector<std::uint16_t>> random_scan(std::uint64_t seed, const Program& program) {
  Random random(seed);
  std::vector<std::vector<std::uint16_t>> scan(program.columns);
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    std::size_t words = program.kernel.steps + program.kernel.zeros_of(c);
    for (std::uint32_t s = 0; s < program.kernel.steps; ++s) words += program.kernel.words(s, c);
    for (std::size_t i = 0; i < words; ++i) {
      const bool long_one = random.bounded(40) == 0;
      scan[c].push_back(static_cast<std::uint16_t>(1 + random.bounded(long_one ? 300 : 4)));
    }
  }
  return scan;
}

std::vector<std::vector<std::uint32_t>> random_zeros(std::uint64_t seed, const Program& program) {
  Random random(seed);
  const StreamingKernel& kernel = program.kernel;
  std::vector<std::vector<std::uint32_t>> zeros(program.columns);
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    std::size_t words = kernel.steps;
    for (std::uint32_t s = 0; s < kernel.steps; ++s) words += kernel.words(s, c);
    for (std::size_t i = 0; i < words; ++i) {
      const bool many = random.bounded(60) == 0;
      zeros[c].push_back(static_cast<std::uint32_t>(random.bounded(many ? 200 : 4)));
    }
  }
  for (std::uint32_t c = 0; c < program.columns && !program.source.empty(); ++c) {
    zeros[c] = zeros[program.source[c]];
  }
  return zeros;
}

Program make_program(const StreamingScenario& scenario) {
  Program program;
  StreamingKernel& kernel = program.kernel;
  kernel.groups = {scenario.groups, scenario.columns / scenario.groups, scenario.interleaved};
  kernel.steps = static_cast<std::uint32_t>(scenario.final_column.size()) / scenario.groups;
  kernel.lookahead = scenario.lookahead;
  kernel.simd = scenario.simd;
  kernel.beats_that_add = scenario.beats_that_add;
  kernel.first_beats = scenario.first_beats;
  kernel.reduce_cycles = scenario.reduce_cycles;
  kernel.gather_cycles = scenario.gather_cycles;
  kernel.form = scenario.form;
  kernel.int8 = scenario.int8;
  kernel.stalls = scenario.stalls;
  kernel.tokens = scenario.tokens;
  kernel.final_column = scenario.final_column;
  kernel.counts = scenario.counts;
  program.rate = scenario.rate;
  program.entry = scenario.entry;
  if (scenario.copies) copy_streams(scenario, program);
  const std::uint32_t width = scenario.columns / scenario.groups;
  const bool ring = scenario.reduce == Reduce::ring || width == 1;
  Reduction reduction;
  if (!ring) reduction = plan_reduction(scenario.reduce, width, scenario.input_queues);
  if (ring && scenario.groups > 1) reduction = ring_reduction(width);
  if (scenario.groups > 1 && scenario.buses != 0) {
    std::vector<std::uint32_t> keeps(scenario.columns, 0);
    for (const std::uint32_t keeper : scenario.final_column) ++keeps[keeper];
    kernel.exchange = plan_exchange(
        {kernel.groups, scenario.buses,
         scenario.bus_order == RowOrder::ring ? ring_order(width) : std::vector<std::uint32_t>{},
         1 + reduction.colors * (scenario.interleaved ? scenario.groups : 1)},
        keeps);
    kernel.exchange.send_cycles = scenario.send_cycles;
    kernel.exchange.take_cycles = scenario.take_cycles;
  }
  route_streaming(program, scenario.columns, std::move(reduction));
  if (scenario.zero_seed != 0) {
    filter_at_receivers(random_zeros(scenario.zero_seed, program), program);
  }
  if (scenario.scan_seed != 0) program.scan_cycles = random_scan(scenario.scan_seed, program);
  if (scenario.held != 0) hold(scenario, kernel);
  return program;
}

void share_stream(std::uint32_t fifo, Program& program) {
  program.column_fifo = fifo;
  program.scan_cycles.clear();
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
