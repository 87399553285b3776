// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kTokens = 64;
constexpr std::uint32_t kSteps = 256;

/// A row of `columns` cores with 16 features each, of which `density` per cent are kept.
Program streaming(std::uint32_t columns, std::uint32_t rows, std::uint32_t density) {
  Program program;
  StreamingKernel& kernel = program.kernel;
  kernel.steps = kSteps;
  kernel.tokens.assign(rows, kTokens);
  Random random(5);
  const std::vector<std::uint32_t> ring = ring_order(columns);
  for (std::uint32_t s = 0; s < kSteps; ++s) {
    kernel.final_column.push_back(ring[s % columns]);
    for (std::uint32_t c = 0; c < columns; ++c) {
      std::uint32_t kept = 0;
      for (unsigned j = 0; j < 16; ++j) kept += random.bounded(100) < density ? 1 : 0;
      kernel.counts.push_back(kept);
    }
  }
  program.rate = {columns, 17};
  route_streaming(program, columns);
  return program;
}

/// A row of cores in the fewest words: injectors with a token bucket, weight queue, issue slot and
/// ring, column by column and cycle by cycle, for default parameters. What any exact simulation
/// of the row has to do, without lanes, agendas, logs and counters.
class MinimalRow {
 public:
  explicit MinimalRow(const Program& program)
      : kernel_(program.kernel), rate_(program.rate), cores_(program.columns) {
    for (std::size_t lane = 0; lane < cores_.size(); ++lane) {
      Core& core = cores_[lane];
      core.column = kernel_.ring[lane];
      const std::uint32_t before = kernel_.ring[(lane + cores_.size() - 1) % cores_.size()];
      core.one_hop = std::max(core.column, before) - std::min(core.column, before) == 1;
      core.left = core.sent_left = kernel_.count(0, core.column);
    }
    for (std::size_t s = 0; s < kernel_.steps; ++s) {
      std::size_t lane = 0;
      while (kernel_.ring[lane] != kernel_.final_column[s]) ++lane;
      final_lane_.push_back(lane);
    }
  }

  Cycle run() {
    Cycle end = 0;
    for (Cycle now = 0; finished_ != cores_.size(); ++now) {
      for (Core& core : cores_) step(core, now);
      for (std::size_t i = 0; i < cores_.size(); ++i) transit(i);
      inject(now);
      end = now + 1;
    }
    return end;
  }

 private:
  struct Core {
    std::uint32_t column = 0;
    std::uint32_t left = 0, sent_left = 0, send_step = 0;
    int edge = 0, weights = 0, weights_flight = 0, weights_seen = 0;
    int sums = 0, sums_flight = 0, sums_seen = 0;
    int out = 0, up = 0, up_flight = 0, up_seen = 0;
    int between = 0, between_flight = 0, between_seen = 0;
    int last = 0, last_flight = 0, last_seen = 0;
    int ready = 0, vector = 0, words = 0, buffers = 7;
    std::uint32_t step = 0, reduced = 0, pending = 0;
    bool full = false, command = false, holding = true, one_hop = false;
    bool needs_in = false, needs_out = false, releasing = false;
    bool weight_last = false, room = true, pushed = false, granted = false;
  };

  void step(Core& c, Cycle /*now*/) {
    c.weights_seen += c.weights_flight & 1;
    c.weights_flight >>= 1;
    c.sums_seen += c.sums_flight & 1;
    c.sums_flight >>= 1;
    c.last_seen += c.last_flight & 1;
    c.last_flight >>= 1;
    const bool weight_may = c.edge > 0 && c.weights < 5;
    const bool sum_may = c.last_seen > 0 && c.sums < 5;
    const bool weight = weight_may && (!sum_may || !c.weight_last);
    c.granted = sum_may && !weight;
    if (weight || c.granted) c.weight_last = weight;
    c.room = c.edge < 2;
    if (weight) --c.edge, ++c.weights, c.weights_flight |= 2;
    if (c.granted) --c.last_seen, ++c.sums, c.sums_flight |= 2;

    c.buffers += c.releasing ? 1 : 0;
    if (c.words == 0 && c.pending > 0) load(c);
    if (c.ready > 0) --c.ready;
    const bool opening = !c.holding && c.step < kernel_.steps;
    if (c.full && c.ready == 0 && c.vector == 0 && c.holding) {
      c.full = false;
      c.command ? close(c) : void(c.vector = kTokens / 4);
    }
    if (!c.full && c.weights_seen > 0) {
      c.full = true;
      c.command = c.left == 0;
      if (!c.command) --c.left;
      c.ready = 4;
      --c.weights_seen, --c.weights;
    }
    if (opening && c.buffers > 0) c.holding = true, --c.buffers;
    issue(c);
  }

  void load(Core& c) {
    const std::size_t lane = static_cast<std::size_t>(&c - cores_.data());
    const std::size_t final = final_lane_[c.reduced++];
    c.words = kTokens / 2;
    c.needs_in = lane != (final + 1) % cores_.size();
    c.needs_out = lane != final;
  }

  void close(Core& c) {
    ++c.pending;
    c.holding = false;
    if (++c.step == kernel_.steps) return;
    c.left = kernel_.count(c.step, c.column);
    if (c.buffers > 0) c.holding = true, --c.buffers;
  }

  void issue(Core& c) {
    const std::size_t lane = static_cast<std::size_t>(&c - cores_.data());
    Core& next = cores_[(lane + 1) % cores_.size()];
    c.releasing = next.pushed = false;
    const bool reduce =
        c.words > 0 && (!c.needs_in || c.sums_seen > 0) && (!c.needs_out || next.out < 6);
    if (!reduce) {
      if (c.vector > 0) --c.vector;
      return;
    }
    --c.words;
    if (c.needs_in) --c.sums_seen, --c.sums;
    next.pushed = c.needs_out;
    if (c.words != 0) return;
    --c.pending;
    c.releasing = true;
    if (c.step == kernel_.steps && c.pending == 0) ++finished_;
  }

  /// The way of partial sums to a core: output queue, ramp, one or two links.
  void transit(std::size_t i) {
    Core& c = cores_[i];
    c.up_seen += c.up_flight & 1;
    c.up_flight >>= 1;
    c.between_seen += c.between_flight & 1;
    c.between_flight >>= 1;
    const bool up = c.out > 0 && c.up < 3;
    const bool last_open = c.last < 2;
    const bool out = c.up_seen > 0 && (c.one_hop ? last_open : c.between < 2);
    const bool pass = c.between_seen > 0 && last_open;
    if (c.pushed) ++c.out;
    if (up) --c.out, ++c.up, c.up_flight |= 2;
    if (out) --c.up, --c.up_seen;
    if (out && !c.one_hop) ++c.between, c.between_flight |= 1;
    if (pass) --c.between, --c.between_seen;
    if (pass || (out && c.one_hop)) ++c.last, c.last_flight |= 1;
    if (c.granted) --c.last;
  }

  void inject(Cycle now) {
    tokens_ = std::min(tokens_ + rate_.words, (2 * cores_.size() + 2) * rate_.per);
    for (std::size_t i = 0; i < cores_.size() && tokens_ >= rate_.per; ++i) {
      const std::size_t column = (now + i) % cores_.size();
      Core& c = cores_[column % 2 == 0 ? column / 2 : cores_.size() - 1 - column / 2];
      if (!c.room || c.send_step == kernel_.steps) continue;
      tokens_ -= rate_.per;
      ++c.edge;
      if (c.sent_left-- != 0) continue;
      if (++c.send_step != kernel_.steps) c.sent_left = kernel_.count(c.send_step, c.column);
    }
  }

  const StreamingKernel& kernel_;
  Rate rate_;
  std::vector<Core> cores_;
  std::vector<std::size_t> final_lane_;
  std::uint64_t tokens_ = 0;
  std::size_t finished_ = 0;
};

/// Columns times cycles a second, of the simulation of one row.
void count(benchmark::State& state, Cycle cycles, std::uint32_t columns) {
  state.SetItemsProcessed(static_cast<std::int64_t>(cycles * columns) * state.iterations());
  state.counters["cycles"] = static_cast<double>(cycles);
}

void minimal_row(benchmark::State& state) {
  const auto columns = static_cast<std::uint32_t>(state.range(0));
  const Program program = streaming(columns, 1, static_cast<std::uint32_t>(state.range(1)));
  Cycle cycles = 0;
  for (auto _ : state) cycles = MinimalRow(program).run();
  const Cycle exact = simulate({}, program, {Engine::clocked}).cycles;
  if (cycles != exact) state.SkipWithError("the loop is not exact");
  count(state, cycles, columns);
}

void row(benchmark::State& state, const RunOptions& options) {
  const auto columns = static_cast<std::uint32_t>(state.range(0));
  const Program program = streaming(columns, 1, static_cast<std::uint32_t>(state.range(1)));
  Cycle cycles = 0;
  for (auto _ : state) cycles = simulate({}, program, options).cycles;
  count(state, cycles, columns);
}

/// Router steps that moved a word and core steps that issued a beat, a second.
void active_steps(benchmark::State& state, const RunOptions& options) {
  const Program program = streaming(32, 16, 100);
  std::uint64_t active = 0;
  for (auto _ : state) {
    const WaferOutcome outcome = simulate({}, program, options);
    for (const CoreCounters& core : outcome.cores) {
      active += core.cycles[kFma] + core.cycles[kReduce];
    }
    for (const RouterCounters& router : outcome.routers) {
      for (const std::uint64_t words : router.sent) active += words;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(active));
}

const RunOptions kClocked{Engine::clocked};
const RunOptions kEvent{Engine::event};
const RunOptions kSweep = [] {
  RunOptions options;
  options.lanes = true;
  return options;
}();

BENCHMARK(minimal_row)->ArgsProduct({{64, 750}, {10, 50, 100}})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(row, event, kSweep)
    ->ArgsProduct({{64, 750}, {10, 50, 100}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(row, event_unit_by_unit, kEvent)
    ->ArgsProduct({{64}, {10, 50, 100}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(active_steps, clocked, kClocked)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(active_steps, event, kEvent)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lacuna::wse
