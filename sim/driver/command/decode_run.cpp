// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/decode_run.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/machines/wse/decode_times.hpp"
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
  const std::vector<std::pair<const char*, bool>> given = {
      {"--trace", options.trace.has_value()},
      {"--gemm", options.gemm.has_value()},
      {"--matrix", options.matrix.has_value()},
      {"--n", options.n.has_value()},
      {"--system-config", options.system_config.has_value()},
      {"--pattern", !options.patterns.empty()},
      {"--density", options.density.has_value()},
      {"--block", options.block.has_value()},
      {"--nm", options.nm.has_value()},
      {"--mode", options.mode.has_value()},
      {"--residency", options.residency.has_value()},
      {"--x-pattern", options.x_pattern.has_value()},
      {"--dtype", options.dtype.has_value()},
      {"--partials", options.partials.has_value()},
      {"--values", options.values.has_value()},
      {"--seeds", options.seeds.has_value()},
      {"--interval", options.interval.has_value()},
      {"--with-dense", options.with_dense},
      {"--event-log", options.event_log},
      {"--waves", !options.waves.empty()},
      {"--units", !options.units.empty()},
      {"--timeline", options.timeline},
      {"--out", options.out.has_value()},
      {"--resume", options.resume},
      {"--scalesim", options.scalesim},
      {"--explain", options.explain}};
  for (const auto& [name, is_given] : given) {
    if (is_given) throw RequestError(fmt::format("{} does not go with --model so far", name));
  }
  if (!options.model) {
    throw RequestError("--decode, --context, --blocks and --block-cores need --model");
  }
  if (!options.decode) throw RequestError("--model: say what it does; so far there is --decode");
}

/// What there is to say of a step, one number for each name.
std::vector<std::pair<std::string, double>> numbers_of(const DecodeStep& step, double clock_ghz) {
  std::vector<std::pair<std::string, double>> all = {
      {"step_cycles", step.cycles},
      {"tokens_per_s", clock_ghz * 1e9 / step.cycles},
      {"forced_token_cycles", step.slowest_stage},
      {"forced_tokens_per_s", clock_ghz * 1e9 / step.slowest_stage},
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
                    double clock_ghz) {
  std::string text = fmt::format(
      "{{\n  \"model\": \"{}\",\n  \"context\": {},\n  \"layers_per_block\": {},\n  \"composed\": "
      "true",
      model.name, context, step.layers);
  for (const auto& [name, value] : numbers_of(step, clock_ghz)) {
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
        "{}\n    \"{}\": {{\"weights\": {}, \"cache\": {}, \"buffers\": {}, \"code\": {}}}",
        std::exchange(comma, ","), m.block, m.weights, m.cache, m.buffers, m.code);
  }
  return text + "\n  }\n}\n";
}

std::string tables_of(const DecodeStep& step, const WseParams& params) {
  const double clock = params.clock;
  TextTable parts;
  parts.column("", "", TextTable::Align::left);
  parts.column("value", "");
  for (const auto& [name, value] : numbers_of(step, clock)) {
    parts.row({name, four_digits(value)});
  }
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
  for (const DecodeMemory& m : step.memory) {
    memory.row({m.block, fmt::format("{}", m.weights), fmt::format("{}", m.cache),
                fmt::format("{}", m.buffers), fmt::format("{}", m.code),
                fmt::format("{}", m.weights + m.cache + m.buffers + m.code),
                fmt::format("{}", params.mem.kib * 1024U)});
  }
  return parts.text() + '\n' + phases.text() + '\n' + memory.text();
}

}  // namespace

bool asks_for_decode(const Options& options) {
  return options.model || options.decode || options.context || options.blocks ||
         options.block_cores;
}

namespace {

/// A model by its name, or what a config.json says.
ModelShape shape_of(const std::string& model) {
  if (!std::filesystem::is_regular_file(model)) return find_model_shape(model);
  ModelShape shape = read_model_file(read_text_file(model), model).shape;
  shape.name = std::filesystem::path(model).stem().string();
  return shape;
}

}  // namespace

int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams) {
  check_options(options);
  if (options.machines.empty()) throw RequestError("--machine: give a wafer, such as wse3");
  const auto machines = make_machines(kinds, {options.machines[0]}, options.settings);
  Machine& machine = *machines.at(0);
  if (std::string(machine.kind()) != "wse") {
    throw RequestError(
        fmt::format("--model runs on wafers so far; {} is none", options.machines[0]));
  }
  machine.check();
  const auto& params = static_cast<const WseParams&>(machine.parameters());
  const ModelShape model = shape_of(*options.model);
  constexpr std::uint32_t kContext = 2048;
  const std::uint32_t context = options.context ? whole("--context", *options.context) : kContext;
  DecodePlacement placement;
  if (options.blocks) {
    std::tie(placement.blocks_x, placement.blocks_y) = sides("--blocks", *options.blocks);
  }
  if (options.block_cores) {
    std::tie(placement.columns, placement.rows) = sides("--block-cores", *options.block_cores);
  }
  DecodeTimes times(params, run_settings(options).execution.engine);
  const DecodeStep step = times.step(model, placement, context);
  if (options.json) {
    streams.out << json_of(model, context, step, params.clock);
    return kDone;
  }
  streams.out << fmt::format(
      "{}, one sequence, context {}, on {} x {} blocks of {} x {} cores; {}, up to {} layers in a "
      "block.\nComposed: a block of each role is simulated, its time taken for all layers; "
      "hand-overs, head and tail are simulated too.\n\n{}",
      model.name, context, placement.blocks_x, placement.blocks_y, placement.columns,
      placement.rows,
      step.split ? "attention and feed-forward parts in blocks of their own"
                 : "whole layers in each block",
      step.layers, tables_of(step, params));
  return kDone;
}

}  // namespace lacuna
