// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/decode_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"

namespace lacuna {

using wse::DecodeBlock;
using wse::DecodePhase;

namespace {

/// Rows of these, however low the blocks are.
constexpr std::uint32_t kEndRows = 256;

}  // namespace

std::pair<std::uint32_t, std::uint32_t> DecodePlacement::room(const WseParams& params) const {
  const std::uint32_t across = params.wafer.columns;
  return {(across - std::min(across, kEndColumns)) / columns, params.wafer.rows / rows};
}

void DecodePlacement::fit(const WseParams& params) {
  const auto [across, down] = room(params);
  blocks_x = std::min(blocks_x, std::max(across, 1U));
  blocks_y = std::min(blocks_y, std::max(down, 1U));
}

double sum_of(const DecodePhaseTimes& times, DecodePhase first, DecodePhase last) {
  double cycles = 0;
  for (const auto& [phase, time] : times) cycles += phase >= first && phase <= last ? time : 0;
  return cycles;
}

namespace {

/// What a model has that no program of a wafer's decoding does; null if there is no such thing.
const char* not_of_wafers(const ModelShape& model) {
  const std::initializer_list<std::pair<bool, const char*>> others = {
      {!model.rms, "norms with offsets"},
      {model.rotated != model.head_width(), "heads that are not rotated whole"},
      {!model.gated, "a feed-forward block without a gate"},
      {model.activation != "silu", "another function than SiLU"},
      {model.parallel, "blocks beside each other"},
      {model.post_norms, "norms after its blocks"},
      {!model.pre_norms, "no norms before its blocks"},
      {!model.unrotated.empty(), "layers that are not rotated"},
      {model.scaled_residual || model.scaled_logits, "scaled results of blocks or logits"},
      {model.qk_norm == QkNorm::width, "norms of queries and keys over all heads"},
      {model.qkv_bias, "biases of queries, keys and values"},
      {model.out_bias, "a bias of the product after attention"},
      {model.ffn_bias, "biases of its feed-forward block"},
      {model.head_bias, "a bias of its head"},
      {model.position_table, "a table of positions"},
      {model.scaled_embedding, "a scaled embedding"},
      {model.score_cap || model.logit_cap, "capped scores or logits"}};
  for (const auto& [there, what] : others) {
    if (there) return what;
  }
  return nullptr;
}

}  // namespace

wse::DecoderModel decoder_model(const ModelShape& model) {
  if (const char* const other = not_of_wafers(model)) {
    throw UnsupportedError(
        fmt::format("model '{}' has {}; programs of a wafer's decoding are of layers with RMS "
                    "norms, rotated heads without biases and one gated block with SiLU, or experts",
                    model.name, other));
  }
  const ExpertShape& e = model.experts;
  const bool some_dense = contains(e.dense, true);
  if (e.count != 0 && (e.shared != 0 || e.one_by_one || some_dense)) {
    throw UnsupportedError(
        fmt::format("model '{}': experts of a wafer's decoding are in every layer, weighted by one "
                    "softmax, without a block that all tokens take",
                    model.name));
  }
  wse::DecoderModel decoder;
  decoder.width = model.width;
  decoder.heads = model.heads;
  decoder.kv_heads = model.kv_heads;
  decoder.head_dim = model.head_width();
  decoder.ffn = e.count != 0 ? e.ffn : model.ffn;
  decoder.qk_norm = model.qk_norm == QkNorm::head;
  decoder.experts = {e.count, e.chosen};
  return decoder;
}

std::string text_of(const wse::DecoderModel& m) {
  return fmt::format("{} {} {} {} {} {} {} {} {}", m.width, m.heads, m.kv_heads, m.head_dim, m.ffn,
                     m.qk_norm, m.wide_sums, m.experts.count, m.experts.chosen);
}

std::uint32_t window_of(const ModelShape& model) {
  const std::uint32_t first = model.window(0);
  for (std::uint32_t layer = 1; layer < model.layers; ++layer) {
    if (model.window(layer) != first) {
      throw UnsupportedError(fmt::format(
          "model '{}': layer 0 has a window of {} and layer {} one of {}; one layer stands for all",
          model.name, first, layer, model.window(layer)));
    }
  }
  return first;
}

namespace {

/// All that a layer's program is made of, beside the parameters; not how many share its cores.
std::string key_of(const wse::DecoderModel& model, const DecodeBlock& block) {
  return fmt::format("layer {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", text_of(model),
                     block.columns, block.rows, block.context, block.capacity, block.exponentials,
                     block.attention, block.ffn, block.receives, block.repeats, block.batch,
                     block.sees.window, block.sees.kept, block.sees.seed, block.experts_apart,
                     fmt::join(block.routes, ","), block.zeros == nullptr ? "" : block.zeros->name);
}

/// What the page of a block says of its layer.
ProgramTitle title_of(const wse::DecoderModel& model, const DecodeBlock& block) {
  ProgramTitle title;
  title.text = block.attention && block.ffn ? "layer"
               : block.attention            ? "attention part of a layer"
                                            : "feed-forward part of a layer";
  title.text += block.receives ? ", the first of a block: waits for the hidden vector"
                               : ", behind another in its block";
  for (const DecodePhase phase : wse::decode_phases(block, model.experts.count != 0)) {
    title.phases.emplace_back(word(phase));
  }
  return title;
}

/// The cycles of its phases, of several layers those of the last.
DecodePhaseTimes phases_of(const RunTotals& run, const std::vector<DecodePhase>& phases) {
  DecodePhaseTimes times;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    times[phases[i]] = static_cast<double>(run.stamps.at(i + 1) - run.stamps.at(i));
  }
  return times;
}

}  // namespace

DecodeTimes::DecodeTimes(const WseParams& params, Engine engine, PartCache* cache)
    : params_(params), costs_(params.costs()), runs_(params, engine, cache) {}

DecodeBlock DecodeTimes::built(DecodeBlock block) const {
  block.exponentials = params_.llm.exp_positions;
  return block;
}

DecodeTimes::DecodeTimes(const WseParams& params, const wse::RunOptions& options,
                         std::shared_ptr<KnownRuns> known)
    : params_(params), costs_(params.costs()), runs_(params, options, std::move(known)) {}

const RunTotals& DecodeTimes::layer_run(const wse::DecoderModel& decoder,
                                        const DecodeBlock& block) {
  const wse::DecodeShape shape(decoder, block);
  wse::require_memory(shape, params_.llm, params_.core_bytes());
  const auto plan = [&] {
    const wse::Datapath pieces = params_.datapath();
    return wse::DecodeLayer(shape, costs_, params_.llm).plan(&pieces);
  };
  return runs_.of(key_of(decoder, block), plan, title_of(decoder, block));
}

DecodePhaseTimes DecodeTimes::layer(const ModelShape& model, const DecodeBlock& given) {
  const DecodeBlock block = built(given);
  const wse::DecoderModel decoder = decoder_model(model);
  return phases_of(layer_run(decoder, block),
                   wse::decode_phases(block, decoder.experts.count != 0));
}

DecodePhaseShares DecodeTimes::shares(const ModelShape& model, const DecodeBlock& given) const {
  const wse::DecodeLayer layer({decoder_model(model), built(given)}, costs_, params_.llm);
  const std::vector<wse::CodeShares> all = layer.shares(params_.datapath());
  const std::vector<DecodePhase> phases = layer.phases();
  DecodePhaseShares shares;
  for (std::size_t i = 0; i < phases.size(); ++i) shares[phases[i]] = all.at(i);
  return shares;
}

std::uint32_t DecodeTimes::SquareLayer::padded(std::uint32_t size) const {
  return wse::DecodeShape::ceil(size, side) * side;
}

wse::DecoderModel DecodeTimes::SquareLayer::model() const {
  wse::DecoderModel model;
  model.width = model.head_dim = padded(width);
  model.heads = model.kv_heads = 1;
  model.ffn = padded(ffn);
  model.wide_sums = false;
  return model;
}

wse::InferenceParams DecodeTimes::SquareLayer::functions(wse::InferenceParams params) const {
  params.groups =
      groups != 0 ? groups : static_cast<unsigned>(std::sqrt(static_cast<double>(side)));
  return params;
}

double DecodeTimes::square_layer(const SquareLayer& what) {
  const wse::DecoderModel model = what.model();
  DecodeBlock block;
  block.columns = block.rows = what.side;
  block.context = what.padded(what.context);
  block.repeats = 2;
  wse::InferenceParams functions = what.functions(params_.llm);
  constexpr unsigned kSquarings = 8;  // (1 + x / 256)^256
  functions.exp_degree = 1;
  functions.exp_squarings = kSquarings;
  const wse::DecodeShape shape(model, block);
  wse::require_memory(shape, functions, params_.core_bytes());
  wse::DecodeStyle style;
  style.scalar_silu = true;
  const std::string key = fmt::format("square {} {} {} {} {}", what.side, model.width, model.ffn,
                                      block.context, functions.groups.value());
  const wse::DecodeLayer layer(shape, costs_, functions, style);
  const RunTotals& run = runs_.of(key, [&] {
    const wse::Datapath pieces = params_.datapath();
    return layer.plan(&pieces);
  });
  return sum_of(phases_of(run, layer.phases()), DecodePhase::norm, DecodePhase::ffn_residual);
}

const RunTotals& DecodeTimes::head_run(const ModelShape& model, const DecodePlacement& placement) {
  const std::uint32_t d = wse::DecodeShape::ceil(model.width, placement.rows);
  return runs_.of(
      fmt::format("head {} {}", placement.rows, d),
      [&] { return wse::plan_head(kEndColumns, placement.rows, d, costs_, params_.llm); },
      {"head: a row of the table", {}});
}

double DecodeTimes::head(const ModelShape& model, const DecodePlacement& placement) {
  return static_cast<double>(head_run(model, placement).cycles);
}

namespace {

wse::DecodeTail tail_of(const ModelShape& model, const DecodePlacement& placement) {
  wse::DecodeTail tail;
  tail.columns = kEndColumns;
  tail.rows = std::max(placement.rows, kEndRows);
  tail.width = model.width;
  tail.vocabulary = model.vocabulary;
  tail.top_k = placement.top_k;
  return tail;
}

}  // namespace

const RunTotals& DecodeTimes::tail_column(const wse::DecodeTail& tail) {
  return runs_.of(fmt::format("tail column {} {} {}", tail.width, tail.vocabulary, tail.rows),
                  [&] { return wse::plan_tail_column(tail, costs_, params_.llm); },
                  {"tail: one column of the product with the vocabulary", {}});
}

const RunTotals& DecodeTimes::tail_row(const wse::DecodeTail& tail) {
  return runs_.of(fmt::format("tail row {} {}", tail.vocabulary, tail.top_k),
                  [&] { return wse::plan_tail_row(tail, costs_, params_.llm); },
                  {"tail: the choice, in the row of the roots", {}});
}

double DecodeTimes::tail(const ModelShape& model, const DecodePlacement& placement) {
  const wse::DecodeTail tail = tail_of(model, placement);
  const std::uint64_t memory = params_.core_bytes();
  if (tail.bytes() > memory) {
    throw OutOfMemoryError(fmt::format(
        "the product with a vocabulary of {} on {} x {} cores needs {} bytes of a core; it has {}",
        model.vocabulary, tail.columns, tail.rows, tail.bytes(), memory));
  }
  return static_cast<double>(tail_column(tail).cycles + tail_row(tail).cycles);
}

void DecodeTimes::add_ends(const ModelShape& model, const DecodePlacement& placement, double heads,
                           double tails, PassTotals& totals) {
  totals.add(head_run(model, placement), heads);
  const wse::DecodeTail tail = tail_of(model, placement);
  totals.add(tail_column(tail), tails * tail.columns);
  totals.add(tail_row(tail), tails);
}

std::uint64_t DecodeTimes::cores(const DecodePlacement& placement) {
  const std::uint64_t ends = placement.rows + std::max(placement.rows, kEndRows);
  return std::uint64_t{placement.blocks()} * placement.columns * placement.rows +
         kEndColumns * ends;
}

}  // namespace lacuna
