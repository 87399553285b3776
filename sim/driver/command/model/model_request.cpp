// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/event_outputs.hpp"
#include "sim/driver/command/model/decode_words.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/inference/model_server.hpp"
#include "sim/driver/inference/pod_model.hpp"
#include "sim/driver/inference/wafer_model.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/system/idle.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

namespace {

constexpr std::uint32_t kMostCount = 1U << 24U;
constexpr const char* kInference = "inference.";
constexpr const char* kContextStep = "inference.context_step";

std::uint32_t whole(const char* option, const std::string& text) {
  return static_cast<std::uint32_t>(check_count(option, text, 1, kMostCount));
}

std::pair<std::uint32_t, std::uint32_t> two_numbers(const char* option, const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) {
    throw refused("{}: found '{}', allowed are two numbers such as 2x4", option, text);
  }
  return {whole(option, text.substr(0, cross)), whole(option, text.substr(cross + 1))};
}

void refuse_given(const Options& options, std::initializer_list<const char*> names,
                  const std::string& why) {
  for (const char* const name : names) {
    if (find_option(name)->is_given(options)) throw refused("{} {}", name, why);
  }
}

}  // namespace

namespace {

/// What the words of a request say of each other.
void check_request(const Options& options) {
  std::vector<const char*> asked;
  for (const char* const each : {"--decode", "--prefill", "--requests", "--kv-in", "--kv-out"}) {
    if (find_option(each)->is_given(options)) asked.push_back(each);
  }
  if (asked.size() != 1) {
    throw RequestError(
        "--model: say what it does: one of --decode and --prefill N, --kv-in N and --kv-out N, or "
        "--requests FILE");
  }
  if (options.context && !options.decode) {
    throw refused("--context does not go with {}", asked[0]);
  }
  check_needs(options);
  view_path_of(options);
  if (options.cache && options.no_cache) {
    throw RequestError("--cache and --no-cache: one of them");
  }
}

/// A model by its name, or what a config.json says; `remark` gets what of that is left out.
ModelShape shape_of(const Options& options, std::string& remark) {
  const std::string& model = *options.model;
  if (std::filesystem::is_directory(model)) {
    throw refused(
        "--model {}: is a folder; allowed: its config.json, with --weights for its "
        "zeros, or lacuna "
        "trace import of the folder, whose rows have those of the weights",
        model);
  }
  if (!std::filesystem::is_regular_file(model)) return find_model_shape(model);
  const ModelFile file = read_model_file(read_text_file(model), model);
  ModelShape shape = file.shape;
  shape.name = std::filesystem::path(model).stem().string();
  if (file.numbers == "fp32" || file.numbers == "bf16") {
    remark += fmt::format("\nOperands are fp16, which has {} bytes as the {} of {}.",
                          file.numbers == "bf16" ? "as many" : "half as many", file.numbers, model);
  }
  for (const ModuleRule& zeros : file.sparsity) {
    if (options.weights.empty()) {
      throw refused(
          "--model {}: its sparsity_config says {}; allowed: --weights beside it, such as all={}, "
          "or another pattern",
          model, zeros.pattern, zeros.pattern);
    }
    remark += fmt::format("\nThe file says weights of {}; --weights stands.", zeros.pattern);
  }
  for (const std::string& part : file.left_out) remark += fmt::format("\nLeft out: {}.", part);
  if (file.other_parts) {
    remark += "\nThe language model alone: its parts for pictures or sounds are left out.";
  }
  return shape;
}

/// The requests of a file; `remark` gets what of it is not used.
std::vector<ServingRequest> requests_of(const std::string& path, std::string& remark) {
  RequestFile file = read_requests(read_text_file(path), path);
  if (file.time_without_unit) {
    throw refused(
        "--requests {}: its times of arrival have no unit that is known; allowed: a column "
        "arrival in their place, in seconds",
        path);
  }
  for (const std::string& note : file.notes) remark += fmt::format("\nRequests: {}.", note);
  if (!file.has_arrivals) remark += "\nRequests: all are there at the beginning.";
  const bool cached = std::any_of(file.requests.begin(), file.requests.end(),
                                  [](const ServingRequest& each) { return each.cached != 0; });
  if (cached) remark += "\nRequests: cached tokens are computed as the others.";
  return std::move(file.requests);
}

/// Where nothing is said, the blocks of the published placement that the wafer has room for.
DecodePlacement placement_of(const Options& options, const WseParams& params) {
  DecodePlacement placement(params.blocks);
  if (options.block_cores) {
    std::tie(placement.columns, placement.rows) =
        two_numbers("--block-cores", *options.block_cores);
  }
  if (options.blocks) {
    std::tie(placement.blocks_x, placement.blocks_y) = two_numbers("--blocks", *options.blocks);
  } else {
    placement.fit(params);
  }
  if (options.batch) placement.batch = whole("--batch", *options.batch);
  set_zeros(options, placement);
  return placement;
}

/// OutOfMemoryError if the blocks, and head and tail beside them, are more than the wafer has.
void check_room(const DecodePlacement& placement, const WseParams& params) {
  const std::uint64_t columns = std::uint64_t{placement.blocks_x} * placement.columns + kEndColumns;
  const std::uint64_t rows = std::uint64_t{placement.blocks_y} * placement.rows;
  if (columns <= params.wafer.columns && rows <= params.wafer.rows) return;
  const auto [across, down] = placement.room(params);
  throw OutOfMemoryError(fmt::format(
      "--blocks {}x{} of {} x {} cores, and {} columns for head and tail, take {} x {} cores; the "
      "wafer has {} x {}: at most {}x{} such blocks",
      placement.blocks_x, placement.blocks_y, placement.columns, placement.rows, kEndColumns,
      columns, rows, params.wafer.columns.value(), params.wafer.rows.value(), across, down));
}

std::uint32_t context_of(const Options& options) {
  constexpr std::uint32_t kContext = 2048;
  return options.context ? whole("--context", *options.context) : kContext;
}

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

}  // namespace

ModelRequest read_model_request(const Options& options, const MachineTable& kinds) {
  check_request(options);
  std::string remark;
  ModelRequest request{options, kinds, shape_of(options, remark), {}, {}, run_settings(options),
                       {},      remark};
  if (options.layers) {
    const std::uint32_t layers = whole("--layers", *options.layers);
    if (layers > request.model.layers) {
      throw refused("--layers: found {}, allowed are 1 to {} of model '{}'", layers,
                    request.model.layers, request.model.name);
    }
    request.model.layers = layers;
  }
  for (const std::string& text : options.settings) {
    if (!begins(text, kInference)) {
      request.settings.push_back(text);
      continue;
    }
    const Setting setting = parse_setting(text);
    if (setting.path == kContextStep && !options.requests) {
      throw refused("{} needs --requests", kContextStep);
    }
    request.params.set(setting.path.substr(std::string(kInference).size()), setting.value,
                       "--set " + text);
  }
  if (options.requests) {
    request.requests = requests_of(*options.requests, request.remark);
  }
  return request;
}

namespace {

/// RequestError of patterns that do not say which share of the weights is there.
void require_share(const char* option, const PatternSpec& pattern) {
  if (pattern.density || pattern.name == "nm") return;
  throw refused("{}: found '{}'; allowed for a model on IPUs: N:M and patterns with a density",
                option, pattern_label(pattern));
}

/// The pattern of --weights all=PATTERN, if that was given.
std::optional<PatternSpec> weights_on_chips(const Options& options) {
  if (options.weights.empty()) return std::nullopt;
  DecodeSparsity said;
  set_weights(options, said);
  const std::string& first = options.weights.front();
  if (options.weights.size() > 1 || first.rfind("all=", 0) != 0 || said.weights[0]->tiles ||
      !said.weights[0]->file.empty()) {
    throw refused("--weights: found '{}'; allowed for a model on IPUs: all=PATTERN",
                  fmt::join(options.weights, " "));
  }
  require_share("--weights", said.weights[0]->pattern);
  return said.weights[0]->pattern;
}

/// Zeros of the inputs of products, by the rows that these are on chips.
InputZeros inputs_on_chips(const Options& options) {
  static const std::array<std::vector<const char*>, wse::kProjections> kRows = {
      {{"q", "k", "v"}, {"o"}, {"gate", "up", "ffn1"}, {"ffn2"}}};
  const DecodeSparsity said = activations_of(options);
  if (said.hidden || !said.layers.empty()) {
    throw refused(
        "--activations: found '{}'; allowed for a model on IPUs: qkv, o, up or down of all layers",
        fmt::join(options.activations, " "));
  }
  InputZeros rows;
  for (std::size_t i = 0; i < wse::kProjections; ++i) {
    const std::optional<LayerSparsity::Inputs>& inputs = said.inputs.at(i);
    if (!inputs) continue;
    if (inputs->name != "bernoulli") {
      throw refused("--activations: found '{}'; allowed for a model on IPUs: bernoulli:DENSITY",
                    inputs->text);
    }
    for (const char* const row : kRows.at(i)) rows.emplace(row, inputs->density);
  }
  return rows;
}

/// Whether a machine of a kind is among those that are asked for; words for it are its alone then.
bool is_there(const ModelRequest& request, const std::string& kind) {
  const auto is = [&](const std::string& name) {
    if (is_system(name)) return kind == "ipu";
    return make_machines(request.kinds, {name}, {}).at(0)->kind() == kind;
  };
  const std::vector<std::string>& machines = request.options.machines;
  return std::any_of(machines.begin(), machines.end(), is);
}

/// Refuses what says how a model lies on a wafer, and what moves keys and values there.
void refuse_blocks_on_chips(const ModelRequest& request, const std::string& name) {
  refuse_given(request.options, {"--kv-in", "--kv-out"},
               fmt::format("is for wafers; on {} keys and values stay on chips, or in streaming "
                           "memory with inference.cache=streaming",
                           name));
  if (is_there(request, "wse")) return;
  refuse_given(
      request.options, {"--blocks", "--block-cores", "--chunk"},
      fmt::format("is for wafers; {} is cut by inference.tensor and inference.pipeline", name));
}

/// The system of a name; of one chip a machine of its like, all of whose settings are the chip's.
SystemMachine system_of(const ModelRequest& request, const std::string& name) {
  if (!is_system(name)) {
    SystemMachine alone;
    alone.name = name;
    alone.params.chip.parse("chip", name);
    alone.chip_settings = request.settings;
    return alone;
  }
  for (const std::string& text : request.settings) {
    if (!begins(text, "training.")) continue;
    throw refused(
        "--set {}: says how a model is trained (--system-config); inference.* says how {} lies "
        "on the chips of {}",
        text, request.model.name, name);
  }
  return make_system(name, request.settings);
}

PodSetup setup_of(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                  ChipTimes& times) {
  refuse_blocks_on_chips(request, name);
  PodSetup setup{
      request.kinds, pricing, times, system_of(request, name),    !is_system(name), request.params,
      request.model, {},      {},    request.run.execution.engine};
  refuse_given(request.options, {"--window", "--kept", "--experts"},
               fmt::format("is for wafers; of zeros of a model {} has those of weights and of "
                           "the inputs of products",
                           name));
  setup.inputs = inputs_on_chips(request.options);
  if (const std::optional<PatternSpec> pattern = weights_on_chips(request.options)) {
    refuse_given(request.options, {"--pattern", "--density", "--block"},
                 "and --weights both say which weights there are");
    setup.weights = *pattern;
    return setup;
  }
  const std::vector<PatternChoice> choices = pattern_choices(request.options);
  if (choices.size() > 1) {
    throw RequestError("--pattern: one of a model's weights; found several");
  }
  if (choices[0].pattern) setup.weights = *choices[0].pattern;
  const bool dense = setup.weights.name == "dense";
  if (!dense) require_share("--pattern", setup.weights);
  if (dense && setup.inputs.empty() && request.options.seed) {
    throw RequestError("--seed: nothing of this request is drawn");
  }
  return setup;
}

/// Refuses what only pages of wafers have, if there is none.
void check_view_of_chips(const ModelRequest& request) {
  const Options& options = request.options;
  if (!options.view_steps && !options.view_path) return;
  if (!is_there(request, "wse")) refuse_view_words(options);
}

/// Refuses what the model was not made for, and has no result of: tokens of an encoder, one after
/// another, and sequences that are too long.
void check_model(const ModelRequest& request) {
  const Options& options = request.options;
  if (request.model.family == ModelFamily::bert ||
      request.model.family == ModelFamily::group_bert) {
    throw refused(
        "--model {}: is an encoder, which makes no token after another; lacuna trace "
        "make has its rows",
        request.model.name);
  }
  std::uint32_t longest = options.decode    ? context_of(options)
                          : options.prefill ? whole("--prefill", *options.prefill)
                          : options.kv_in   ? whole("--kv-in", *options.kv_in)
                          : options.kv_out  ? whole("--kv-out", *options.kv_out)
                                            : 1;
  for (const ServingRequest& each : request.requests) {
    longest = std::max(longest, each.positions());
  }
  if (longest <= request.model.positions) return;
  throw refused("--model {}: found {} tokens; allowed: at most {} in a sequence",
                request.model.name, longest, request.model.positions);
}

/// What the page of requests shows.
std::string page_of_step(std::uint32_t context) {
  return fmt::format("\nThe page has the program of their longest step, of context {}.", context);
}

ModelReport run_pod(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                    PartCache& cache, ModelOutcome& outcome) {
  ChipTimes times(pricing, request.run.seed, request.run.execution.engine, &cache);
  PodModel pod(setup_of(request, name, pricing, times));
  const Options& options = request.options;
  const std::uint32_t batch = options.batch ? whole("--batch", *options.batch) : 1;
  if (options.view && !options.requests) pod.show(outcome.pages);
  if (options.decode) return pod.decode_report(context_of(options), batch);
  if (options.prefill) return pod.prefill_report(whole("--prefill", *options.prefill), batch);
  ModelReport report = serve_on_pod(pod, request.requests, batch, outcome.requests_csv);
  if (!options.view) return report;
  const std::uint32_t context = longest_step(pod, request.requests);
  PodModel shown(setup_of(request, name, pricing, times));
  shown.show(outcome.pages);
  shown.decode_report(context, batch);
  report.remark += page_of_step(context);
  return report;
}

/// What prompts on a wafer have no program for.
void refuse_with_prefill(const Options& options) {
  const std::string why = "does not go with --prefill on a wafer";
  refuse_given(options, {"--batch"}, why);
  if (options.activations.empty() && options.weights.empty())
    refuse_given(options, {"--seed"}, why);
  refuse_given(options, {"--window", "--kept", "--experts"}, why);
}

/// What keys and values on their way know nothing of.
void refuse_with_moves(const Options& options) {
  refuse_given(options,
               {"--batch", "--seed", "--window", "--kept", "--experts", "--weights",
                "--activations", "--view"},
               "does not go with --kv-in and --kv-out, which move the keys and values of one "
               "sequence");
}

/// Keys and values from the host or to it.
ModelReport move_report(WaferModel& wafer, const Options& options) {
  refuse_with_moves(options);
  CacheMove move;
  move.outwards = options.kv_out.has_value();
  move.tokens =
      move.outwards ? whole("--kv-out", *options.kv_out) : whole("--kv-in", *options.kv_in);
  move.streams = wafer.placement().blocks_y;
  if (options.streams) move.streams = whole("--streams", *options.streams);
  const std::uint32_t rows = wafer.placement().blocks_y * wafer.placement().rows;
  if (move.streams > rows) {
    throw refused("--streams: found {}, allowed are 1 to {}, the rows of cores", move.streams,
                  rows);
  }
  return wafer.move_report(move);
}

/// The page of the longest step of the requests, whose cache has room for no more.
void show_step(WaferModel& wafer, const TaskView& view, const ModelRequest& request,
               ModelOutcome& outcome, ModelReport& report) {
  const std::uint32_t context = longest_step(wafer, request.requests, request.params.context_step);
  wafer.show(view, outcome.pages);
  wafer.step(context, context);
  report.remark += page_of_step(context);
}

/// What a request on a wafer has nothing for.
void refuse_words_on_wafer(const ModelRequest& request, const Machine& machine) {
  const Options& options = request.options;
  refuse_given(options, {"--pattern", "--density", "--block"},
               "is for the weights of a model on IPUs; on a wafer --weights has them");
  if (options.prefill) refuse_with_prefill(options);
  for (const std::string& text : options.settings) {
    const bool steps = begins(text, kContextStep);
    if (begins(text, kInference) && !steps && !is_there(request, "ipu")) {
      throw refused(
          "{}: how a model lies on chips; {} is a wafer, where --blocks "
          "and --block-cores say it",
          text, machine.name());
    }
  }
  if (options.requests) {
    refuse_given(options, {"--kept"},
                 "does not go with --requests: what is left of a cache differs from step to step");
  }
}

/// In chunks of 256 tokens, or of the whole of a shorter prompt, unless they are given.
ModelReport prompt_report(WaferModel& wafer, const Options& options) {
  constexpr std::uint32_t kChunk = 256;
  const std::uint32_t tokens = whole("--prefill", *options.prefill);
  return wafer.prefill_report(
      tokens, options.chunk ? whole("--chunk", *options.chunk) : std::min(tokens, kChunk));
}

ModelReport run_wafer(const ModelRequest& request, const Machine& machine, const Pricing& pricing,
                      PartCache& cache, ModelOutcome& outcome) {
  const Options& options = request.options;
  refuse_words_on_wafer(request, machine);
  const WseParams& params = WaferModel::params_of(machine);
  check_zeros(options, request.model, params);
  const DecodePlacement placement = placement_of(options, params);
  check_room(placement, params);
  WaferModel wafer(machine, pricing, request.run.execution.engine, &cache, request.model,
                   placement);
  if (options.kv_in || options.kv_out) return move_report(wafer, options);
  const TaskView view{view_steps_of(options), view_path_of(options)};
  if (options.view && !options.requests) wafer.show(view, outcome.pages);
  ModelReport report = options.prefill ? prompt_report(wafer, options)
                       : options.decode
                           ? wafer.decode_report(context_of(options))
                           : serve_on_wafer(wafer, request.requests, request.params.context_step,
                                            outcome.requests_csv);
  if (options.view && options.requests) {
    // by another, since the one that served knows the program already
    WaferModel other(machine, pricing, request.run.execution.engine, &cache, request.model,
                     placement);
    show_step(other, view, request, outcome, report);
  }
  // the page begins with the layer, which is simulated last
  if (!options.prefill) std::reverse(outcome.pages.begin(), outcome.pages.end());
  report.remark +=
      "\nJoules are of the cores of blocks, head and tail, and of nothing beside the wafer.\n" +
      zeros_as_text(options, placement, params);
  while (report.remark.back() == '\n') report.remark.pop_back();
  const std::string zeros = zeros_as_json(options, placement, params);
  if (!zeros.empty()) report.facts.emplace_back("zeros", zeros);
  return report;
}

}  // namespace

namespace {

ModelReport run_on(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                   PartCache& cache, ModelOutcome& outcome) {
  if (is_system(name)) {
    outcome.said = idle_parts_of_model(request.settings);
    return run_pod(request, name, pricing, cache, outcome);
  }
  const auto machines = make_machines(request.kinds, {name}, request.settings);
  const Machine& machine = *machines.at(0);
  if (std::string(machine.kind()) == "ipu") {
    return run_pod(request, name, pricing, cache, outcome);
  }
  if (std::string(machine.kind()) != "wse") {
    throw refused("--model runs on wafers, IPUs and systems of IPUs; {} is none", name);
  }
  machine.check();
  outcome.said = settings_beside_model(machine, request.settings);
  return run_wafer(request, machine, pricing, cache, outcome);
}

}  // namespace

ModelOutcome run_model(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                       PartCache& cache) {
  check_model(request);
  check_view_of_chips(request);
  ModelOutcome outcome;
  outcome.report = run_on(request, name, pricing, cache, outcome);
  outcome.report->remark += request.remark;
  return outcome;
}

PartCache model_cache(const Options& options) {
  if (!options.cache) return open_part_cache(options.no_cache);
  try {
    return PartCache(*options.cache);
  } catch (const RequestError& error) {
    throw refused("--cache: {}", error.what());
  }
}

}  // namespace lacuna
