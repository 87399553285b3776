// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/system_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/allowed_options.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/event_outputs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/system/chip_view.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/driver/system/training.hpp"
#include "sim/driver/system/tree_training.hpp"
#include "sim/driver/system/wafer_system_report.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/tables/text_table.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestSystem = std::size_t{1} << 20U;

/// The names of the shipped descriptions.
std::vector<std::string> training_names() {
  std::vector<std::string> names;
  for (const std::string& file : shipped_trainings()) names.push_back(fs::path(file).stem());
  return names;
}

/// A shipped description by its name, or a file.
std::string training_file(const std::string& name) {
  for (const std::string& file : shipped_trainings()) {
    if (fs::path(file).stem() == name) return file;
  }
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml";
  if (file || fs::exists(name)) return name;
  const std::vector<std::string> names = training_names();
  throw RequestError(
      fmt::format("--system-config: there is no file '{}', and none of that name is shipped; "
                  "shipped are {}{}",
                  name, fmt::join(names, ", "), hint_of(name, names)));
}

/// What says what a chip runs, or how its run is looked at, has no place beside --system-config.
void check_options(const Options& options) {
  allow_options(options,
                {"--machine", "--set", "--system-config", "--trace", "--engine", "--seed", "--jobs",
                 "--energy-table", "--out", "--timeline", "--view", "--json", "--wide", "--quiet",
                 "--markdown", "--no-cache"},
                "{} is for machines of one chip; what a system runs is in --system-config and "
                "--set training.WORD=VALUE");
  check_event_options(options);
}

ResultHeader header_of(const Options& options, const std::string& file) {
  ResultHeader header;
  header.version = version();
  header.command = reproducing_arguments(options);
  header.workload = fs::path(file).filename().string();
  header.files.emplace_back(file, sha256(read_text(file, kLongestSystem)));
  return header;
}

std::string report_page(const ResultFolder& folder, const ResultHeader& header,
                        const std::vector<std::pair<std::string, std::string>>& tables,
                        const std::vector<ParameterValue>& parameters) {
  HtmlReport page;
  page.version = header.version;
  page.command = "lacuna " + shell_line(header.command);
  page.figures = read_figures((folder.temporary() / "figures").string());
  return html_tables(page, tables, parameters);
}

std::string page_title(const SystemMachine& machine, const std::string& file) {
  return fmt::format("{} on {}", fs::path(file).stem().string(), machine.name);
}

/// What a result folder of a system has beside what every one has.
struct SystemFiles {
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<Figure> figures;
  std::vector<ParameterValue> parameters;  // of the system
};

void write_folder(ResultFolder& folder, const Options& options, const std::string& file,
                  const system::TrainingParams& training, SystemFiles written) {
  folder.begin();
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : written.files) {
    folder.write(name, text);
    if (fs::path(name).extension() == ".csv") tables.emplace_back(fs::path(name).stem(), text);
  }
  folder.write("result.json", result_text(header_of(options, file), {}));
  draw_figures(written.figures, (folder.temporary() / "figures").string());
  write_matplotlib(written.figures, (folder.temporary() / "figures").string());
  for (ParameterValue value : values_of(training)) {
    value.path = "training." + value.path;
    written.parameters.push_back(value);
  }
  folder.write("report.html",
               report_page(folder, header_of(options, file), tables, written.parameters));
  folder.commit();
}

std::string scaling_json(const Scaling& scaling) {
  std::string text = "[";
  for (const ScalingRow& row : scaling.rows) {
    text += fmt::format(
        "{}\n  {{\"system\": \"{}\", \"chips\": {}, \"step_time\": {}, \"{}s_per_s\": {}, "
        "\"efficiency\": {}, \"energy_per_{}\": {}}}",
        &row == scaling.rows.data() ? "" : ",", row.system, row.chips, row.seconds, scaling.each,
        row.rate(), scaling.efficiency(row), scaling.each, row.joules / row.each);
  }
  return text + "\n]\n";
}

std::string metrics_json(const std::vector<SystemMetric>& metrics) {
  std::string text = "{";
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    text += fmt::format("{}\n  \"{}\": {}", i == 0 ? "" : ",", metrics[i].name, metrics[i].value);
  }
  return text + "\n}\n";
}

}  // namespace

bool asks_for_system(const Options& options) {
  return options.system_config ||
         (!options.machines.empty() && is_linked_system(options.machines[0]));
}

namespace {

/// What a request asks for, read and checked.
struct SystemRequest {
  std::string file;
  system::TrainingParams training;
  SystemMachine machine;          // if its chips are joined by links
  std::unique_ptr<Machine> tree;  // else
};

/// A system whose chips share a store; what is said of the training is not the system's.
std::unique_ptr<Machine> make_tree(const MachineTable& kinds, const std::string& name,
                                   const std::vector<std::string>& settings) {
  std::vector<std::string> own;
  for (const std::string& text : settings) {
    if (text.rfind("training.", 0) != 0) own.push_back(text);
  }
  return std::move(make_machines(kinds, {name}, own)[0]);
}

bool is_tree(const std::string& name) { return is_system(name) && !is_linked_system(name); }

/// The rows of a trace on each chip of the system, once, unless training.* says otherwise.
SystemRequest request_of_trace(const Options& options, const std::string& name) {
  check_options(options);
  SystemRequest request;
  request.file = *options.trace;
  request.machine = make_system(name, options.settings);
  const std::string chips = fmt::format("{}", request.machine.params.chips());
  request.training.set("rows", kRowsOfFile + request.file, "--trace");
  request.training.set("replicas", chips, "--trace");
  request.training.set("micro_batch", "1", "--trace");
  set_training(request.training, options.settings);
  if (request.training.chips() > request.machine.params.chips()) {
    throw RequestError(fmt::format("training.replicas = {}: {} has {} chips",
                                   request.training.replicas.value(), request.machine.name, chips));
  }
  return request;
}

SystemRequest read_request(const Options& options, const MachineTable& kinds) {
  SystemRequest request;
  if (options.trace && !options.system_config)
    return request_of_trace(options, options.machines.at(0));
  if (!options.system_config) {
    throw RequestError(fmt::format(
        "a system of chips needs --trace, rows of each chip with what they exchange, or "
        "--system-config, a file of what it trains or one of {}",
        fmt::join(training_names(), ", ")));
  }
  if (options.trace) throw RequestError("--trace and --system-config: a system runs one of them");
  check_options(options);
  request.file = training_file(*options.system_config);
  request.training = read_training(request.file, options.settings);
  const std::string name =
      options.machines.empty() ? request.training.system.value() : options.machines[0];
  if (name.empty()) {
    throw RequestError("--machine: say which system, or have " + request.file + " say it");
  }
  if (is_tree(name)) {
    request.tree = make_tree(kinds, name, options.settings);
  } else {
    request.machine = make_system(name, options.settings);
  }
  return request;
}

}  // namespace

int describe_fit(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const SystemRequest request = read_request(options, kinds);
  if (request.tree != nullptr) {
    throw RequestError(fmt::format(
        "describe fit lays a model out over chips joined by links; each chip of {} does the whole "
        "model, and lacuna run says what that needs",
        request.tree->name()));
  }
  if (!request.training.rows.value().empty()) {
    throw RequestError(fmt::format("describe fit is of models; {} has rows = '{}'", request.file,
                                   request.training.rows.value()));
  }
  const Pricing pricing = make_pricing(options, streams);
  ChipTimes times(pricing, 1, Engine::event);
  const TrainingJob job{kinds, pricing, times, request.machine, request.training, {}};
  streams.out << (options.json ? page_json("fit", fit_text(job, true))
                               : fit_text(job, options.markdown));
  return kDone;
}

namespace {

/// What runs the systems of a comparison, one after the other.
struct SystemRuns {
  const Options& options;
  const MachineTable& kinds;
  const Pricing& pricing;
  const RunSettings& settings;
  ChipTimes& times;
  std::vector<std::string>& pages;  // of --view, of systems of chips

  ScalingRow linked(const SystemMachine& machine, const system::TrainingParams& training) const {
    system::SystemExecution execution;
    execution.engine = settings.execution.engine;
    execution.event_log = options.view;
    const TrainingResult result =
        run_training({kinds, pricing, times, machine, training, execution});
    if (options.view) {
      const std::string of = options.system_config ? *options.system_config : *options.trace;
      pages.push_back(training_page(page_title(machine, of), training, result));
    }
    ScalingRow row;
    row.system = machine.name;
    row.chips = training.chips();
    row.seconds = result.seconds();
    row.each = training.global_batch();
    row.joules = result.energy.total().nominal;
    row.trust = errors_of(machine, training);
    row.replicas = training.replicas.value_text();
    row.accumulation = training.accumulation.value_text();
    return row;
  }

  void refuse_view(const std::string& name) const {
    if (!options.view) return;
    throw RequestError(fmt::format(
        "--view does not go with {} beside other systems: lacuna run --trace has its page", name));
  }

  /// A batch of which each chip of a system with a store does its part.
  ScalingRow tree(const std::string& name, const system::TrainingParams& training,
                  bool alone) const {
    const std::unique_ptr<Machine> machine = make_tree(kinds, name, options.settings);
    system::TrainingParams cut =
        spread_over_tree(training, as_store_system(*machine)->own().wafers);
    refuse_view(name);
    if (alone) refuse_layout_on_tree(training, name);
    return tree_scaling_row(
        *machine, cut,
        train_on_tree({*machine, pricing, times, cut, settings.execution.engine, settings.seed}));
  }

  /// The rows of a trace on each chip of a system with a store.
  ScalingRow with_store(const std::string& name) const {
    refuse_view(name);
    const auto machines = make_machines(kinds, {name}, options.settings);
    if (!has_weight_store(*machines[0])) {
      throw RequestError(name + ": is no system of chips, and the others of this request are");
    }
    std::vector<WorkloadTrace> rows = {
        settle(load_workload(options), pattern_choices(options).at(0), options)};
    settle_mode(rows, options);
    Point point;
    point.machine = machines[0].get();
    point.workload = rows[0];
    MaskStore masks(settings.seed);
    check_weight_store(point, settings, masks);
    const RunRecord record = run_point(point, settings, masks, pricing);
    if (record.total.status != Status::ok) {
      throw UnsupportedError(name + ": " + record.total.reason);
    }
    return scaling_row(point.machine->name(),
                       run_wafer_system(*point.machine, point.workload, work_of(record),
                                        settings.execution.engine, pricing));
  }
};

/// A batch that is cut otherwise on each system, or rows that each chip of any has.
Scaling scaling_of(const Options& options, const SystemRuns& runs, const std::string& name) {
  if (!options.system_config) {
    Scaling scaling = scaling_of_shares(name);
    scaling.name = "scaling";
    for (const std::string& each : options.machines) {
      if (!is_linked_system(each)) {
        scaling.rows.push_back(runs.with_store(each));
        continue;
      }
      const SystemRequest request = request_of_trace(options, each);
      scaling.rows.push_back(runs.linked(request.machine, request.training));
      scaling.rows.back().replicas = scaling.rows.back().accumulation = "";
    }
    return scaling;
  }
  const SystemRequest request = read_request(options, runs.kinds);
  const bool trees = std::all_of(options.machines.begin(), options.machines.end(), is_tree);
  Scaling scaling{"scaling",
                  {name, fmt::format("a batch of {} sequences on several systems",
                                     request.training.global_batch())},
                  "sequence",
                  {}};
  for (const std::string& each : options.machines) {
    if (is_tree(each)) {
      scaling.rows.push_back(runs.tree(each, request.training, trees));
      continue;
    }
    const SystemMachine machine = make_system(each, options.settings);
    scaling.rows.push_back(
        runs.linked(machine, spread_over(request.training, machine.params.chips())));
  }
  return scaling;
}

/// Of systems beside each other.
std::string page_of(const std::string& file, const std::vector<std::string>& pages) {
  std::vector<const std::string*> packed;
  for (const std::string& page : pages) packed.push_back(&page);
  return view_page_of_first("Lacuna: " + fs::path(file).stem().string(), packed);
}

}  // namespace

int compare_systems(const Options& options, const MachineTable& kinds, const Streams& streams) {
  if (options.machines.empty()) throw RequestError("--machine: give one or more to compare");
  if (options.timeline) {
    throw RequestError("--timeline does not go with systems beside each other: lacuna run has it");
  }
  const RunSettings settings = run_settings(options);
  const auto linked = std::find_if(options.machines.begin(), options.machines.end(),
                                   [](const auto& name) { return is_linked_system(name); });
  const bool rows = options.trace && !options.system_config && linked != options.machines.end();
  const SystemRequest request =
      rows ? request_of_trace(options, *linked) : read_request(options, kinds);
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  std::vector<std::string> pages;
  const SystemRuns runs{options, kinds, pricing, settings, times, pages};
  const Scaling scaling = scaling_of(options, runs, fs::path(request.file).stem().string());
  if (folder) {
    folder->begin();
    const std::string csv = csv_of(scaling_table(scaling));
    folder->write("scaling.csv", csv);
    const ResultHeader header = header_of(options, request.file);
    folder->write("result.json", result_text(header, {}));
    if (options.view) folder->write("view.html", page_of(request.file, pages));
    const std::string figures = (folder->temporary() / "figures").string();
    draw_figures({scaling_figure(scaling)}, figures);
    write_matplotlib({scaling_figure(scaling)}, figures);
    folder->write("report.html",
                  report_page(*folder, header, {{"scaling", csv}}, values_of(request.training)));
    folder->commit();
  }
  streams.out << (options.json ? scaling_json(scaling) : scaling_text(scaling));
  return kDone;
}

namespace {

/// A training step where chips share a store of weights.
int run_tree(const Options& options, const RunSettings& settings, const SystemRequest& request,
             const Streams& streams) {
  if (options.view) {
    throw RequestError(fmt::format(
        "--view of a training step is of chips joined by links; {} has --view with --trace",
        request.tree->name()));
  }
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  const system::TrainingParams& training = request.training;
  refuse_layout_on_tree(training, request.tree->name());
  const TreeTraining trained = train_on_tree(
      {*request.tree, pricing, times, training, settings.execution.engine, settings.seed});
  if (folder) {
    const std::string title = fmt::format("{}, {}", request.tree->name(), training.model.value());
    write_folder(*folder, options, request.file, training,
                 {tree_files(training, trained), wafer_system_figures(trained.run, title),
                  parameter_values(*request.tree)});
  }
  streams.out << (options.json ? metrics_json(tree_metrics(training, trained))
                               : tree_text(*request.tree, fs::path(request.file).filename(),
                                           training, trained));
  return kDone;
}

}  // namespace

int run_system(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const RunSettings settings = run_settings(options);
  const SystemRequest request = read_request(options, kinds);
  if (request.tree != nullptr) return run_tree(options, settings, request, streams);
  const std::string& file = request.file;
  const system::TrainingParams& training = request.training;
  const SystemMachine& machine = request.machine;
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  system::SystemExecution execution;
  execution.engine = settings.execution.engine;
  execution.event_log = options.out.has_value();
  const TrainingResult result = run_training({kinds, pricing, times, machine, training, execution});
  if (folder) {
    SystemFiles written = {system_files(machine, training, result),
                           system_figures(machine, training, result), values_of(machine.params)};
    if (options.view) {
      const std::string title = page_title(machine, file);
      const std::string page = training_page(title, training, result);
      written.files.emplace_back("view.html", view_page_of_first("Lacuna: " + title, {&page}));
    }
    write_folder(*folder, options, file, training, std::move(written));
  }
  if (options.json) {
    streams.out << metrics_json(system_metrics(machine, training, result));
  } else {
    streams.out << system_text(machine, fs::path(file).filename().string(), training, result);
  }
  return kDone;
}

}  // namespace lacuna
