// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/decode_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/allowed_options.hpp"
#include "sim/driver/command/decode_words.hpp"
#include "sim/driver/run/acting.hpp"
#include "sim/machines/wse/decode_times.hpp"
#include "sim/machines/wse/prefill_times.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

namespace {

constexpr std::uint32_t kMost = 1U << 24U;

std::uint32_t whole(const char* option, const std::string& text) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value == 0 || value > kMost) {
    throw RequestError(
        fmt::format("{}: found '{}', allowed is a whole number from 1 to {}", option, text, kMost));
  }
  return value;
}

std::pair<std::uint32_t, std::uint32_t> sides(const char* option, const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) {
    throw RequestError(
        fmt::format("{}: found '{}', allowed are two numbers such as 2x4", option, text));
  }
  return {whole(option, text.substr(0, cross)), whole(option, text.substr(cross + 1))};
}

/// What says what else a machine runs, or how its run is looked at, has no place beside --model.
void check_options(const Options& options) {
  if (!options.model) {
    const std::vector<std::string> known = {
        "--decode",  "--context",     "--batch",  "--prefill", "--chunk",
        "--blocks",  "--block-cores", "--layers", "--cache",   "--activations",
        "--weights", "--window",      "--kept",   "--experts"};
    for (const std::string& name : given_options(options)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      throw RequestError(fmt::format("{} needs --model", name));
    }
  }
  allow_options(options,
                {"--machine",     "--set",     "--model",  "--decode",      "--context", "--batch",
                 "--prefill",     "--chunk",   "--blocks", "--block-cores", "--layers",  "--cache",
                 "--activations", "--weights", "--window", "--kept",        "--experts", "--seed",
                 "--engine",      "--json",    "--wide",   "--quiet"},
                "{} does not go with --model so far");
  if (options.decode == options.prefill.has_value()) {
    throw RequestError("--model: say what it does: one of --decode and --prefill N");
  }
  const std::vector<std::pair<const char*, bool>> of_decode = {
      {"--context", options.context.has_value()},      {"--batch", options.batch.has_value()},
      {"--activations", !options.activations.empty()}, {"--weights", !options.weights.empty()},
      {"--window", options.window.has_value()},        {"--kept", options.kept.has_value()},
      {"--experts", options.experts.has_value()},      {"--seed", options.seed.has_value()}};
  for (const auto& [name, is_given] : of_decode) {
    if (is_given && options.prefill) {
      throw RequestError(fmt::format("{} does not go with --prefill", name));
    }
  }
  if (options.chunk && !options.prefill) throw RequestError("--chunk needs --prefill");
}

/// What there is to say of a step, one number for each name.
using Numbers = std::vector<std::pair<std::string, double>>;

Numbers numbers_of(const DecodeStep& step, std::uint32_t batch, double clock_ghz) {
  Numbers all = {{"step_cycles", step.cycles},
                 {"tokens_per_s", batch * clock_ghz * 1e9 / step.cycles},
                 {"forced_token_cycles", step.slowest_stage / batch},
                 {"forced_tokens_per_s", batch * clock_ghz * 1e9 / step.slowest_stage},
                 {"head_cycles", step.head},
                 {"tail_cycles", step.tail},
                 {"hand_over_cycles", step.hand_over},
                 {"row_change_cycles", step.row_change}};
  if (step.split) {
    all.emplace_back("attention_cycles", step.attention);
    all.emplace_back("ffn_cycles", step.ffn);
  } else {
    all.emplace_back("first_layer_cycles", step.first_layer);
    all.emplace_back("next_layer_cycles", step.next_layer);
  }
  return all;
}

std::string json_of(const ModelShape& model, std::uint32_t context, const DecodeStep& step,
                    std::uint32_t batch, double clock_ghz, const std::string& zeros) {
  std::string text = fmt::format(
      "{{\n  \"model\": \"{}\",\n  \"context\": {},\n  \"batch\": {},\n  \"layers_per_block\": "
      "{},\n  "
      "\"composed\": true",
      model.name, context, batch, step.layers);
  text += zeros;
  for (const auto& [name, value] : numbers_of(step, batch, clock_ghz)) {
    text += fmt::format(",\n  \"{}\": {}", name, value);
  }
  text += ",\n  \"phases\": {";
  const char* comma = "";
  for (const auto& [phase, cycles] : step.phases) {
    text += fmt::format("{}\n    \"{}\": {}", std::exchange(comma, ","), word(phase), cycles);
  }
  text += "\n  },\n  \"memory\": {";
  comma = "";
  for (const DecodeMemory& m : step.memory) {
    text += fmt::format(
        "{}\n    \"{}\": {{\"weights\": {}, \"cache\": {}, \"buffers\": {}, \"code\": {}, "
        "\"positions_that_fit\": {}}}",
        std::exchange(comma, ","), m.block, m.weights, m.cache, m.buffers, m.code,
        m.positions == kAnyPositions ? "null" : fmt::format("{}", m.positions));
  }
  return text + "\n  }\n}\n";
}

std::string table_of(const Numbers& numbers) {
  TextTable parts;
  parts.column("", "", TextTable::Align::left);
  parts.column("value", "");
  for (const auto& [name, value] : numbers) parts.row({name, four_digits(value)});
  return parts.text();
}

std::string tables_of(const DecodeStep& step, std::uint32_t batch, const WseParams& params) {
  TextTable phases;
  phases.column("phase of a layer", "", TextTable::Align::left);
  phases.column("cycles", "");
  for (const auto& [phase, cycles] : step.phases) {
    phases.row({word(phase), fmt::format("{:.0f}", cycles)});
  }
  TextTable memory;
  memory.column("core of a block of", "", TextTable::Align::left);
  for (const char* const title : {"weights", "cache", "buffers", "code", "all", "has"}) {
    memory.column(title, "B");
  }
  memory.column("positions that fit", "");
  for (const DecodeMemory& m : step.memory) {
    memory.row({m.block, fmt::format("{}", m.weights), fmt::format("{}", m.cache),
                fmt::format("{}", m.buffers), fmt::format("{}", m.code),
                fmt::format("{}", m.weights + m.cache + m.buffers + m.code),
                fmt::format("{}", params.mem.kib * 1024U),
                m.positions == kAnyPositions ? "any" : fmt::format("{}", m.positions)});
  }
  return table_of(numbers_of(step, batch, params.clock)) + '\n' + phases.text() + '\n' +
         memory.text();
}

}  // namespace

bool asks_for_decode(const Options& options) {
  return options.model || options.decode || options.context || options.blocks ||
         options.block_cores || options.prefill || options.chunk || options.batch ||
         options.layers || options.cache || asks_for_zeros(options);
}

namespace {

/// A model by its name, or what a config.json says.
ModelShape shape_of(const std::string& model) {
  if (!std::filesystem::is_regular_file(model)) return find_model_shape(model);
  const ModelFile file = read_model_file(read_text_file(model), model);
  ModelShape shape = file.shape;
  shape.name = std::filesystem::path(model).stem().string();
  return shape;
}

DecodePlacement placement_of(const Options& options) {
  DecodePlacement placement;
  if (options.blocks) {
    std::tie(placement.blocks_x, placement.blocks_y) = sides("--blocks", *options.blocks);
  }
  if (options.block_cores) {
    std::tie(placement.columns, placement.rows) = sides("--block-cores", *options.block_cores);
  }
  if (options.batch) placement.batch = whole("--batch", *options.batch);
  set_zeros(options, placement);
  return placement;
}

/// OutOfMemoryError if the blocks, and head and tail beside them, are more than the wafer has.
void check_room(const DecodePlacement& placement, const WseParams& params) {
  constexpr std::uint64_t kEnds = 128;  // columns of head and tail
  const std::uint64_t columns = std::uint64_t{placement.blocks_x} * placement.columns + kEnds;
  const std::uint64_t rows = std::uint64_t{placement.blocks_y} * placement.rows;
  if (columns <= params.wafer.columns && rows <= params.wafer.rows) return;
  const auto most = [](std::uint64_t has, std::uint64_t ends, std::uint64_t side) {
    return has > ends ? (has - ends) / side : 0;
  };
  throw OutOfMemoryError(fmt::format(
      "--blocks {}x{} of {} x {} cores, and {} columns for head and tail, take {} x {} cores; the "
      "wafer has {} x {}: at most {}x{} such blocks",
      placement.blocks_x, placement.blocks_y, placement.columns, placement.rows, kEnds, columns,
      rows, params.wafer.columns.value(), params.wafer.rows.value(),
      most(params.wafer.columns, kEnds, placement.columns),
      most(params.wafer.rows, 0, placement.rows)));
}

TimesCache cache_of(const Options& options, const WseParams& params, Engine engine) {
  if (!options.cache) return {};
  return {*options.cache, params, engine == Engine::event ? "event" : "clocked"};
}

int run_prompt(const Options& options, const ModelShape& model, const WseParams& params,
               const Streams& streams) {
  const DecodePlacement placement = placement_of(options);
  check_room(placement, params);
  const std::uint32_t tokens = whole("--prefill", *options.prefill);
  constexpr std::uint32_t kChunk = 256;
  const std::uint32_t chunk = options.chunk ? whole("--chunk", *options.chunk) : kChunk;
  const Engine engine = run_settings(options).execution.engine;
  DecodeTimes ends(params, engine, cache_of(options, params, engine));
  PrefillTimes times(params, engine, ends, cache_of(options, params, engine));
  const PrefillRun run = times.run(model, placement, tokens, chunk);
  const std::uint32_t padded = (chunk - tokens % chunk) % chunk;
  const double seconds = run.cycles / (params.clock * 1e9);
  const Numbers numbers = {
      {"prompt_cycles", run.cycles},
      {"seconds", seconds},
      {"tokens_per_s", tokens / seconds},
      {"chunks", run.chunks},
      {"layer_of_first_chunk_cycles", run.layer.attention(1) + run.layer.ffn()},
      {"layer_of_each_chunk_of_keys_cycles", run.layer.attention(2) - run.layer.attention(1)},
      {"head_cycles", run.head},
      {"tail_cycles", run.tail},
      {"hand_over_cycles", run.hand_over}};
  if (options.json) {
    std::string text = fmt::format(
        "{{\n  \"model\": \"{}\",\n  \"tokens\": {},\n  \"padded_tokens\": {},\n  \"chunk\": {},\n "
        " \"layers_per_block\": "
        "{},\n  \"composed\": true,\n  \"folded\": true",
        model.name, tokens, padded, chunk, run.layers);
    for (const auto& [name, value] : numbers) text += fmt::format(",\n  \"{}\": {}", name, value);
    text += ",\n  \"parts\": {";
    const char* comma = "";
    for (const auto& [part, cycles] : run.layer.parts) {
      text += fmt::format("{}\n    \"{}\": {}", std::exchange(comma, ","), word(part), cycles);
    }
    streams.out << text << "\n  }\n}\n";
    return kDone;
  }
  TextTable parts;
  parts.column("part of a layer and chunk", "", TextTable::Align::left);
  parts.column("cycles", "");
  for (const auto& [part, cycles] : run.layer.parts) {
    parts.row({word(part), fmt::format("{:.0f}", cycles)});
  }
  streams.out << fmt::format(
      "{}, a prompt of {} tokens in chunks of {}, on {} x {} blocks of {} x {} cores; {}, up to {} "
      "layers in a block.\nFolded: rings of a few cores stand for equal ones. Composed: parts, "
      "layers and chunks are added up; chunks wait for blocks that are busy.{}\n\n{}\n{}",
      model.name, tokens, chunk, placement.blocks_x, placement.blocks_y, placement.columns,
      placement.rows,
      run.split ? "attention and feed-forward parts in blocks of their own"
                : "whole layers in each block",
      run.layers,
      padded == 0 ? "" : fmt::format("\nThe last chunk is padded by {} tokens.", padded),
      table_of(numbers), parts.text());
  return kDone;
}

}  // namespace

int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams) {
  check_options(options);
  if (options.machines.empty()) throw RequestError("--machine: give a wafer, such as wse3");
  if (options.machines.size() > 1) {
    throw RequestError(
        fmt::format("--model: found {} machines, allowed is one", options.machines.size()));
  }
  const auto machines = make_machines(kinds, {options.machines[0]}, options.settings);
  Machine& machine = *machines.at(0);
  if (std::string(machine.kind()) != "wse") {
    throw RequestError(
        fmt::format("--model runs on wafers so far; {} is none", options.machines[0]));
  }
  machine.check();
  streams.err << settings_beside_model(machine, options.settings);
  const auto& params = static_cast<const WseParams&>(machine.parameters());
  ModelShape model = shape_of(*options.model);
  if (options.layers) {
    const std::uint32_t layers = whole("--layers", *options.layers);
    if (layers > model.layers) {
      throw RequestError(fmt::format("--layers: found {}, allowed are 1 to {} of model '{}'",
                                     layers, model.layers, model.name));
    }
    model.layers = layers;
  }
  check_zeros(options, model, params);
  if (options.prefill) return run_prompt(options, model, params, streams);
  constexpr std::uint32_t kContext = 2048;
  const std::uint32_t context = options.context ? whole("--context", *options.context) : kContext;
  const DecodePlacement placement = placement_of(options);
  check_room(placement, params);
  const Engine engine = run_settings(options).execution.engine;
  DecodeTimes times(params, engine, cache_of(options, params, engine));
  const DecodeStep step = times.step(model, placement, context);
  if (options.json) {
    streams.out << json_of(model, context, step, placement.batch, params.clock,
                           zeros_as_json(options, placement, params));
    return kDone;
  }
  streams.out << fmt::format(
      "{}, sequences: {}, context {}, on {} x {} blocks of {} x {} cores; {}, up to {} layers in a "
      "block.\nComposed: a block of each role is simulated, its time taken for all layers; "
      "hand-overs, head and tail are simulated too.\n{}\n{}",
      model.name, placement.batch, context, placement.blocks_x, placement.blocks_y,
      placement.columns, placement.rows,
      step.split ? "attention and feed-forward parts in blocks of their own"
                 : "whole layers in each block",
      step.layers, zeros_as_text(options, placement, params),
      tables_of(step, placement.batch, params));
  return kDone;
}

}  // namespace lacuna
