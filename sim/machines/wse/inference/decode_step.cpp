// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "sim/machines/wse/inference/layer_deal.hpp"

// A token's way through all layers.

namespace lacuna {

using wse::DecodeBlock;
using wse::DecodePhase;

namespace {

/// Cores of the pipes between rows of blocks (EPCC).
constexpr std::uint32_t kPipeCores = 32;

}  // namespace

/// What tokens see and take, and the zeros that they meet.
void DecodeTimes::add_zeros(const ModelShape& model, const DecodePlacement& placement,
                            DecodeBlock& block) const {
  block.sees = placement.sees;
  block.sees.seed = placement.sparsity.seed;
  const std::uint32_t window = window_of(model);
  if (window != 0 && (placement.sees.window != 0 || placement.sees.kept != 0)) {
    throw UnsupportedError(fmt::format("model '{}' has a window of {} itself", model.name, window));
  }
  if (window != 0) block.sees.window = window;
  const wse::DecoderModel decoder = decoder_model(model);
  if (placement.experts_apart && decoder.experts.count == 0) {
    throw UnsupportedError(fmt::format("model '{}' has no experts", model.name));
  }
  block.experts_apart = placement.experts_apart;
  block.routes = draw_routes(decoder.experts, block.batch, placement.sparsity.seed);
  const wse::Datapath datapath = params_.datapath();
  block.zeros = make_zeros(placement.sparsity, {decoder, block}, {costs_, params_.llm, datapath});
}

std::vector<DecodeLayers> DecodeTimes::layers_of(const ModelShape& model,
                                                 const DecodePlacement& placement,
                                                 std::uint32_t context) const {
  std::vector<DecodeLayers> kinds;
  for (const EqualLayers& equal : equal_layers(placement.sparsity, model.layers)) {
    DecodeBlock block = built({});
    block.batch = placement.batch;
    block.columns = placement.columns;
    block.rows = placement.rows;
    block.context = context;
    block.capacity = placement.capacity;
    DecodePlacement one = placement;
    one.sparsity = equal.sparsity;
    add_zeros(model, one, block);
    kinds.push_back({equal.layers, block, {}});
  }
  return kinds;
}

/// The way between blocks: to the neighbour, and to the next row of them. Those of all sequences go
/// together.
const RunTotals& DecodeTimes::add_moves(const ModelShape& model, const DecodeBlock& block,
                                        DecodeStep& step) {
  const wse::HiddenPart part = wse::fullest_part({decoder_model(model), block});
  const auto program = [&](const char* what, std::uint32_t size, const char* title,
                           const auto& make) -> const RunTotals& {
    return runs_.of(
        fmt::format("{} {} {} {} {}", what, size, part.elements, part.counted, part.nonzeros), make,
        {title, {}});
  };
  const RunTotals& hand_over =
      program("hand-over", 2, "hand-over to the next block, one row of cores",
              [&] { return wse::plan_hand_over(part, costs_, params_.llm); });
  step.hand_over = static_cast<double>(hand_over.cycles);
  const RunTotals& row_change = program("pipe", kPipeCores, "pipe to the next row of blocks", [&] {
    return wse::plan_pipe(kPipeCores, part, costs_, params_.llm);
  });
  step.row_change = static_cast<double>(row_change.cycles);
  return hand_over;
}

DecodeLayerTimes DecodeTimes::time_split(const ModelShape& model, DecodeBlock block) {
  DecodeLayerTimes times;
  block.receives = true;
  block.ffn = false;
  times.phases = layer(model, block);
  times.shares = shares(model, block);
  times.attention = sum_of(times.phases, DecodePhase::norm, DecodePhase::residual);
  block.attention = false;
  block.ffn = true;
  const DecodePhaseTimes ffn = layer(model, block);
  times.phases.insert(ffn.begin(), ffn.end());
  times.shares.merge(shares(model, block));
  times.ffn = sum_of(ffn, DecodePhase::ffn_norm, DecodePhase::ffn_residual);
  return times;
}

DecodeLayerTimes DecodeTimes::time_whole(const ModelShape& model, DecodeBlock block, bool several) {
  DecodeLayerTimes times;
  const auto all = [&] {
    return sum_of(layer(model, block), DecodePhase::norm, DecodePhase::ffn_residual);
  };
  block.receives = !several;
  times.phases = layer(model, block);
  times.shares = shares(model, block);
  if (several) times.next = all();
  block.receives = true;
  times.first = all();
  return times;
}

namespace {

/// The mean of all layers; cycles of code are rounded.
DecodeLayerTimes mean_of(const std::vector<DecodeLayers>& kinds, double layers) {
  if (kinds.size() == 1) return kinds.front().times;
  DecodeLayerTimes mean;
  std::map<DecodePhase, std::array<double, 4>> shares;
  for (const DecodeLayers& kind : kinds) {
    const double share = static_cast<double>(kind.numbers.size()) / layers;
    mean.first += share * kind.times.first;
    mean.next += share * kind.times.next;
    mean.attention += share * kind.times.attention;
    mean.ffn += share * kind.times.ffn;
    for (const auto& [phase, cycles] : kind.times.phases) mean.phases[phase] += share * cycles;
    for (const auto& [phase, of] : kind.times.shares) {
      const std::array<Cycle, 4> parts = {of.setup, of.arithmetic, of.rewriting, of.words};
      std::array<double, 4>& sums = shares[phase];
      for (std::size_t i = 0; i < 4; ++i) sums.at(i) += share * static_cast<double>(parts.at(i));
    }
  }
  const auto whole = [](double cycles) { return static_cast<Cycle>(std::llround(cycles)); };
  for (const auto& [phase, of] : shares) {
    mean.shares[phase] = {whole(of[0]), whole(of[1]), whole(of[2]), whole(of[3])};
  }
  return mean;
}

/// Cycles of all layers with what lies between their blocks, and of the slowest stage.
void compose(DecodeStep& step, std::uint32_t layers) {
  const std::vector<const DecodeLayers*> kind = by_layer(step.kinds, layers);
  std::uint32_t layer = 0;
  for (const std::uint32_t count : step.dealt) {
    double attention = 0;
    double ffn = 0;
    double whole = step.hand_over;
    for (std::uint32_t i = 0; i < count; ++i, ++layer) {
      const DecodeLayerTimes& times = kind[layer]->times;
      attention += times.attention + step.hand_over;
      ffn += times.ffn + step.hand_over;
      whole += i == 0 ? times.first : times.next;
    }
    if (count == 0) continue;
    step.cycles += step.split ? attention + ffn : whole;
    step.slowest_stage =
        std::max(step.slowest_stage, step.split ? std::max(attention, ffn) : whole);
  }
}

}  // namespace

void DecodeTimes::time_layers(const ModelShape& model, DecodeStep& step) {
  const auto has_several = [](std::uint32_t layers) { return layers > 1; };
  const bool several = any_of(step.dealt, has_several);
  for (DecodeLayers& kind : step.kinds) {
    kind.times =
        step.split ? time_split(model, kind.block) : time_whole(model, kind.block, several);
  }
  step.layer = mean_of(step.kinds, model.layers);
}

/// What all cores count in a step: of all layers, what hands the hidden vector on in each row of
/// cores, and the ends for each sequence.
void DecodeTimes::add_totals(const ModelShape& model, const DecodePlacement& placement,
                             const RunTotals& hand_over, DecodeStep& step) {
  const auto parts = [&](const DecodeLayers& kind, bool attention, bool ffn) {
    DecodeBlock part = kind.block;
    part.attention = attention;
    part.ffn = ffn;
    part.receives = true;
    step.forced.add(layer_run(decoder_model(model), part),
                    static_cast<double>(kind.numbers.size()));
  };
  for (const DecodeLayers& kind : step.kinds) {
    if (step.split) {
      parts(kind, true, false);
      parts(kind, false, true);
    } else {
      parts(kind, true, true);
    }
  }
  const std::uint32_t moves =
      step.split ? 2 * model.layers : std::min(placement.blocks(), model.layers);
  step.forced.add(hand_over, static_cast<double>(moves) * placement.rows);
  step.totals = step.forced;
  const double batch = placement.batch;
  add_ends(model, placement, batch, 0, step.forced);
  add_ends(model, placement, batch, batch, step.totals);
  step.cores = cores(placement);
}

DecodeStep DecodeTimes::placed(const ModelShape& model, const DecodePlacement& placement,
                               std::uint32_t context) const {
  DecodeStep step;
  step.kinds = layers_of(model, placement, context);
  place_layers<wse::DecodeShape>(decoder_model(model), placement, params_, step);
  return step;
}

DecodeStep DecodeTimes::step(const ModelShape& model, const DecodePlacement& placement,
                             std::uint32_t context) {
  const std::uint32_t blocks = placement.blocks();
  DecodeStep step = placed(model, placement, context);
  const RunTotals& hand_over = add_moves(model, step.kinds.front().block, step);
  // sequences pass these one after the other
  step.head = placement.batch * head(model, placement);
  step.tail = placement.batch * tail(model, placement);
  time_layers(model, step);
  compose(step, model.layers);
  // of few layers some blocks have none, and are not passed
  const std::uint32_t with_layers = wse::DecodeShape::ceil(model.layers, step.layers);
  const std::uint32_t passed =
      std::min(blocks, step.split ? 2 * with_layers : std::min(blocks, model.layers));
  const double rows = (wse::DecodeShape::ceil(passed, placement.blocks_x) - 1) * step.row_change;
  step.cycles += rows + step.head + step.tail;
  add_totals(model, placement, hand_over, step);
  return step;
}

}  // namespace lacuna
