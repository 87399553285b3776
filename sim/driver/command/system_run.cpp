// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/system_run.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/command/output.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/quantity_screen.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/result/result_model.hpp"
#include "sim/driver/result/result_why_text.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/system/chip_system.hpp"
#include "sim/driver/system/store_record.hpp"
#include "sim/driver/why/why_models.hpp"
#include "sim/report/figures/figure_why.hpp"
#include "sim/report/tables/text_table.hpp"
#include "sim/report/why_csv.hpp"

namespace lacuna {

namespace fs = std::filesystem;

std::vector<std::string> training_names() {
  std::vector<std::string> names;
  for (const std::string& file : shipped_trainings()) names.push_back(fs::path(file).stem());
  return names;
}

namespace {

/// A shipped description by its name, or a file.
std::string training_file(const std::string& name) {
  for (const std::string& file : shipped_trainings()) {
    if (fs::path(file).stem() == name) return file;
  }
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml";
  if (file || fs::exists(name)) return name;
  const std::vector<std::string> names = training_names();
  throw refused(
      "--system-config: there is no file '{}', and none of that name is shipped; "
      "shipped are {}{}",
      name, fmt::join(names, ", "), hint_of(name, names));
}

std::string page_title(const std::string& file, const std::string& system) {
  return fmt::format("{} on {}", fs::path(file).stem().string(), system);
}

}  // namespace

bool asks_for_system(const Options& options) {
  return options.system_config || any_of(options.machines, is_linked_system);
}

namespace {

/// What a request asks for, read and checked.
struct SystemRequest {
  std::string file;
  system::TrainingParams training;
  std::unique_ptr<ChipSystem> system;
};

/// Refuses words of a training step that say nothing of a trace.
void check_words_of_trace(const std::vector<std::string>& settings) {
  constexpr std::array<const char*, 4> kWords = {"accumulation", "available_memory", "io_tiles",
                                                 "replicas"};
  const std::string prefix = "training.";
  for (const std::string& text : settings) {
    if (!starts_with(text, prefix)) continue;
    const std::string word = parse_setting(text).path.substr(prefix.size());
    if (contains(kWords, word)) continue;
    throw refused(
        "--set {}: says how a model is trained (--system-config); of rows of a trace there are "
        "training.{}",
        text, fmt::join(kWords, ", training."));
  }
}

/// The rows of a trace on each chip of the system, once, unless training.* says otherwise.
SystemRequest request_of_trace(const Options& options, const MachineTable& kinds,
                               const std::string& name) {
  check_is_file(options);
  check_words_of_trace(options.settings);
  SystemRequest request;
  request.file = *options.trace;
  request.system = std::make_unique<ChipSystem>(kinds, name, options.settings);
  const std::string chips = fmt::format("{}", request.system->chips());
  request.training.set("rows", kRowsOfFile + request.file, "--trace");
  request.training.set("replicas", chips, "--trace");
  request.training.set("micro_batch", "1", "--trace");
  set_training(request.training, options.settings);
  if (request.training.chips() > request.system->chips()) {
    throw refused("training.replicas = {}: {} has {} chips", request.training.replicas.value(),
                  request.system->name(), chips);
  }
  return request;
}

SystemRequest read_request(const Options& options, const MachineTable& kinds) {
  SystemRequest request;
  if (options.trace && !options.system_config)
    return request_of_trace(options, kinds, options.machines.at(0));
  if (!options.system_config) {
    throw refused(
        "a system of chips needs {}--system-config, a file of what it trains or one of {}",
        options.verb == "describe" ? "" : "--trace, rows of each chip with what they exchange, or ",
        fmt::join(training_names(), ", "));
  }
  if (options.trace) throw RequestError("--trace and --system-config: a system runs one of them");
  request.file = training_file(*options.system_config);
  request.training = read_training(request.file, options.settings);
  const std::string name =
      options.machines.empty() ? request.training.system.value() : options.machines[0];
  if (name.empty()) {
    throw RequestError("--machine: say which system, or have " + request.file + " say it");
  }
  request.system = std::make_unique<ChipSystem>(kinds, name, options.settings);
  return request;
}

}  // namespace

namespace {

/// What a result of a file is called.
std::string name_of(const std::string& file) { return fs::path(file).filename().string(); }

/// Makes the result folder, if --out asks for one, of what a file says. True, and said, if a
/// resumed request is finished.
bool is_in(std::optional<Output>& output, const std::string& file, const Options& options,
           const Streams& streams) {
  if (!options.out) return false;
  output.emplace(*options.out, options);
  if (fs::is_regular_file(file)) output->add_input(file);
  return is_finished(*output, name_of(file), {}, options, streams);
}

}  // namespace

int describe_fit(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const SystemRequest request = read_request(options, kinds);
  if (!request.training.rows.value().empty()) {
    throw refused("describe fit is of models; {} has rows = '{}'", request.file,
                  request.training.rows.value());
  }
  const Pricing pricing = make_pricing(options, streams);
  ChipTimes times(pricing, 1, Engine::event);
  const SystemJob job{kinds, pricing, times, request.training, {}};
  streams.out << printed(request.system->fit(job), options);
  return kDone;
}

namespace {

/// The execution of a system; what is logged is its own.
system::SystemExecution execution_of(const RunSettings& settings) {
  system::SystemExecution execution;
  execution.engine = settings.execution.engine;
  return execution;
}

/// What runs the systems of a comparison, one after the other.
struct SystemRuns {
  const Options& options;
  const MachineTable& kinds;
  const Pricing& pricing;
  const RunSettings& settings;
  ChipTimes& times;
  std::vector<std::string>& pages;  // of --view
  std::vector<std::string>& idle;   // of each system, settings that change nothing, a line each

  std::string title(const std::string& system) const {
    const std::string of = options.system_config ? *options.system_config : *options.trace;
    return page_title(of, system);
  }

  ScalingRow row(const ChipSystem& system, const system::TrainingParams& training) const {
    const SystemRecord record =
        system.run({kinds, pricing, times, training, execution_of(settings), settings.seed},
                   {false, options.view, "", options.settings});
    if (options.view) pages.push_back(page_of(record, title(system.name())));
    idle.push_back(record.idle);
    return record.scaling;
  }

  /// The rows of a trace on each chip of a system with a store.
  ScalingRow with_store(const std::string& name) const {
    auto machines = make_machines(kinds, {name}, options.settings);
    lay_out(machines, layout_request({}, true));
    idle.push_back(idle_settings(machines, options.settings, false));
    if (!has_weight_store(*machines[0])) {
      throw RequestError(name + ": is no system of chips, and the others of this request are");
    }
    RunSettings of_chip = settings;
    of_chip.completes = false;
    const Point point =
        make_points({machines[0].get()}, load_workload(options), options, of_chip).at(0);
    MaskStore masks(settings.seed);
    check_weight_store(point, settings, masks);
    RunRecord record = run_point(point, of_chip, masks, pricing);
    const auto made = complete_record(point, settings, pricing, {false, options.view}, record);
    if (!made) throw UnsupportedError(name + ": " + record.total.reason);
    if (options.view) pages.push_back(page_of(*made, title(point.machine->name())));
    return made->scaling;
  }
};

/// A batch that is cut otherwise on each system, or rows that each chip of any has.
Scaling scaling_of(const Options& options, const SystemRuns& runs, const std::string& name) {
  if (!options.system_config) {
    Scaling scaling = scaling_of_shares(name);
    for (const std::string& each : options.machines) {
      if (!is_linked_system(each)) {
        scaling.rows.push_back(runs.with_store(each));
        continue;
      }
      const SystemRequest request = request_of_trace(options, runs.kinds, each);
      scaling.rows.push_back(runs.row(*request.system, request.training));
      scaling.rows.back().replicas = scaling.rows.back().accumulation = "";
    }
    return scaling;
  }
  const SystemRequest request = read_request(options, runs.kinds);
  const bool alike = all_of(options.machines, is_tree_system);
  Scaling scaling{"scaling",
                  {name, fmt::format("a batch of {} sequences on several systems",
                                     request.training.global_batch())},
                  "sequence",
                  {}};
  for (const std::string& each : options.machines) {
    const ChipSystem system(runs.kinds, each, options.settings);
    const system::TrainingParams cut = system.spread(request.training);
    if (alike) system.refuse_layout(request.training);
    scaling.rows.push_back(runs.row(system, cut));
  }
  return scaling;
}

/// Of what is idle on each system, lines of the first on settings that are idle on all.
std::string idle_everywhere(const std::vector<std::string>& idle) {
  const auto name_of = [](const std::string& line) {
    return line.substr(0, line.find(' ', std::string("lacuna: ").size()));
  };
  const auto names_of = [&](const std::string& lines) {
    std::set<std::string> names;
    std::istringstream text(lines);
    for (std::string line; std::getline(text, line);) names.insert(name_of(line));
    return names;
  };
  std::string kept;
  std::istringstream text(idle.empty() ? "" : idle.front());
  for (std::string line; std::getline(text, line);) {
    const bool all = all_of(
        idle, [&](const std::string& lines) { return names_of(lines).count(name_of(line)) != 0; });
    if (all) kept += line + '\n';
  }
  return kept;
}

}  // namespace

int compare_systems(const Options& options, const MachineTable& kinds, const Streams& streams) {
  if (options.why) throw RequestError("--why of systems goes with lacuna run, one at a time");
  if (options.machines.empty()) throw RequestError("--machine: give one or more to compare");
  if (options.timeline) {
    throw RequestError("--timeline does not go with systems beside each other: lacuna run has it");
  }
  const RunSettings settings = run_settings(options);
  const auto* const linked =
      find_where(options.machines, [](const auto& name) { return is_linked_system(name); });
  const bool rows = options.trace && !options.system_config && linked != nullptr;
  const SystemRequest request =
      rows ? request_of_trace(options, kinds, *linked) : read_request(options, kinds);
  std::optional<Output> output;
  if (is_in(output, request.file, options, streams)) return kDone;
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  std::vector<std::string> pages;
  std::vector<std::string> idle;
  const SystemRuns runs{options, kinds, pricing, settings, times, pages, idle};
  const Scaling scaling = scaling_of(options, runs, fs::path(request.file).stem().string());
  streams.err << idle_everywhere(idle);
  if (output) {
    TableResult written;
    written.files = {{"scaling.csv", csv_of(scaling_table(scaling))}};
    written.figures = {scaling_figure(scaling)};
    written.parameters = values_of(request.training);
    written.pages = std::move(pages);
    written.view_title = fs::path(request.file).stem().string();
    output->write(output->header(name_of(request.file), {}), written, streams);
  }
  streams.out << (options.json ? rows_json(scaling_table(scaling)) : scaling_text(scaling));
  return kDone;
}

namespace {

/// Why a step of training is not faster: it is run again with costs taken away, and dense.
std::optional<Why> why_of(const Options& options, const MachineTable& kinds,
                          const SystemRequest& request, SystemRecord& record,
                          const Pricing& pricing, ChipTimes& times, const RunSettings& settings) {
  if (!options.why) return std::nullopt;
  if (options.view) throw RequestError("--why does not go with --view on a system");
  const std::string& name = request.system->name();
  const std::vector<DeclaredCause> causes = causes_of_models(kinds, name, true);
  constexpr double kMicros = 1e6;
  WhyQuestion question{{kMicros * record.scaling.seconds}, causes, "us"};
  question.has_dense = !request.training.pattern.value().empty();
  return find_why(
      question, one_by_one([&](const WhyAsk& ask) {
        Options changed = options;
        changed.settings = settings_with(options.settings, ask.settings);
        SystemRequest other = read_request(changed, kinds);
        if (ask.dense) other.training.set("pattern", "", "--why");
        const SystemRecord made = other.system->run(
            {kinds, pricing, times, other.training, execution_of(settings), settings.seed}, {});
        if (ask.dense && ask.settings.empty()) record.compare_energy(made);
        return made.scaling.seconds;
      }));
}

}  // namespace

namespace {

/// The first screen of a system.
std::string screen_of(const SystemRecord& record) {
  QuantityScreen screen;
  screen.title = record.heading;
  screen.quantities = record.metrics;
  const std::string said = quantity_sentence(screen.quantities, "A step", "step_time",
                                             "sequences_per_s", "energy_per_sequence");
  if (!said.empty()) screen.sentences.push_back(said);
  for (const auto& [use, percent] : shares_of(record.run.stack())) {
    screen.shares.emplace_back(use_name(use), percent);
  }
  screen.where = "where the time of the chips went, %";
  screen.more = "More: --wide (stages, memory, energy), --why, --json, --out DIR (page, files)\n";
  return quantity_screen(screen);
}

}  // namespace

int run_system(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const RunSettings settings = run_settings(options);
  const SystemRequest request = read_request(options, kinds);
  const ChipSystem& system = *request.system;
  std::optional<Output> output;
  if (is_in(output, request.file, options, streams)) return kDone;
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  system.refuse_layout(request.training);
  SystemRecord record =
      system.run({kinds, pricing, times, request.training, execution_of(settings), settings.seed},
                 {output.has_value(), options.view, name_of(request.file), options.settings});
  streams.err << record.idle;
  const std::optional<Why> why = why_of(options, kinds, request, record, pricing, times, settings);
  if (output) {
    TableResult written;
    written.files = files_of(record);
    written.figures = figures_of(record);
    written.parameters = system.parameters();
    for (ParameterValue value : values_of(request.training)) {
      value.path = "training." + value.path;
      written.parameters.push_back(value);
    }
    written.view_title = page_title(request.file, system.name());
    if (options.view) written.pages = {page_of(record, written.view_title)};
    if (why) {
      written.files.emplace_back("why.csv", why_csv(system.name(), "", *why));
      add_why_figure("why", written.view_title, *why, written.figures);
    }
    output->write(output->header(name_of(request.file), {}), written, streams);
  }
  const auto said = why ? std::optional(why_json_text(*why)) : std::nullopt;
  streams.out << (options.json   ? metrics_json(record.metrics, said)
                  : options.wide ? text_of(record)
                                 : screen_of(record));
  if (why && !options.json) streams.out << "\nWhy it is not faster\n\n" << why_text(*why);
  return kDone;
}

}  // namespace lacuna
