// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "sim/kernel/channel.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna {
namespace {

/// Does next to nothing, so that what is measured is the clock.
class Ticker final : public Clocked {
 public:
  Cycle step(Cycle now) override {
    ++steps_;
    return now + 1;
  }

 private:
  std::uint64_t steps_ = 0;
};

/// Steps per second of blocks that are all awake, by the number of blocks.
void awake(benchmark::State& state, Engine engine) {
  constexpr Cycle kCycles = 1000;
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  std::vector<std::unique_ptr<Ticker>> blocks;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    blocks.push_back(std::make_unique<Ticker>());
    clock.add(*blocks.back());
  }
  for (auto _ : state) clock.run(kCycles);
  state.SetItemsProcessed(static_cast<std::int64_t>(clock.steps()));
}

BENCHMARK_CAPTURE(awake, clocked, Engine::clocked)->Arg(1)->Arg(64)->Arg(1472);
BENCHMARK_CAPTURE(awake, event, Engine::event)->Arg(1)->Arg(64)->Arg(1472);

/// A push and a pop in every cycle.
void channel(benchmark::State& state) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), Engine::clocked);
  Channel<std::uint32_t> tokens(clock, 4);
  Cycle now = 0;
  for (auto _ : state) {
    tokens.push(now, 1);
    ++now;
    benchmark::DoNotOptimize(tokens.pop(now));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(channel);

/// Appointments booked and kept, spread over the next `range` cycles.
void agenda(benchmark::State& state) {
  Agenda agenda;
  std::vector<std::uint32_t> due;
  const auto range = static_cast<std::uint64_t>(state.range(0));
  for (std::uint32_t i = 0; i < 1472; ++i) agenda.book(1 + i % range, i);
  std::uint64_t kept = 0;
  for (auto _ : state) {
    const Cycle now = agenda.next();
    due.clear();
    agenda.take(now, due);
    for (const std::uint32_t block : due) agenda.book(now + 1 + (block * 7919U) % range, block);
    kept += due.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kept));
}

BENCHMARK(agenda)->Arg(1)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace lacuna
