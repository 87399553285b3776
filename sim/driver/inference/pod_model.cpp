// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/system/fabric.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "sim/base/largest.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna {

using system::Held;
using system::Home;
using system::MemoryAccount;

namespace {

std::uint64_t bytes_of_kib(double kib) {
  return static_cast<std::uint64_t>(std::llround(kib * 1024));
}

}  // namespace

std::string PodCut::text() const {
  return fmt::format("{} x {} chips, layers {}", tensor, layers.size(), fmt::join(layers, "-"));
}

PodModel::PodModel(PodSetup setup)
    : setup_(std::move(setup)),
      chips_(setup_.kinds, setup_.pricing, setup_.system, setup_.params.io_tiles,
             "inference.io_tiles"),
      kinds_(kinds_of_layers(setup_.model)),
      tiles_(chips_.tiles()),
      watts_(chips_.watts()),
      clock_ghz_(chips_.number("clock")) {
  kind_of_.resize(setup_.model.layers);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const std::uint32_t layer : kinds_[kind].layers) kind_of_[layer] = kind;
  }
}

/// Of chips whose tiles have so many bytes for a row, or all they have.
RoomForRows PodModel::room_for(std::uint64_t working, bool runs) const {
  return {tiles_, working,
          [this](std::uint64_t bytes) -> const Machine& {
            if (bytes >= chips_.tile_bytes()) return chips_.chip();
            const std::uint64_t kib = bytes / 1024;
            if (kib == 0) throw OutOfMemoryError("a tile has less than 1 KiB left for a row");
            return chips_.chip("tile.memory.kib", fmt::format("{}", kib), "the room that is left");
          },
          runs};
}

std::string PodModel::place() const {
  return setup_.alone ? setup_.system.params.chip.value() : setup_.system.name;
}

/// Tensor and pipeline that may be: heads are dealt to chips whole, layers to stages.
std::vector<PodModel::Shape> PodModel::shapes() const {
  if (kept_) return {{kept_->tensor, static_cast<unsigned>(kept_->layers.size())}};
  const unsigned chips = setup_.alone ? 1 : setup_.system.params.chips();
  const ModelShape& model = setup_.model;
  const unsigned given = setup_.params.tensor;
  const unsigned stages = setup_.params.pipeline;
  const auto refuse = [&](const std::string& why) {
    throw RequestError(fmt::format("inference.tensor x pipeline = {} x {} on {}: {}", given, stages,
                                   place(), why));
  };
  if (given != 0 && model.kv_heads % given != 0) {
    refuse(fmt::format("the {} key and value heads of {} are not dealt evenly to {} chips",
                       model.kv_heads, model.name, given));
  }
  if (stages > model.layers)
    refuse(fmt::format("{} has {}", model.name, counted(model.layers, "layer")));
  if (std::max(given, 1U) * std::max(stages, 1U) > chips) {
    refuse("it has " + counted(chips, "chip"));
  }
  std::vector<Shape> shapes;
  for (unsigned tensor = 1; tensor <= std::min(chips, model.kv_heads); ++tensor) {
    if (model.kv_heads % tensor != 0 || (given != 0 && tensor != given)) continue;
    if (given == 0 && tensor > 1 && model.qk_norm == QkNorm::width) continue;
    if (stages != 0 && tensor * stages > chips) continue;
    shapes.emplace_back(tensor, stages != 0 ? stages : std::min(chips / tensor, model.layers));
  }
  return shapes;
}

/// The list of inference.layers.
PodCut PodModel::listed(unsigned tensor) const {
  PodCut cut;
  cut.tensor = tensor;
  cut.layers = system::parse_counts("inference.layers", setup_.params.layers);
  const unsigned sum = std::accumulate(cut.layers.begin(), cut.layers.end(), 0U);
  if (sum != setup_.model.layers) {
    throw ParameterError(fmt::format("inference.layers = {}: found {}; {} has {}",
                                     setup_.params.layers.value(), counted(sum, "layer"),
                                     setup_.model.name, setup_.model.layers));
  }
  return cut;
}

namespace {

/// What a layer, an embedding or a head is for the chips that have it.
struct Load {
  std::uint64_t bytes = 0;  // of a tile
  Cycle cycles = 0;         // of a pass

  bool within(const Load& most) const { return bytes <= most.bytes && cycles <= most.cycles; }
  Load operator+(const Load& other) const { return {bytes + other.bytes, cycles + other.cycles}; }
};

/// Layers in order for the chips of stages; the first and the last have something beside theirs.
class Deal {
 public:
  Deal(std::vector<Load> layers, Load embedding, Load head)
      : layers_(std::move(layers)), embedding_(embedding), head_(head) {}

  /// So that the fullest chip has least.
  std::vector<unsigned> with_least_bytes(unsigned stages) const {
    return least(stages, {0, kNever}, &Load::bytes);
  }

  /// So that the slowest stage is soonest over, of what no chip has more of than so many bytes;
  /// empty if there is none.
  std::vector<unsigned> soonest(unsigned stages, std::uint64_t bytes) const {
    return least(stages, {bytes, 0}, &Load::cycles);
  }

 private:
  /// The least of one side of `most` within which all stages keep.
  template <typename Side>
  std::vector<unsigned> least(unsigned stages, Load most, Side Load::*side) const {
    const Load all = std::accumulate(layers_.begin(), layers_.end(), embedding_ + head_);
    const auto too_little = [&](std::uint64_t bound) {  // one more than is tried
      most.*side = bound - 1;
      return bound == 0 || within(most, stages).empty();
    };
    most.*side = largest(std::uint64_t{0}, all.*side + 2, too_little);
    return within(most, stages);
  }

  /// As many layers as come to each stage if it takes what it can; empty if some are left or a
  /// stage has too much in any case. Those behind want a layer each.
  std::vector<unsigned> within(const Load& most, unsigned stages) const {
    std::vector<unsigned> dealt;
    std::size_t next = 0;
    for (unsigned stage = 0; stage < stages; ++stage) {
      Load sum = stage == 0 ? embedding_ : Load();
      if (stage + 1 == stages) sum = sum + head_;
      const std::size_t begin = next;
      while (next < layers_.size() && layers_.size() - next > stages - 1 - stage &&
             (next == begin || (sum + layers_[next]).within(most))) {
        sum = sum + layers_[next++];
      }
      if (!sum.within(most)) return {};
      dealt.push_back(static_cast<unsigned>(next - begin));
    }
    return next == layers_.size() ? dealt : std::vector<unsigned>();
  }

  std::vector<Load> layers_;
  Load embedding_;
  Load head_;
};

}  // namespace

/// What stays of each layer on a tile, so that the fullest has least; or, with what a layer takes
/// to exchange its sums, so that the slowest stage is soonest over among what fits.
PodCut PodModel::dealt(unsigned tensor, unsigned stages, const PodParts& parts,
                       std::optional<Cycle> exchange) const {
  const system::InferencePass pass = program_of({tensor, std::vector<unsigned>(stages)}, parts);
  std::vector<Load> layers;
  layers.reserve(kind_of_.size());
  for (const std::size_t number : kind_of_) {
    const system::SharedLayer& kind = pass.kinds[number];
    Load load;
    if (setup_.params.weights == Home::sram) load.bytes += kind.tile.weights;
    if (setup_.params.cache == Home::sram) load.bytes += kind.tile.cache;
    load.cycles = kind.attention.cycles + kind.ffn.cycles + exchange.value_or(0);
    layers.push_back(load);
  }
  const Deal deal(std::move(layers), {pass.embedding_tile.weights, pass.embedding.cycles},
                  {pass.head_tile.weights, pass.head.cycles});
  if (!exchange) return {tensor, deal.with_least_bytes(stages)};
  const MemoryAccount most = beside_layers(parts);
  return {tensor, most.fits() ? deal.soonest(stages, most.capacity - most.use.total())
                              : std::vector<unsigned>()};
}

/// The cut that is kept, that of inference.layers, or what is dealt.
PodCut PodModel::cut_of(unsigned tensor, unsigned stages, const PodParts& parts) const {
  if (kept_) return *kept_;
  if (setup_.params.layers.value().empty()) return dealt(tensor, stages, parts, std::nullopt);
  PodCut cut = listed(tensor);
  if (setup_.params.pipeline != 0 && cut.layers.size() != stages) {
    throw ParameterError(fmt::format("inference.layers = {}: these are {} stages, pipeline = {}",
                                     setup_.params.layers.value(), cut.layers.size(), stages));
  }
  return cut;
}

namespace {

/// The layers of each stage as runs of kinds.
std::vector<std::vector<system::LayerRun>> runs_of(const PodCut& cut,
                                                   const std::vector<std::size_t>& kind_of) {
  std::vector<std::vector<system::LayerRun>> stages;
  std::size_t layer = 0;
  for (const unsigned count : cut.layers) {
    std::vector<system::LayerRun> runs;
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t kind = kind_of[layer++];
      if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
      ++runs.back().count;
    }
    stages.push_back(std::move(runs));
  }
  return stages;
}

}  // namespace

/// What such a pass does, moves and holds.
system::InferencePass PodModel::program_of(const PodCut& cut, const PodParts& parts) const {
  const auto share = [&](std::uint64_t bytes) { return share_of_tile(bytes, tiles_); };
  const auto tile_of = [&](const PodPart& part) -> system::TileBytes {
    return {share(part.stored), 0, share(part.live) + share(parts.hidden_bytes), part.working};
  };
  const bool streams_weights = setup_.params.weights == Home::streaming;
  const bool streams_cache = setup_.params.cache == Home::streaming;
  const unsigned waiting = setup_.params.io_tiles > 0 ? 2 : 1;  // layers of what is streamed
  system::InferencePass pass;
  pass.tensor = cut.tensor;
  pass.stages = runs_of(cut, kind_of_);
  for (const PodParts::Kind& kind : parts.kinds) {
    const system::TileBytes attention = tile_of(kind.attention);
    const system::TileBytes ffn = tile_of(kind.ffn);
    system::SharedLayer layer;
    layer.attention = kind.attention.cost;
    layer.ffn = kind.ffn.cost;
    layer.tile = {attention.weights + ffn.weights, share(kind.cache),
                  std::max(attention.values, ffn.values), std::max(attention.working, ffn.working)};
    if (streams_weights) layer.weights_elsewhere = kind.attention.stored + kind.ffn.stored;
    if (streams_cache) layer.cache_elsewhere = kind.cache;
    layer.load_bytes = layer.weights_elsewhere + (streams_cache ? kind.earlier : 0);
    layer.store_bytes = streams_cache ? kind.fresh : 0;
    pass.kinds.push_back(layer);
  }
  pass.embedding = parts.embedding.cost;
  pass.embedding_tile = tile_of(parts.embedding);
  pass.head = parts.head.cost;
  pass.head_tile = tile_of(parts.head);
  if (setup_.model.tied && cut.layers.size() == 1) pass.head_tile.weights = 0;
  pass.streamed_weights = streams_weights ? waiting : 0;
  pass.streamed_cache = streams_cache ? waiting : 0;
  pass.code_bytes = bytes_of_kib(setup_.params.code_kib);
  pass.buffer_bytes = bytes_of_kib(setup_.params.buffer_kib);
  pass.hidden_bytes = parts.hidden_bytes;
  pass.choice_bytes = std::uint64_t{8} * parts.batch;  // a logit and its token
  pass.token_bytes = std::uint64_t{4} * parts.batch;
  pass.in_background = setup_.params.io_tiles > 0;
  pass.clock_ghz = clock_ghz_;
  pass.alone = setup_.alone;
  return pass;
}

/// What any stage may have beside its layers, the table and the head: of streamed ones a layer.
MemoryAccount PodModel::beside_layers(const PodParts& parts) const {
  MemoryAccount most;
  const PodCut apart{1, std::vector<unsigned>(kind_of_.size(), 1)};
  for (const MemoryAccount& each : memory_in(apart, parts).chips) {
    most.capacity = each.capacity;
    for (std::size_t what = 0; what < system::kHeld; ++what) {
      most.use.bytes.at(what) = std::max(most.use.bytes.at(what), each.use.bytes.at(what));
    }
  }
  const auto forget = [&](Home home, Held what) {
    if (home == Home::sram) most.use.bytes[what] = 0;
  };
  forget(setup_.params.weights, Held::weights);
  forget(setup_.params.cache, Held::cache);
  return most;
}

system::ProgramMemory PodModel::memory_in(const PodCut& cut, const PodParts& parts) const {
  const std::size_t stages = cut.layers.size();
  return memory_of(pass_entries(program_of(cut, parts)), stages, chips_.tile_bytes(),
                   machine_banks(setup_.system.params, stages, cut.tensor));
}

void PodModel::account(PodPass& pass) const {
  system::ProgramMemory memory = memory_in(pass.cut, pass.parts);
  pass.streaming = streaming_of(setup_.system.params, memory);
  pass.memory = std::move(memory.chips);
}

/// Whether the cut that such a shape has of the request has room, before its rows are simulated, or
/// planned if nothing `runs`, and after it. Plans are the soonest over; a row that has no room
/// beside what is stored is planned again for the room there is. If rows do not fit, `why` is what
/// they say of it.
bool PodModel::has_room(const Shape& shape, const PassRequest& request, bool runs, PodPass& tried,
                        std::string& why) const {
  const unsigned tensor = shape.first;
  tried.parts = parts_of(kinds_, request, tensor);
  tried.cut = cut_of(tensor, shape.second, tried.parts);
  if (!kept_ && tried.cut.chips() > setup_.system.params.chips()) return false;
  account(tried);
  if (!tried.streaming.fits()) why = tried.streaming.text() + " (gateway.ddr_gb)";
  if (!tried.streaming.fits() || !tried.fullest().fits()) return false;
  const auto simulate = [&](std::uint64_t working) {
    tried.parts = parts_within(kinds_, request, tensor, room_for(working, runs), setup_.times);
    account(tried);
  };
  try {
    simulate(RoomForRows::kAll);
    const MemoryAccount most = tried.fullest();
    if (most.fits()) return true;
    const std::uint64_t beside = most.use.total() - most.use.of(Held::working);
    if (beside >= most.capacity) return false;
    const PodPass first = tried;
    try {
      simulate(most.capacity - beside);
    } catch (const OutOfMemoryError&) {
      tried = first;
    }
  } catch (const OutOfMemoryError& error) {
    why = error.what();
    return false;
  }
  return tried.fullest().fits();
}

/// Deals the layers of a cut that fits, and has least on its fullest tile, so that a turn is over
/// sooner. What a layer takes beside its rows, to exchange sums, shows in the first of such deals.
void PodModel::deal_by_time(PodPass& fitting) const {
  Cycle exchange = 0;  // of a layer
  const auto stages = static_cast<unsigned>(fitting.cut.layers.size());
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    PodPass tried = fitting;
    tried.cut = dealt(fitting.cut.tensor, stages, fitting.parts, exchange);
    if (tried.cut.layers.empty()) return;
    account(tried);
    if (!tried.streaming.fits()) return;
    time(tried);
    Cycle rows = 0;
    std::size_t layer = 0;
    std::size_t layers = 0;
    for (const unsigned count : tried.cut.layers) {
      Cycle sum = 0;
      for (unsigned i = 0; i < count; ++i) {
        const PodParts::Kind& kind = tried.parts.kinds[kind_of_[layer++]];
        sum += kind.attention.cost.cycles + kind.ffn.cost.cycles;
      }
      if (sum > rows) layers = count;
      rows = std::max(rows, sum);
    }
    const auto turn = static_cast<Cycle>(tried.turn.seconds() * clock_ghz_ * 1e9);
    exchange = layers == 0 ? 0 : (turn - std::min(turn, rows)) / layers;
    if (tried.turn.seconds() < fitting.turn.seconds()) fitting = std::move(tried);
  }
}

/// Where blocks are few, a product's time is that of its supersteps, and a denser one may have
/// fewer of them. So products are also taken as models have them with twice, four times ... as many
/// weights, at last with all, as long as there is room: what they keep more are zeros.
void PodModel::keep_zeros(PodPass& pass, PassRequest request) const {
  const RoomForRows room = room_for(RoomForRows::kAll);
  PatternSpec& weights = request.weights;
  while (weights.name != "dense") {
    const double density = weights.density ? weights.density->value() : 1;
    if (density > 0 && 2 * density < 1) {
      weights.density->mantissa *= 2;
    } else {
      weights = PatternSpec();
    }
    PodPass tried = pass;
    try {
      tried.parts = sooner_parts(kinds_, request, pass.cut.tensor, room, setup_.times,
                                 std::move(tried.parts));
    } catch (const OutOfMemoryError&) {
      continue;
    }
    account(tried);
    if (!tried.fullest().fits() || !tried.streaming.fits()) continue;
    time(tried);
    if (tried.seconds() < pass.seconds()) pass = std::move(tried);
  }
}

PodPass PodModel::pass(const PassRequest& request) {
  std::optional<PodPass> best;
  std::optional<PodPass> nearest;  // of those that do not fit
  std::string reason;
  for (const Shape& shape : shapes()) {
    PodPass tried;
    std::string why;
    if (!has_room(shape, request, true, tried, why)) {
      if (tried.memory.empty()) continue;  // too few chips
      if (nearest && nearest->fullest().use.total() <= tried.fullest().use.total()) continue;
      nearest = std::move(tried);
      reason = why;
      continue;
    }
    time(tried);
    if (is_dealt()) deal_by_time(tried);
    keep_zeros(tried, request);
    if (!best || tried.seconds() < best->seconds()) best = std::move(tried);
  }
  if (best) return std::move(*best);
  if (!nearest) {
    throw RequestError(fmt::format("inference.layers = {}: {} has too few chips",
                                   setup_.params.layers.value(), place()));
  }
  refuse(request, *nearest, reason);
}

/// The most positions of a sequence that some cut has room for, below `most`; `least` fit.
std::uint32_t PodModel::most_positions(const PassRequest& request, std::uint32_t least,
                                       std::uint32_t most) const {
  const std::vector<Shape> all = shapes();
  const auto fits = [&](std::uint32_t positions) {
    PassRequest other = request;
    other.context = other.capacity = positions;
    return any_of(all, [&](const Shape& shape) {
      PodPass tried;
      std::string why;
      return has_room(shape, other, false, tried, why);
    });
  };
  if (most - least > 1 && fits(most - 1)) return most - 1;
  return largest(least, most, fits);
}

void PodModel::refuse(const PassRequest& request, const PodPass& nearest,
                      const std::string& reason) const {
  const PodCut& cut = nearest.cut;
  std::string text =
      fmt::format("{}, {} of {} positions, on {} ({}): ", setup_.model.name,
                  request.slots == 1 ? "a sequence" : fmt::format("{} sequences", request.slots),
                  request.capacity, place(), cut.text());
  text += reason.empty() ? "the fullest tile " + nearest.fullest().text() : reason;
  const std::uint32_t positions = request.decode ? most_positions(request, 0, request.capacity) : 0;
  if (positions > 0) {
    throw OutOfMemoryError(text + fmt::format("; the nearest that fits: {} positions", positions));
  }
  if (!reason.empty()) throw OutOfMemoryError(text);
  const bool in_turn = any_of(cut.layers, [](unsigned layers) { return layers > 1; });
  if (!in_turn) {
    text +=
        "; each chip has one layer at most, so that less of it takes more chips: a system "
        "with inference.tensor";
  } else if (setup_.params.weights == Home::sram) {
    text += "; inference.weights=streaming keeps those of a layer at a time";
  } else if (setup_.params.cache == Home::sram) {
    text += "; inference.cache=streaming keeps that of a layer at a time";
  }
  throw OutOfMemoryError(text);
}

void PodModel::time(PodPass& pass) const {
  const system::InferencePass program = program_of(pass.cut, pass.parts);
  const system::SystemParams& params = setup_.system.params;
  system::SystemExecution execution;
  execution.engine = setup_.engine;
  execution.event_log = pages_ != nullptr;
  run_step(params, pass_program(params, program), watts_, execution, pass, setup_.alone);
  execution.event_log = false;
  run_step(params, turn_program(params, program), watts_, execution, pass.turn, setup_.alone);
}

JouleRange PodModel::idle_watts() const {
  const system::SystemParams& params = setup_.system.params;
  JouleRange watts;
  for (const JouleRange& each : {watts_.waiting, watts_.always}) {
    watts.add(each, setup_.alone ? 1 : params.chips());
  }
  if (setup_.alone) return watts;
  const double standing = params.machines_watts() + params.hosts_watts();
  watts.add({standing, standing, standing});
  return watts;
}

}  // namespace lacuna
