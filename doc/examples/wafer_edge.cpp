// SPDX-License-Identifier: Apache-2.0
//
// A module of one's own at the edge of the wafer. `SlowStore` feeds the weights of one column in
// place of that column's injector, as a memory that gives a word only every few cycles would. The
// product is planned as always; what does the slow column cost? Each run is made under both
// engines, which must agree in every cycle.
//
//   build/release/doc/examples/wafer_edge
#include <fmt/format.h>

#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/wse/simulate.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/sim_context.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {
namespace {

constexpr std::uint32_t kColumn = 2;

/// Pushes its words in order, one every `period` cycles at most.
class SlowStore : public sc_core::sc_module, public Clocked {
 public:
  SlowStore(const sc_core::sc_module_name& name, std::vector<wse::Wavelet> words, Cycle period)
      : sc_module(name), words_(std::move(words)), period_(period) {}

  sc_core::sc_port<PushIf<wse::Wavelet>> out{"out"};

  Cycle step(Cycle now) override {
    if (next_ == words_.size()) return kNever;
    if (now < ready_) return ready_;
    if (!out->can_push(now)) return kNever;  // the channel wakes us when it has room
    out->push(now, words_[next_++]);
    ready_ = now + period_;
    return ready_;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  std::vector<wse::Wavelet> words_;
  Cycle period_;
  Cycle ready_ = 0;
  std::size_t next_ = 0;
};

/// A 24 x 16 weight matrix that keeps every third element, on 4 x 4 cores, 32 tokens.
wse::Program make_program(const wse::StreamingSetup& setup) {
  Mask mask;
  mask.rows = 24;
  mask.cols = 16;
  mask.offsets.push_back(0);
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    for (std::uint32_t c = r % 3; c < mask.cols; c += 3) mask.columns.push_back(c);
    mask.offsets.push_back(mask.columns.size());
  }
  wse::StreamingJob job;
  job.gemm.m = mask.rows;
  job.gemm.k = mask.cols;
  job.gemm.n = 32;
  job.gemm.mask = &mask;
  return wse::plan_streaming(job, setup).program;
}

/// What the injector of a column would send: the weights of each row, then its command.
std::vector<wse::Wavelet> words_of(const wse::StreamingKernel& kernel, std::uint32_t column) {
  std::vector<wse::Wavelet> words;
  for (std::uint32_t step = 0; step < kernel.steps; ++step) {
    words.insert(words.end(), kernel.count(step, column), {0, kernel.weights, false});
    words.push_back({0, kernel.weights, true});
  }
  return words;
}

struct Outcome {
  Cycle cycles;
  std::vector<Event> events;
};

Outcome simulate(Engine engine, Cycle period) {
  const SimContext context;
  wse::StreamingSetup setup;
  setup.wafer.columns = 4;
  setup.wafer.rows = 4;
  wse::Program program = make_program(setup);
  program.inlets = {kColumn};

  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  wse::HardwareParams params;
  wse::Wafer wafer("wafer", params, program, clock, {engine, 0, 0, 1, true});
  SlowStore store("store", words_of(program.kernel, kColumn), period);
  Channel<wse::Wavelet> channel(clock, 2);
  store.out.bind(channel);
  wafer.inlet(0).in.bind(channel);
  clock.add(store);

  Outcome outcome;
  outcome.cycles = clock.run_until_done();
  wafer.settle(outcome.cycles);
  outcome.events = wafer.log().sorted();
  wse::sort_events(outcome.events);
  return outcome;
}

}  // namespace
}  // namespace lacuna

int sc_main(int /*argc*/, char** /*argv*/) {
  bool equal = true;
  for (const lacuna::Cycle period : {1U, 8U, 40U}) {
    const lacuna::Outcome clocked = lacuna::simulate(lacuna::Engine::clocked, period);
    const lacuna::Outcome event = lacuna::simulate(lacuna::Engine::event, period);
    equal = equal && clocked.cycles == event.cycles && clocked.events == event.events;
    fmt::print("a word every {} cycles: {} cycles, {} events\n", period, event.cycles,
               event.events.size());
  }
  fmt::print("the engines {}\n", equal ? "agree" : "differ");
  return equal ? 0 : 1;
}
