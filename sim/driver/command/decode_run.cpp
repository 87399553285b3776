// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/decode_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/allowed_options.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/decode_words.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/inference/model_figures.hpp"
#include "sim/driver/inference/model_server.hpp"
#include "sim/driver/inference/pod_model.hpp"
#include "sim/driver/inference/serving_report.hpp"
#include "sim/driver/inference/wafer_model.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/acting.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/report/html_report.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

namespace {

constexpr std::uint32_t kMost = 1U << 24U;
constexpr const char* kInference = "inference.";

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

using Given = std::vector<std::pair<const char*, bool>>;

void refuse_given(const Given& given, const std::string& why) {
  for (const auto& [name, is_given] : given) {
    if (is_given) throw RequestError(fmt::format("{} {}", name, why));
  }
}

/// What says what else a machine runs, or how its run is looked at, has no place beside --model.
void check_options(const Options& options) {
  if (!options.model) {
    const std::vector<std::string> known = {
        "--decode", "--context",     "--batch",   "--prefill",     "--chunk",
        "--blocks", "--block-cores", "--layers",  "--activations", "--weights",
        "--window", "--kept",        "--experts", "--cache",       "--requests"};
    for (const std::string& name : given_options(options)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      throw RequestError(fmt::format("{} needs --model", name));
    }
  }
  allow_options(options, {"--machine", "--set",     "--model",        "--decode",   "--context",
                          "--batch",   "--prefill", "--chunk",        "--blocks",   "--block-cores",
                          "--layers",  "--cache",   "--no-cache",     "--requests", "--activations",
                          "--weights", "--window",  "--kept",         "--experts",  "--pattern",
                          "--density", "--block",   "--energy-table", "--out",      "--seed",
                          "--engine",  "--json",    "--wide",         "--quiet"},
                "{} does not go with --model so far");
  const int asked =
      (options.decode ? 1 : 0) + (options.prefill ? 1 : 0) + (options.requests ? 1 : 0);
  if (asked != 1) {
    throw RequestError(
        "--model: say what it does: one of --decode and --prefill N, or --requests FILE");
  }
  if (options.context && !options.decode) {
    throw RequestError(
        fmt::format("--context does not go with {}", options.prefill ? "--prefill" : "--requests"));
  }
  if (options.prefill) {
    refuse_given({{"--activations", !options.activations.empty()},
                  {"--weights", !options.weights.empty()},
                  {"--window", options.window.has_value()},
                  {"--kept", options.kept.has_value()},
                  {"--experts", options.experts.has_value()}},
                 "does not go with --prefill");
  }
  if (options.chunk && !options.prefill) throw RequestError("--chunk needs --prefill");
  if (options.cache && options.no_cache) {
    throw RequestError("--cache and --no-cache: one of them");
  }
}

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

std::uint32_t context_of(const Options& options) {
  constexpr std::uint32_t kContext = 2048;
  return options.context ? whole("--context", *options.context) : kContext;
}

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

/// What all machines of a request share.
struct ModelRequest {
  const Options& options;
  const MachineTable& kinds;
  ModelShape model;
  system::InferenceParams params;
  std::vector<std::string> settings;  // of machines
  RunSettings run;
  std::vector<ServingRequest> requests;
};

ModelRequest read_request(const Options& options, const MachineTable& kinds) {
  check_options(options);
  if (options.machines.empty()) {
    throw RequestError(
        "--machine: give a wafer, an IPU or a system of IPUs, such as wse3 or pod16");
  }
  if (options.verb != "compare" && options.machines.size() > 1) {
    throw RequestError(
        fmt::format("--model: found {} machines, allowed is one; lacuna compare "
                    "takes several",
                    options.machines.size()));
  }
  ModelRequest request{options, kinds, shape_of(*options.model), {}, {}, run_settings(options), {}};
  if (options.layers) {
    const std::uint32_t layers = whole("--layers", *options.layers);
    if (layers > request.model.layers) {
      throw RequestError(fmt::format("--layers: found {}, allowed are 1 to {} of model '{}'",
                                     layers, request.model.layers, request.model.name));
    }
    request.model.layers = layers;
  }
  for (const std::string& text : options.settings) {
    if (!begins(text, kInference)) {
      request.settings.push_back(text);
      continue;
    }
    const Setting setting = parse_setting(text);
    request.params.set(setting.path.substr(std::string(kInference).size()), setting.value,
                       setting.origin);
  }
  if (options.requests) {
    request.requests = read_requests(read_text_file(*options.requests), *options.requests);
  }
  return request;
}

/// The system of a name; of one chip a machine of its like, all of whose settings are the chip's.
PodSetup setup_of(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                  ChipTimes& times) {
  refuse_given(
      {{"--blocks", request.options.blocks.has_value()},
       {"--block-cores", request.options.block_cores.has_value()},
       {"--chunk", request.options.chunk.has_value()}},
      fmt::format("is for wafers; {} is cut by inference.tensor and inference.pipeline", name));
  PodSetup setup{request.kinds,
                 pricing,
                 times,
                 {},
                 !is_system(name),
                 request.params,
                 request.model,
                 {},
                 request.run.execution.engine};
  if (setup.alone) {
    setup.system.name = name;
    setup.system.params.chip.parse("chip", name);
    setup.system.chip_settings = request.settings;
  } else {
    setup.system = make_system(name, request.settings);
  }
  const std::vector<PatternChoice> choices = pattern_choices(request.options);
  if (choices.size() > 1) {
    throw RequestError("--pattern: one of a model's weights; found several");
  }
  if (choices[0].pattern) setup.weights = *choices[0].pattern;
  const bool dense = setup.weights.name == "dense";
  if (!dense && !setup.weights.density) {
    throw RequestError(
        fmt::format("--pattern: found '{}'; allowed for a model on IPUs: patterns with a density",
                    pattern_label(setup.weights)));
  }
  if (dense && request.options.seed) {
    throw RequestError("--seed: nothing of this request is drawn");
  }
  return setup;
}

ModelReport run_pod(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                    PartCache& cache, std::string& csv) {
  ChipTimes times(pricing, request.run.seed, request.run.execution.engine, &cache);
  PodModel pod(setup_of(request, name, pricing, times));
  const Options& options = request.options;
  const std::uint32_t batch = options.batch ? whole("--batch", *options.batch) : 1;
  if (options.decode) return pod.decode_report(context_of(options), batch);
  if (options.prefill) return pod.prefill_report(whole("--prefill", *options.prefill), batch);
  return serve_on_pod(pod, request.requests, batch, csv);
}

ModelReport run_wafer(const ModelRequest& request, const Machine& machine, const Pricing& pricing,
                      PartCache& cache, std::string& csv) {
  const Options& options = request.options;
  refuse_given({{"--pattern", !options.patterns.empty()},
                {"--density", options.density.has_value()},
                {"--block", options.block.has_value()}},
               "is for the weights of a model on IPUs; on a wafer --weights has them");
  if (options.prefill) {
    refuse_given({{"--batch", options.batch.has_value()}, {"--seed", options.seed.has_value()}},
                 "does not go with --prefill on a wafer");
  }
  for (const std::string& text : options.settings) {
    const bool steps = begins(text, "inference.context_step=");
    if (begins(text, kInference) && !steps) {
      throw RequestError(
          fmt::format("{}: how a model lies on chips; {} is a wafer, where --blocks "
                      "and --block-cores say it",
                      text, machine.name()));
    }
  }
  const auto& params = static_cast<const WseParams&>(machine.parameters());
  check_zeros(options, request.model, params);
  const DecodePlacement placement = placement_of(options);
  check_room(placement, params);
  WaferModel wafer(machine, pricing, request.run.execution.engine, &cache, request.model,
                   placement);
  if (options.decode) {
    ModelReport report = wafer.decode_report(context_of(options));
    report.remark += '\n' + zeros_as_text(options, placement, params);
    while (report.remark.back() == '\n') report.remark.pop_back();
    report.more_json = zeros_as_json(options, placement, params);
    return report;
  }
  if (options.prefill) {
    constexpr std::uint32_t kChunk = 256;
    return wafer.prefill_report(whole("--prefill", *options.prefill),
                                options.chunk ? whole("--chunk", *options.chunk) : kChunk);
  }
  return serve_on_wafer(wafer, request.requests, request.params.context_step, csv);
}

ModelReport run_on(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                   const Streams& streams, PartCache& cache, std::string& csv) {
  if (is_system(name)) return run_pod(request, name, pricing, cache, csv);
  const auto machines = make_machines(request.kinds, {name}, request.settings);
  const Machine& machine = *machines.at(0);
  if (std::string(machine.kind()) == "ipu") return run_pod(request, name, pricing, cache, csv);
  if (std::string(machine.kind()) != "wse") {
    throw RequestError(
        fmt::format("--model runs on wafers, IPUs and systems of IPUs; {} is none", name));
  }
  machine.check();
  streams.err << settings_beside_model(machine, request.settings);
  return run_wafer(request, machine, pricing, cache, csv);
}

ResultHeader header_of(const Options& options) {
  constexpr std::size_t kLongest = std::size_t{1} << 28U;
  ResultHeader header;
  header.version = version();
  header.command = reproducing_arguments(options);
  header.workload = std::filesystem::path(*options.model).stem().string();
  for (const auto& file : {options.model, options.requests}) {
    if (!file || !std::filesystem::is_regular_file(*file)) continue;
    header.files.emplace_back(*file, sha256(read_text(*file, kLongest)));
  }
  return header;
}

std::string all_json(const std::vector<ModelReport>& reports) {
  std::string text = "[";
  for (const ModelReport& report : reports) {
    text += (&report == reports.data() ? "\n" : ",\n") + model_json(report);
  }
  return text + "\n]";
}

void write_folder(ResultFolder& folder, const Options& options,
                  const std::vector<ModelReport>& reports,
                  const std::vector<std::pair<std::string, std::string>>& more) {
  folder.begin();
  std::vector<std::pair<std::string, std::string>> files = model_files(reports);
  files.insert(files.end(), more.begin(), more.end());
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : files) {
    folder.write(name, text);
    const bool few = name.rfind("requests", 0) != 0;
    if (few) tables.emplace_back(std::filesystem::path(name).stem(), text);
  }
  const ResultHeader header = header_of(options);
  folder.write("result.json", models_text(header, all_json(reports)));
  draw_figures(model_figures(reports), (folder.temporary() / "figures").string());
  HtmlReport page;
  page.version = header.version;
  page.command = "lacuna " + shell_line(header.command);
  page.figures = read_figures((folder.temporary() / "figures").string());
  folder.write("report.html", html_tables(page, tables, {}));
  folder.commit();
}

}  // namespace

bool asks_for_decode(const Options& options) {
  return options.model || options.decode || options.context || options.blocks ||
         options.block_cores || options.prefill || options.chunk || options.batch ||
         options.requests || options.layers || options.cache || asks_for_zeros(options);
}

namespace {

PartCache cache_of(const Options& options) {
  if (!options.cache) return open_part_cache(options.no_cache);
  try {
    return PartCache(*options.cache);
  } catch (const RequestError& error) {
    throw RequestError(fmt::format("--cache: {}", error.what()));
  }
}

}  // namespace

int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const ModelRequest request = read_request(options, kinds);
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = cache_of(options);
  std::vector<ModelReport> reports;
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : options.machines) {
    std::string csv;
    reports.push_back(run_on(request, name, pricing, streams, cache, csv));
    if (csv.empty()) continue;
    const bool one = options.machines.size() == 1;
    files.emplace_back(one ? "requests.csv" : fmt::format("requests{}.csv", files.size()), csv);
  }
  if (folder) write_folder(*folder, options, reports, files);
  const bool compares = options.verb == "compare";
  if (options.json) {
    streams.out << (compares ? all_json(reports) : model_json(reports[0])) << '\n';
  } else {
    streams.out << (compares ? model_comparison(reports) : model_text(reports[0]));
  }
  return kDone;
}

}  // namespace lacuna
