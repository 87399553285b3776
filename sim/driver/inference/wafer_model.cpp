// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/wafer_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/run/unit_view.hpp"

namespace lacuna {

using wse::DecodePhase;

const WseParams& WaferModel::params_of(const Machine& wafer) {
  // NOLINTNEXTLINE(*-static-cast-downcast): of a wafer; the base has nothing virtual
  return static_cast<const WseParams&>(wafer.parameters());
}

WaferModel::WaferModel(const Machine& wafer, const Pricing& pricing, Engine engine,
                       PartCache* cache, ModelShape model, DecodePlacement placement)
    : wafer_(wafer),
      params_(params_of(wafer)),
      pricing_(pricing),
      model_(std::move(model)),
      placement_(std::move(placement)),
      times_(params_, engine, cache),
      prompts_(params_, engine, times_, cache) {}

void WaferModel::show(const TaskView& view, std::vector<std::string>& pages) {
  const auto add = [this, &pages](const std::string& title, const RunTotals& run,
                                  UnitSeries series) {
    OpResult result;
    result.clock_ghz = params_.clock;
    ViewFacts facts;
    facts.title = fmt::format("{} on {}: {}", model_.name, wafer_.name(), title);
    facts.cycles = run.cycles;
    facts.clock_ghz = params_.clock;
    facts.units = run.cores;
    pages.push_back(packed_view(wafer_, pricing_, facts, result, series));
  };
  times_.watch(view, add);
  prompts_.watch(view, add);
}

DecodeStep WaferModel::step(std::uint32_t context, std::uint32_t capacity) {
  DecodePlacement placement = placement_;
  placement.capacity = capacity;
  return times_.step(model_, placement, context);
}

JouleRange WaferModel::joules(const PassTotals& totals, std::uint64_t cores, double cycles) const {
  OpRecord record;
  OpResult& result = record.result;
  result.cycles = static_cast<Cycle>(std::llround(cycles));
  result.clock_ghz = params_.clock;
  result.units = cores;
  result.statistics = totals.statistics;
  result.stack = totals.stack;
  std::uint64_t counted = 0;
  for (const StackPart& part : result.stack) counted += part.cycles;
  const std::uint64_t all = cores * result.cycles;
  result.stack.push_back({Layer::idle, "elsewhere", all - std::min(all, counted)});
  pricing_.price(wafer_, record);
  return *record.row.energy_j;
}

std::string WaferModel::blocks_text(bool split, std::uint32_t layers) const {
  return fmt::format("{} x {} blocks of {} x {} cores; {}, up to {} in a block.",
                     placement_.blocks_x, placement_.blocks_y, placement_.columns, placement_.rows,
                     split ? "attention and feed-forward parts in blocks of their own"
                           : "whole layers in each block",
                     counted(layers, "layer"));
}

namespace {

/// What the first core of a block does in each phase: its code, and waiting for the words of
/// others.
ModelTable shares_of(const DecodeStep& step) {
  ModelTable shares{"shares", "phase, in its first core", {}, {}};
  shares.add_columns({"set_up", "tensor", "rewriting", "words", "waiting"}, "cycles");
  for (const auto& [phase, of] : step.layer.shares) {
    std::vector<double> row;
    for (const Cycle part : {of.setup, of.arithmetic, of.rewriting, of.words}) {
      row.push_back(static_cast<double>(part));
    }
    row.push_back(step.layer.phases.at(phase) - static_cast<double>(of.all()));
    shares.rows.emplace_back(word(phase), row);
  }
  return shares;
}

/// Layers that have zeros of their own: the first of `values` of the times of one, by these titles.
template <typename Kind, typename Values>
ModelTable layers_table(const std::vector<Kind>& kinds, const std::vector<const char*>& titles,
                        const Values& values) {
  ModelTable layers{"layers", "layers", {}, {}};
  layers.add_columns(titles, "cycles");
  for (const Kind& kind : kinds) {
    std::vector<double> row = values(kind.times);
    row.resize(titles.size());
    layers.rows.emplace_back(ranges_text(kind.numbers), row);
  }
  return layers;
}

ModelTable layers_of(const DecodeStep& step) {
  if (step.split) {
    return layers_table(step.kinds, {"attention", "ffn"}, [](const DecodeLayerTimes& of) {
      return std::vector<double>{of.attention, of.ffn};
    });
  }
  std::vector<const char*> titles = {"first_of_a_block"};
  if (step.layer.next != 0) titles.push_back("next");
  return layers_table(step.kinds, titles, [](const DecodeLayerTimes& of) {
    return std::vector<double>{of.first, of.next};
  });
}

ModelTable layers_of(const PrefillRun& run) {
  return layers_table(run.kinds, {"attention_of_first_chunk", "ffn"}, [](const PrefillLayer& of) {
    return std::vector<double>{of.attention(1), of.ffn()};
  });
}

void add_rates(const DecodeStep& step, std::uint32_t batch, double hertz, ModelReport& report) {
  report.number("step_cycles", step.cycles);
  report.number("step_time", step.cycles / hertz, "s");
  report.number("tokens_per_s", batch * hertz / step.cycles, "1/s");
}

/// Cycles of what a step is put together of.
void add_composed(const DecodeStep& step, ModelReport& report) {
  report.number("head_cycles", step.head);
  report.number("tail_cycles", step.tail);
  report.number("hand_over_cycles", step.hand_over);
  report.number("row_change_cycles", step.row_change);
  if (step.split) {
    report.number("attention_cycles", step.layer.attention);
    report.number("ffn_cycles", step.layer.ffn);
  } else {
    report.number("first_layer_cycles", step.layer.first);
    if (step.layer.next != 0) report.number("next_layer_cycles", step.layer.next);
  }
}

/// Percents of a layer on weights and on keys and values.
void add_shares(const DecodeStep& step, ModelReport& report) {
  const auto in = [&](std::initializer_list<DecodePhase> which) {
    double cycles = 0;
    for (const DecodePhase phase : which) {
      if (const auto found = step.layer.phases.find(phase); found != step.layer.phases.end()) {
        cycles += found->second;
      }
    }
    return 100 * cycles / sum_of(step.layer.phases, DecodePhase::norm, DecodePhase::ffn_residual);
  };
  report.number("of_layer_in_weights",
                in({DecodePhase::qkv, DecodePhase::o_proj, DecodePhase::router,
                    DecodePhase::up_gate, DecodePhase::down}),
                "%");
  report.number("of_layer_in_cache",
                in({DecodePhase::score, DecodePhase::softmax_max, DecodePhase::softmax_subtract,
                    DecodePhase::softmax_exp, DecodePhase::softmax_sum, DecodePhase::pv}),
                "%");
}

double shown_positions(std::uint32_t positions) {
  return positions == kAnyPositions ? std::numeric_limits<double>::infinity()
                                    : static_cast<double>(positions);
}

double positions_of_all(const DecodeStep& step) {
  std::uint32_t positions = kAnyPositions;
  for (const DecodeMemory& m : step.memory) positions = std::min(positions, m.positions);
  return shown_positions(positions);
}

ModelTable layer_phases(const DecodeStep& step) {
  ModelTable phases{"phases", "phase of a layer", {{"cycles", ""}}, {}};
  for (const auto& [phase, cycles] : step.layer.phases) {
    phases.rows.push_back({word(phase), {cycles}});
  }
  return phases;
}

/// A core's bytes, all of them, and what it has; of a cache the positions that would fit.
ModelTable core_memory(const std::vector<DecodeMemory>& of, const WseParams& params, bool cache) {
  ModelTable memory{"memory", "core of a block of", {}, {}};
  memory.add_columns({"weights", "cache", "buffers", "code", "all", "has"}, "B");
  if (cache) memory.add_columns({"positions_that_fit"}, "");
  for (const DecodeMemory& m : of) {
    std::vector<double> row;
    for (const std::uint64_t bytes :
         {m.weights, m.cache, m.buffers, m.code, m.weights + m.cache + m.buffers + m.code,
          params.core_bytes()}) {
      row.push_back(static_cast<double>(bytes));
    }
    if (cache) row.push_back(shown_positions(m.positions));
    memory.rows.emplace_back(m.block, row);
  }
  return memory;
}

/// Says which matrices with zeros cores have with these, if any.
void add_dense(const std::string& names, ModelReport& report) {
  if (names.empty()) return;
  report.facts.emplace_back("weights_with_their_zeros", fmt::format("\"{}\"", names));
  report.remark +=
      fmt::format("\nStored and multiplied with their zeros (llm.weight_form): {}.", names);
}

}  // namespace

ModelReport WaferModel::decode_report(std::uint32_t context) {
  const DecodeStep step = times_.step(model_, placement_, context);
  const std::uint32_t batch = placement_.batch;
  const double hertz = params_.clock * 1e9;
  ModelReport report{wafer_.name(), wafer_.kind(), model_.name, "decode"};
  report.title = fmt::format("{}, sequences: {}, context {}, on {}", model_.name, batch, context,
                             blocks_text(step.split, step.layers));
  report.remark =
      "Composed: a block of each role is simulated, its time taken for all layers; "
      "hand-overs, head and tail are simulated too.\n"
      "Folded: of the tail's product one column, of a hand-over one row of cores.";
  report.facts = {{"context", fmt::format("{}", context)},
                  {"batch", fmt::format("{}", batch)},
                  {"layers_per_block", fmt::format("{}", step.layers)}};
  add_dense(step.dense_weights, report);
  report.words(true, true);
  add_rates(step, batch, hertz, report);
  const JouleRange energy = joules(step.totals, step.cores, step.cycles);
  report.joules("joules_per_token", energy, batch);
  report.number("power", energy.nominal * hertz / step.cycles, "W");
  report.number("forced_token_cycles", step.slowest_stage / batch);
  report.number("forced_tokens_per_s", batch * hertz / step.slowest_stage, "1/s");
  report.joules("forced_joules_per_token", joules(step.forced, step.cores, step.slowest_stage),
                batch);
  add_composed(step, report);
  add_shares(step, report);
  report.number("positions_that_fit", positions_of_all(step));
  report.tables = {layer_phases(step), shares_of(step), core_memory(step.memory, params_, true)};
  if (step.kinds.size() > 1) report.tables.push_back(layers_of(step));
  return report;
}

/// The prompt; if cores cannot hold its chunks, which of them fit: cores have tokens of whole
/// columns.
PrefillRun WaferModel::run_prompt(std::uint32_t tokens, std::uint32_t chunk) {
  try {
    return prompts_.run(model_, placement_, tokens, chunk);
  } catch (const OutOfMemoryError& error) {
    while (chunk > placement_.columns) {
      chunk = (chunk - 1) / placement_.columns * placement_.columns;
      try {
        prompts_.placed(model_, placement_, tokens, chunk);
      } catch (const OutOfMemoryError&) {
        continue;
      }
      throw OutOfMemoryError(fmt::format("{}; chunks of {} would fit", error.what(), chunk));
    }
    throw OutOfMemoryError(fmt::format("{}; no shorter chunk fits", error.what()));
  }
}

ModelReport WaferModel::prefill_report(std::uint32_t tokens, std::uint32_t chunk) {
  const PrefillRun run = run_prompt(tokens, chunk);
  const std::uint32_t padded = (chunk - tokens % chunk) % chunk;
  const double seconds = run.cycles / (params_.clock * 1e9);
  ModelReport report{wafer_.name(), wafer_.kind(), model_.name, "prefill"};
  report.title = fmt::format("{}, a prompt of {} tokens in chunks of {}, on {}", model_.name,
                             tokens, chunk, blocks_text(run.split, run.layers));
  report.remark = fmt::format(
      "Folded: rings of a few cores stand for equal ones. Composed: parts, layers and chunks are "
      "added up; chunks wait for blocks that are busy.{}{}",
      placement_.sparsity.any() ? " Products that leave zeros out have all their cores." : "",
      padded == 0 ? "" : fmt::format("\nThe last chunk is padded by {} tokens.", padded));
  report.facts = {{"tokens", fmt::format("{}", tokens)},
                  {"padded_tokens", fmt::format("{}", padded)},
                  {"chunk", fmt::format("{}", chunk)},
                  {"layers_per_block", fmt::format("{}", run.layers)}};
  add_dense(run.dense_weights, report);
  report.words(true, true);
  report.number("prompt_cycles", run.cycles);
  report.number("seconds", seconds, "s");
  report.number("step_time", seconds, "s");
  report.number("tokens_per_s", tokens / seconds, "1/s");
  const JouleRange energy = joules(run.totals, run.cores, run.cycles);
  report.joules("joules_per_token", energy, tokens);
  report.number("power", energy.nominal / seconds, "W");
  report.number("chunks", run.chunks);
  report.number("layer_of_first_chunk_cycles", run.layer.attention(1) + run.layer.ffn());
  report.number("layer_of_each_chunk_of_keys_cycles",
                run.layer.attention(2) - run.layer.attention(1));
  report.number("head_cycles", run.head);
  report.number("tail_cycles", run.tail);
  report.number("hand_over_cycles", run.hand_over);
  ModelTable parts{"parts", "part of a layer and chunk", {{"cycles", ""}}, {}};
  for (const auto& [part, cycles] : run.layer.parts) parts.rows.push_back({word(part), {cycles}});
  report.tables = {parts, core_memory(run.memory, params_, false)};
  if (run.kinds.size() > 1) report.tables.push_back(layers_of(run));
  return report;
}

ModelReport WaferModel::move_report(const CacheMove& move) {
  const CacheMoveTimes times = prompts_.cache_moves(model_, placement_, move);
  const double hertz = times.clock_ghz * 1e9;
  ModelReport report{wafer_.name(), wafer_.kind(), model_.name, move.outwards ? "kv_out" : "kv_in"};
  report.title = fmt::format("{}, keys and values of {} positions {}, {} streams, {}", model_.name,
                             move.tokens, move.outwards ? "to the host" : "from the host",
                             move.streams, blocks_text(times.split, times.layers));
  report.remark =
      "Folded: of the rows of cores one, of its tensors two. Composed: rows of a stream follow "
      "each other, each as long as its cores take or its stream, whichever is longer. Each block "
      "moves as many layers as the fullest has. No energy is counted.";
  report.facts = {{"way", move.outwards ? "\"to the host\"" : "\"from the host\""},
                  {"positions", fmt::format("{}", move.tokens)},
                  {"streams", fmt::format("{}", move.streams)},
                  {"layers_per_block", fmt::format("{}", times.layers)}};
  report.words(true, true);
  report.number("move_cycles", times.cycles);
  report.number("seconds", times.cycles / hertz, "s");
  report.number("bytes", times.bytes * placement_.blocks_y * placement_.rows, "B");
  report.number("rows_of_a_stream", times.rows);
  report.number("row_cycles", times.row);
  report.number("stream_cycles_of_a_row", times.stream);
  return report;
}

}  // namespace lacuna
