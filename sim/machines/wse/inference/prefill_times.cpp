// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/prefill_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/inference/layer_deal.hpp"
#include "workloads/mapping/wse/inference/kv_moves.hpp"

namespace lacuna {

using wse::PrefillBlock;
using wse::PrefillPart;

namespace {

/// Cores on a side of what stands for a whole square.
constexpr std::uint32_t kFold = 4;

constexpr PrefillPart kFirst = PrefillPart::norm;
constexpr PrefillPart kLast = PrefillPart::ffn_residual;

/// What a chunk does in a block.
struct Visit {
  std::size_t block = 0;
  double cycles = 0;
};

/// When the last chunk is done. Each goes from block to block in its order; of those that wait for
/// a block the one goes first that has come first.
double end_of(const std::vector<std::vector<Visit>>& chunks, std::size_t blocks, double hand_over,
              double entry) {
  using Arrival = std::tuple<double, std::size_t, std::size_t>;  // when, chunk, visit
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  std::vector<double> free(blocks, 0);
  double entered = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    entered += entry;
    arrivals.emplace(entered, i, 0);
  }
  double end = 0;
  while (!arrivals.empty()) {
    const auto [at, chunk, visit] = arrivals.top();
    arrivals.pop();
    const Visit& here = chunks[chunk][visit];
    const double done = std::max(at, free[here.block]) + here.cycles;
    free[here.block] = done;
    end = std::max(end, done);
    if (visit + 1 == chunks[chunk].size()) continue;
    const bool moves = chunks[chunk][visit + 1].block != here.block;
    arrivals.emplace(done + (moves ? hand_over : 0), chunk, visit + 1);
  }
  return end;
}

/// UnsupportedError of models whose prompts have no programs.
void require_whole_sight(const ModelShape& model, std::uint32_t tokens) {
  const std::uint32_t window = window_of(model);
  if (window != 0 && window < tokens) {
    throw UnsupportedError(
        fmt::format("model '{}' has a window of {}: prompts of more tokens have no programs so far",
                    model.name, window));
  }
}

}  // namespace

double PrefillLayer::of(PrefillPart first, PrefillPart last, std::uint32_t chunks) const {
  double cycles = 0;
  for (const auto& [part, time] : parts) {
    if (part >= first && part <= last) cycles += wse::of_each_chunk(part) ? chunks * time : time;
  }
  return cycles;
}

double PrefillLayer::attention(std::uint32_t chunks) const {
  return of(kFirst, PrefillPart::residual, chunks);
}

double PrefillLayer::ffn() const { return of(PrefillPart::ffn_norm, kLast, 0); }

PrefillTimes::PrefillTimes(const WseParams& params, Engine engine, DecodeTimes& ends,
                           PartCache* cache)
    : params_(params), costs_(params.costs()), runs_(params, engine, cache), ends_(ends) {}

namespace {

/// Whether the cores of a part leave zeros out.
bool has_zeros(const wse::PrefillShape& shape, PrefillPart part) {
  using Product = std::pair<PrefillPart, wse::Projection>;
  constexpr std::array<Product, 4> kProducts{{{PrefillPart::qkv, wse::Projection::qkv},
                                              {PrefillPart::o_proj, wse::Projection::o},
                                              {PrefillPart::up_gate, wse::Projection::up},
                                              {PrefillPart::down, wse::Projection::down}}};
  return any_of(kProducts, [&](const Product& each) {
    return each.first == part && shape.zeros_of(each.second) != nullptr;
  });
}

/// The key of what the parts come to.
std::string key_of_parts(const wse::PrefillShape& shape, const wse::PrefillStyle& style,
                         const wse::InferenceParams& functions) {
  return fmt::format("prompt {} {} {} {} {} {} {}{}", lacuna::text_of(shape.model()),
                     shape.block().columns, shape.block().rows, shape.t(), shape.block().fused,
                     style.scalar_functions, functions.groups.value(),
                     shape.block().zeros == nullptr ? "" : ' ' + shape.block().zeros->name);
}

}  // namespace

/// The run of one of the programs of a part.
const RunTotals& PrefillTimes::program_run(const std::string& key, const PrefillBlock& block,
                                           PrefillPart part,
                                           const std::vector<wse::TaskProgram>& programs,
                                           std::size_t which) {
  const std::string title =
      programs.size() == 1 ? std::string(word(part))
                           : fmt::format("{}, {} of {}", word(part), which + 1, programs.size());
  return runs_.of(fmt::format("{} of {} {} {} {} {}", key, block.tokens, block.chunks, block.layers,
                              word(part), which),
                  [&] { return programs[which]; }, {title, {}});
}

const PrefillLayer& PrefillTimes::parts_of(const wse::PrefillShape& shape,
                                           const wse::PrefillStyle& style,
                                           const wse::InferenceParams& functions) {
  const std::string key = key_of_parts(shape, style, functions);
  const auto known = layers_.find(key);
  if (known != layers_.end()) return known->second;
  wse::PrefillParts parts(shape, costs_, functions, style, kFold);
  const wse::Datapath datapath = params_.datapath();
  parts.use_pieces(datapath);
  PrefillLayer layer;
  double products = 0;
  double steps = 0;
  for (auto i = static_cast<unsigned>(kFirst); i <= static_cast<unsigned>(kLast); ++i) {
    const auto part = static_cast<PrefillPart>(i);
    const bool norm = part == PrefillPart::ffn_norm;
    if (norm || part == PrefillPart::ffn_residual) {
      const PrefillPart same = norm ? PrefillPart::norm : PrefillPart::residual;
      layer.parts[part] = layer.parts.at(same);
      layer.totals[part] = layer.totals.at(same);
      continue;
    }
    const std::vector<wse::TaskProgram> programs = parts.plan(part);
    // products of experts behind the second are as that, but for zeros, which are met in the order
    // in which each begins
    const bool same = shape.model().experts.count != 0 && !has_zeros(shape, part);
    double cycles = 0;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      const PrefillBlock& block = shape.block();
      const std::size_t like = same ? std::min<std::size_t>(p, 2) : p;
      const RunTotals& run = program_run(key, block, part, programs, like);
      const auto time = static_cast<double>(run.cycles);
      cycles += time;
      const double cores = static_cast<double>(block.columns) * block.rows;
      layer.totals[part].add(run, cores / static_cast<double>(run.cores));
      // the first brings the tiles into their order
      if (parts.products_of(part).empty() || p == 0) continue;
      products += time;
      steps += shape.steps();
    }
    layer.parts[part] = cycles;
  }
  layer.product_step = products / steps;
  return layers_.emplace(key, std::move(layer)).first->second;
}

const PrefillLayer& PrefillTimes::layer(const ModelShape& model, const PrefillBlock& block) {
  return parts_of({decoder_model(model), block}, {}, params_.llm);
}

double PrefillTimes::square_layer(const DecodeTimes::SquareLayer& what) {
  PrefillBlock block;
  block.columns = block.rows = what.side;
  block.tokens = what.padded(what.context);
  block.fused = false;
  wse::PrefillStyle style;
  style.scalar_functions = true;
  const PrefillLayer& layer = parts_of({what.model(), block}, style, what.functions(params_.llm));
  // all keys at once: nothing is folded, nothing masked
  double cycles = layer.of(kFirst, kLast, 1);
  for (const PrefillPart part : {PrefillPart::clear, PrefillPart::mask, PrefillPart::fold}) {
    cycles -= layer.parts.at(part);
  }
  return cycles;
}

namespace {

/// UnsupportedError of blocks of which too many cores would be simulated one by one.
void check_steps(const wse::PrefillShape& shape) {
  constexpr std::uint64_t kMostSteps = 1U << 19U;
  bool any = false;
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    any = any || shape.zeros_of(static_cast<wse::Projection>(i)) != nullptr;
  }
  const PrefillBlock& block = shape.block();
  const std::uint64_t steps = std::uint64_t{block.columns} * block.rows * shape.steps();
  if (!any || steps <= kMostSteps) return;
  throw UnsupportedError(fmt::format(
      "zeros in a prompt on blocks of {} x {} cores: each core has its own in each of {} steps, "
      "and none stands for another; {} of these are simulated, at most {}, as of 64 x 64 cores",
      block.columns, block.rows, shape.steps(), steps, kMostSteps));
}

}  // namespace

std::vector<PrefillLayers> PrefillTimes::layers_of(const ModelShape& model,
                                                   const DecodePlacement& placement,
                                                   std::uint32_t chunk,
                                                   std::uint32_t chunks) const {
  if (placement.sparsity.hidden) {
    throw UnsupportedError(
        "zeros of the hidden vector in a prompt: its chunks travel between blocks as they are");
  }
  PrefillBlock block;
  block.columns = placement.columns;
  block.rows = placement.rows;
  block.tokens = chunk;
  block.chunks = chunks;
  const wse::DecoderModel decoder = decoder_model(model);
  const wse::Datapath datapath = params_.datapath();
  std::vector<PrefillLayers> kinds;
  for (const EqualLayers& equal : equal_layers(placement.sparsity, model.layers)) {
    block.zeros = make_zeros(equal.sparsity, {decoder, block}, {costs_, params_.llm, datapath});
    kinds.push_back({equal.layers, block, {}});
  }
  return kinds;
}

namespace {

/// What each chunk does, one visit of a block after the other.
std::vector<std::vector<Visit>> visits_of(const PrefillRun& run, std::uint32_t layers) {
  const std::vector<const PrefillLayers*> kind = by_layer(run.kinds, layers);
  std::vector<std::vector<Visit>> chunks(run.chunks);
  for (std::uint32_t c = 0; c < run.chunks; ++c) {
    std::uint32_t layer = 0;
    for (std::size_t i = 0; i < run.dealt.size(); ++i) {
      double whole = 0;
      for (std::uint32_t n = 0; n < run.dealt[i]; ++n, ++layer) {
        const double attention = kind[layer]->times.attention(c + 1);
        const double ffn = kind[layer]->times.ffn();
        whole += attention + ffn;
        if (!run.split) continue;
        chunks[c].push_back({2 * i, attention});
        chunks[c].push_back({2 * i + 1, ffn});
      }
      if (!run.split && run.dealt[i] != 0) chunks[c].push_back({i, whole});
    }
  }
  return chunks;
}

/// The mean of the parts of all layers.
PrefillLayer mean_of(const std::vector<PrefillLayers>& kinds, double layers) {
  if (kinds.size() == 1) return kinds.front().times;
  PrefillLayer mean;
  for (const PrefillLayers& kind : kinds) {
    const double share = static_cast<double>(kind.numbers.size()) / layers;
    for (const auto& [part, cycles] : kind.times.parts) mean.parts[part] += share * cycles;
    mean.product_step += share * kind.times.product_step;
  }
  return mean;
}

}  // namespace

PrefillRun PrefillTimes::placed(const ModelShape& model, const DecodePlacement& placement,
                                std::uint32_t tokens, std::uint32_t chunk) const {
  PrefillRun run;
  run.chunks = wse::DecodeShape::ceil(tokens, chunk);
  run.kinds = layers_of(model, placement, chunk, run.chunks);
  place_layers<wse::PrefillShape>(decoder_model(model), placement, params_, run);
  for (const PrefillLayers& kind : run.kinds) check_steps({decoder_model(model), kind.block});
  return run;
}

PrefillRun PrefillTimes::run(const ModelShape& model, const DecodePlacement& placement,
                             std::uint32_t tokens, std::uint32_t chunk) {
  require_whole_sight(model, tokens);
  const std::uint32_t blocks = placement.blocks();
  PrefillRun run = placed(model, placement, tokens, chunk);
  for (PrefillLayers& kind : run.kinds) kind.times = layer(model, kind.block);
  run.layer = mean_of(run.kinds, model.layers);
  const wse::PrefillShape shape(decoder_model(model), run.kinds.front().block);
  const wse::PrefillParts parts(shape, costs_, params_.llm, {}, kFold);
  const std::uint32_t columns = shape.block().columns;
  run.hand_over = static_cast<double>(
      runs_
          .of(fmt::format("prompt hand-over {} {} {}", shape.d(), shape.pitch(), columns),
              [&] { return parts.plan_skew(shape.d() * shape.pitch(), columns); },
              {"hand-over to the next block", {}})
          .cycles);
  run.head = chunk * ends_.head(model, placement);
  run.tail = ends_.tail(model, placement);
  run.cycles = end_of(visits_of(run, model.layers), blocks, run.hand_over, run.head) + run.tail;
  add_totals(placement, run);
  ends_.add_ends(model, placement, static_cast<double>(chunk) * run.chunks, 1, run.totals);
  return run;
}

/// Chunk c has the keys of c + 1 chunks; what hands over chunks is not counted.
void PrefillTimes::add_totals(const DecodePlacement& placement, PrefillRun& run) {
  const double chunks = run.chunks;
  const double pairs = chunks * (chunks + 1) / 2;
  for (const PrefillLayers& kind : run.kinds) {
    const auto layers = static_cast<double>(kind.numbers.size());
    for (const auto& [part, totals] : kind.times.totals) {
      run.totals.add(totals, layers * (wse::of_each_chunk(part) ? pairs : chunks));
    }
  }
  run.cores = DecodeTimes::cores(placement);
}

CacheMoveTimes PrefillTimes::cache_moves(const ModelShape& model, const DecodePlacement& placement,
                                         const CacheMove& move) {
  const DecodeStep placed = ends_.placed(model, placement, move.tokens);
  const wse::DecodeShape shape(decoder_model(model), placed.kinds.front().block);
  CacheMoveTimes times;
  times.split = placed.split;
  times.layers = placed.layers;
  wse::RowFill fill;
  fill.outwards = move.outwards;
  fill.cores = placement.blocks_x * placement.columns;
  // the blocks of feed-forward parts are the nearer ones of each two
  fill.block = placed.split ? placement.columns : 0;
  const auto run = [&](std::uint32_t tensors, std::uint32_t halves) {
    fill.tensors = tensors;
    fill.halves = halves;
    const std::string key =
        fmt::format("fill {} {} {} {} {}", fill.cores, tensors, halves, fill.outwards, fill.block);
    const auto plan = [&] { return wse::plan_row_fill(fill, costs_, params_.llm); };
    return static_cast<double>(runs_.of(key, plan).cycles);
  };
  // of a tensor of a layer; then, for each layer, how many positions of a core are live
  const std::uint32_t piece = shape.k() * shape.slots();
  // tensors follow each other at once: the second and all further ones take the same
  const double first = run(1, piece);
  const double next = run(2, piece) - first;
  const double tensors = 2.0 * times.layers;
  times.row = first + (tensors - 1) * next + run(1, times.layers);
  const double keeping = placed.split ? fill.cores / 2.0 : fill.cores;
  times.bytes = (tensors * piece + times.layers) * 2 * keeping;
  times.clock_ghz = move.clock_ghz != 0 ? move.clock_ghz : params_.clock.value();
  times.stream = times.bytes / (params_.llm.stream_rate / (1000 * times.clock_ghz));
  times.rows = wse::DecodeShape::ceil(placement.blocks_y * placement.rows, move.streams);
  times.cycles = times.rows * std::max(times.row, times.stream);
  return times;
}

}  // namespace lacuna
