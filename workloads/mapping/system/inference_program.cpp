// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/inference_program.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "workloads/mapping/system/segment_work.hpp"

namespace lacuna::system {

namespace {

/// Appends what stages do to segments: one after the other each has its own, in a turn all are in
/// one.
class PassBuilder {
 public:
  /// Without `moves` the program has what the tiles hold, and nothing that takes time.
  PassBuilder(const SystemParams& params, const InferencePass& pass, bool moves = true)
      : params_(params), pass_(pass), moves_(moves) {}

  Program one_by_one() {
    Program program;
    program.used = pass_.chips();
    const std::size_t last = pass_.stages.size() - 1;
    program.add(made("embedding", [&](Segment& to) { embed(to); }));
    hold(program.order.back().before);
    for (std::size_t stage = 0; stage <= last; ++stage) {
      add_layers(stage, program);
      if (stage == last) break;
      program.add(
          made("hand-over", [&](Segment& to) { move(to, stage, stage + 1, pass_.hidden_bytes); }));
    }
    program.add(made("head", [&](Segment& to) { choose(to); }));
    if (last != 0) {
      program.add(made("tokens", [&](Segment& to) { move(to, last, 0, pass_.token_bytes); }));
    }
    return program;
  }

  Program all_at_once() {
    Segment turn = empty("turn of the pipeline");
    const std::size_t last = pass_.stages.size() - 1;
    embed(turn);
    for (std::size_t stage = 0; stage <= last; ++stage) {
      first_load(turn, stage);
      for (std::size_t i = 0; i < pass_.stages[stage].size(); ++i) {
        const LayerRun& run = pass_.stages[stage][i];
        for (unsigned n = 0; n < run.count; ++n) layer(turn, stage, run.kind, next_of(stage, i, n));
      }
    }
    choose(turn);
    // all send before any waits for what it gets
    Receives receives;
    for (std::size_t stage = 0; stage < last; ++stage) {
      send(turn, stage, stage + 1, pass_.hidden_bytes, receives);
    }
    if (last != 0) send(turn, last, 0, pass_.token_bytes, receives);
    turn.receive(receives, Use::links);
    Program program;
    program.used = pass_.chips();
    program.add(std::move(turn));
    return program;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  Segment empty(std::string name) const {
    Segment segment;
    segment.name = std::move(name);
    if (moves_) segment.chips.resize(params_.chips());
    if (pass_.alone) segment.synced = pass_.chips();
    return segment;
  }

  template <class Fill>
  Segment made(std::string name, Fill fill) const {
    Segment segment = empty(std::move(name));
    fill(segment);
    return segment;
  }

  Chips chips_of(std::size_t stage) const {
    Chips chips(pass_.tensor);
    std::iota(chips.begin(), chips.end(), static_cast<std::uint32_t>(stage * pass_.tensor));
    return chips;
  }

  /// What lies on the fullest tile of each stage all the time: of what streams the layers that are
  /// there at once. All of it is in streaming memory.
  void hold(std::vector<Holding>& to) const {
    for (std::size_t stage = 0; stage < pass_.stages.size(); ++stage) {
      TileBytes sum;
      TileBytes most;
      const auto look = [&](const TileBytes& tile, unsigned count) {
        sum.weights += count * tile.weights;
        sum.cache += count * tile.cache;
        most.weights = std::max(most.weights, tile.weights);
        most.cache = std::max(most.cache, tile.cache);
        most.values = std::max(most.values, tile.values);
      };
      for (const LayerRun& run : pass_.stages[stage]) {
        const SharedLayer& layer = pass_.kinds[run.kind];
        look(layer.tile, run.count);
        const auto elsewhere = [&](Held what, std::uint64_t bytes) {
          take(to, static_cast<std::uint32_t>(stage), what, run.count * bytes,
               Holding::Space::streaming);
        };
        elsewhere(Held::weights, layer.weights_elsewhere);
        elsewhere(Held::cache, layer.cache_elsewhere);
      }
      if (pass_.streamed_weights > 0) sum.weights = pass_.streamed_weights * most.weights;
      if (pass_.streamed_cache > 0) sum.cache = pass_.streamed_cache * most.cache;
      if (stage == 0) look(pass_.embedding_tile, 1);
      if (stage + 1 == pass_.stages.size()) look(pass_.head_tile, 1);
      const auto place = static_cast<std::uint32_t>(stage);
      take(to, place, Held::weights, sum.weights);
      take(to, place, Held::cache, sum.cache);
      take(to, place, Held::activations, most.values);
      take(to, place, Held::code, pass_.code_bytes);
      take(to, place, Held::buffers, pass_.buffer_bytes);
    }
  }

  void work(Segment& to, std::size_t stage, const ChipCost& cost) const {
    if (!moves_) return;
    add_work(to, chips_of(stage), Use::forward, cost, pass_.clock_ghz);
  }

  void together(Segment& to, std::size_t stage, Collective kind, std::uint64_t bytes) const {
    if (!moves_ || pass_.tensor < 2 || bytes == 0) return;
    add_collective(params_, {kind, {chips_of(stage)}, bytes, Use::links, 0}, to);
  }

  void stream(Segment& to, std::size_t stage, Way way, std::uint64_t bytes,
              std::size_t lane) const {
    if (moves_) move_all(to, chips_of(stage), way, bytes, Use::streaming, lane);
  }

  void embed(Segment& to) const {
    hold_while(to.memory, 0, pass_.embedding_tile.working);
    work(to, 0, pass_.embedding);
    together(to, 0, Collective::all_reduce, pass_.hidden_bytes);
  }

  /// The kind of the layer after the n-th of run i; none after a stage's last.
  std::size_t next_of(std::size_t stage, std::size_t i, unsigned n) const {
    const std::vector<LayerRun>& runs = pass_.stages[stage];
    if (n + 1 < runs[i].count) return runs[i].kind;
    return i + 1 < runs.size() ? runs[i + 1].kind : kNone;
  }

  /// What the first layer of a stage streams has nothing to hide behind.
  void first_load(Segment& to, std::size_t stage) const {
    if (!pass_.in_background || pass_.stages[stage].empty()) return;
    stream(to, stage, Way::load, pass_.kinds[pass_.stages[stage].front().kind].load_bytes, kMain);
  }

  void layer(Segment& to, std::size_t stage, std::size_t kind, std::size_t next) const {
    const SharedLayer& layer = pass_.kinds[kind];
    hold_while(to.memory, stage, layer.tile.working);
    if (!pass_.in_background) {
      stream(to, stage, Way::load, layer.load_bytes, kMain);
    } else if (next != kNone) {
      stream(to, stage, Way::load, pass_.kinds[next].load_bytes, kBackground);
    }
    work(to, stage, layer.attention);
    together(to, stage, Collective::all_reduce, pass_.hidden_bytes);
    work(to, stage, layer.ffn);
    together(to, stage, Collective::all_reduce, pass_.hidden_bytes);
    stream(to, stage, Way::store, layer.store_bytes, pass_.in_background ? kBackground : kMain);
    if (!pass_.in_background || !moves_) return;
    for (const std::uint32_t chip : chips_of(stage)) to.await_background(chip, Use::streaming);
  }

  /// Layers that are alike and have the like after them are one segment, run so many times.
  void add_layers(std::size_t stage, Program& program) const {
    if (pass_.in_background) {
      program.add(made("load", [&](Segment& to) { first_load(to, stage); }));
    }
    const std::vector<LayerRun>& runs = pass_.stages[stage];
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto add = [&](unsigned n, unsigned times) {
        if (times == 0) return;
        program.add(
            made("layer",
                 [&](Segment& to) { layer(to, stage, runs[i].kind, next_of(stage, i, n)); }),
            times);
      };
      if (runs[i].count == 0) continue;
      add(0, runs[i].count - 1);
      add(runs[i].count - 1, 1);
    }
  }

  void choose(Segment& to) const {
    const std::size_t last = pass_.stages.size() - 1;
    hold_while(to.memory, last, pass_.head_tile.working);
    work(to, last, pass_.head);
    together(to, last, Collective::all_gather, pass_.tensor * pass_.choice_bytes);
  }

  /// From each chip of a stage to its like; both have to be there.
  void send(Segment& to, std::size_t from, std::size_t into, std::uint64_t bytes,
            Receives& receives) const {
    if (!moves_ || bytes == 0) return;
    const Chips sources = chips_of(from);
    const Chips targets = chips_of(into);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      to.work(sources[i], Use::links, params_.sync_ns(2) + params_.sync.exchange_ns);
      hand_over(to, sources[i], targets[i], bytes, receives);
    }
  }

  void move(Segment& to, std::size_t from, std::size_t into, std::uint64_t bytes) const {
    Receives receives;
    send(to, from, into, bytes, receives);
    to.receive(receives, Use::links);
  }

  const SystemParams& params_;
  const InferencePass& pass_;
  bool moves_;
};

}  // namespace

Program pass_program(const SystemParams& params, const InferencePass& pass) {
  return PassBuilder(params, pass).one_by_one();
}

Program pass_entries(const InferencePass& pass) {
  return PassBuilder({}, pass, false).one_by_one();
}

Program turn_program(const SystemParams& params, const InferencePass& pass) {
  return PassBuilder(params, pass).all_at_once();
}

}  // namespace lacuna::system
