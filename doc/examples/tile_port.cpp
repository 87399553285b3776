// SPDX-License-Identifier: Apache-2.0
//
// A module of one's own at a tile's port. Tile 0 multiplies, sends its results out of its port to
// `Scaler`, an sc_module that knows nothing of Lacuna but the channel contract, and tile 1 takes
// what comes back. The run is made under both engines, which must agree in every cycle.
//
//   build/release/doc/examples/tile_port
#include <fmt/format.h>

#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

#include "models/ipu/ipu_chip.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna {
namespace {

constexpr std::uint32_t kWords = 256;

/// Doubles each word that arrives; busy for three cycles with every one.
class Scaler : public sc_core::sc_module, public Clocked {
 public:
  explicit Scaler(const sc_core::sc_module_name& name) : sc_module(name) {}

  sc_core::sc_port<PopIf<std::uint32_t>> in{"in"};
  sc_core::sc_port<PushIf<std::uint32_t>> out{"out"};

  Cycle step(Cycle now) override {
    if (now < free_) return free_;
    // the channel wakes us when a word has come, or when there is room for it
    if (!in->can_pop(now) || !out->can_push(now)) return kNever;
    out->push(now, 2 * in->pop(now));
    free_ = now + kBusy;
    return free_;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  static constexpr Cycle kBusy = 3;
  Cycle free_ = 0;
};

/// Two tiles: the first works for a while and sends, the second receives.
ipu::Program make_program(const ipu::ChipParams& params) {
  ipu::ProgramBuilder builder(params);
  const std::uint32_t amp = builder.bundle(ipu::Bundle("amp").add(ipu::Tally::amp_mac_fp16, 64));
  const std::uint32_t loop = builder.codelet({ipu::issue(amp, 100)});
  const std::uint32_t launch = builder.codelet({ipu::run(0)});
  const std::uint32_t worker = builder.worker({{loop, {}}});
  const std::vector<std::uint32_t> workers(params.tile.workers, worker);
  builder.work(0, builder.vertex({{launch, {}}}, workers));

  ipu::WorkItem send;
  send.kind = ipu::WorkItem::Kind::port_send;
  send.words = kWords;
  builder.work(0, send);
  ipu::WorkItem receive = send;
  receive.kind = ipu::WorkItem::Kind::port_receive;
  builder.work(1, receive);
  builder.superstep(builder.compute_set("ports"), ipu::kNone);

  ipu::Program& program = builder.program();
  program.mac_algorithmic = std::uint64_t{100} * 64 * params.tile.workers;
  program.values = true;
  program.memory_words = kWords;
  ipu::Image image{{0, 0}, {}};
  for (std::uint32_t i = 0; i < kWords; ++i) image.words.push_back(i);
  program.images.push_back(std::move(image));
  return builder.take();
}

struct Outcome {
  Cycle cycles;
  std::vector<Event> events;
  std::uint32_t last_word;
};

Outcome simulate(Engine engine) {
  const SimContext context;
  ipu::ChipParams params;
  params.ipu.tiles = 2;
  const ipu::Program program = make_program(params);
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  ipu::IpuChip chip("chip", clock, params, program, engine, true);

  Channel<std::uint32_t> to_scaler(clock, 4);
  Channel<std::uint32_t> from_scaler(clock, 4, 20);
  Scaler scaler("scaler");
  chip.tile(0).out.bind(to_scaler);
  scaler.in.bind(to_scaler);
  scaler.out.bind(from_scaler);
  chip.tile(1).in.bind(from_scaler);
  clock.add(scaler);

  const Cycle cycles = chip.run();
  return {cycles, chip.events(), chip.memory(1).word(kWords - 1)};
}

}  // namespace
}  // namespace lacuna

int sc_main(int /*argc*/, char** /*argv*/) {
  const lacuna::Outcome clocked = lacuna::simulate(lacuna::Engine::clocked);
  const lacuna::Outcome event = lacuna::simulate(lacuna::Engine::event);
  fmt::print("{} cycles, {} events, last word {}\n", event.cycles, event.events.size(),
             event.last_word);
  const bool equal = clocked.cycles == event.cycles && clocked.events == event.events &&
                     clocked.last_word == event.last_word;
  const bool right = event.last_word == 2 * (lacuna::kWords - 1);
  fmt::print("the engines {}\n", equal ? "agree" : "differ");
  return equal && right ? 0 : 1;
}
