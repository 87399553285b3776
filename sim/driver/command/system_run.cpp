// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/system_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/allowed_options.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/driver/system/training.hpp"
#include "sim/report/html_report.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;

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
                 "--energy-table", "--out", "--timeline", "--json", "--wide", "--quiet",
                 "--markdown", "--no-cache"},
                "{} is for machines of one chip; what a system runs is in --system-config and "
                "--set training.WORD=VALUE");
}

ResultHeader header_of(const Options& options, const std::string& file) {
  ResultHeader header;
  header.version = version();
  header.command = reproducing_arguments(options);
  header.workload = fs::path(file).filename().string();
  header.files.emplace_back(file, sha256(read_text(file, kLongest)));
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

void write_folder(ResultFolder& folder, const Options& options, const std::string& file,
                  const SystemMachine& machine, const system::TrainingParams& training,
                  const TrainingResult& result) {
  folder.begin();
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : system_files(machine, training, result)) {
    folder.write(name, text);
    if (fs::path(name).extension() == ".csv") tables.emplace_back(fs::path(name).stem(), text);
  }
  folder.write("result.json", result_text(header_of(options, file), {}));
  draw_figures(system_figures(machine, training, result),
               (folder.temporary() / "figures").string());
  std::vector<ParameterValue> parameters = values_of(machine.params);
  for (ParameterValue value : values_of(training)) {
    value.path = "training." + value.path;
    parameters.push_back(value);
  }
  folder.write("report.html", report_page(folder, header_of(options, file), tables, parameters));
  folder.commit();
}

std::string scaling_json(const std::vector<ScalingRow>& rows) {
  std::string text = "[";
  for (const ScalingRow& row : rows) {
    text += fmt::format(
        "{}\n  {{\"system\": \"{}\", \"chips\": {}, \"step_time\": {}, \"sequences_per_s\": {}, "
        "\"efficiency\": {}, \"energy_per_sequence\": {}}}",
        &row == rows.data() ? "" : ",", row.system, row.training.chips(), row.seconds,
        row.sequences_per_s, row.efficiency, row.joules_per_sequence);
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
  SystemMachine machine;
};

/// The rows of a trace on each chip of the system, once, unless training.* says otherwise.
SystemRequest request_of_trace(const Options& options) {
  check_options(options);
  SystemRequest request;
  request.file = *options.trace;
  request.machine = make_system(options.machines.at(0), options.settings);
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

SystemRequest read_request(const Options& options) {
  SystemRequest request;
  if (options.trace && !options.system_config) return request_of_trace(options);
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
  request.machine = make_system(name, options.settings);
  return request;
}

}  // namespace

int describe_fit(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const SystemRequest request = read_request(options);
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

int compare_systems(const Options& options, const MachineTable& kinds, const Streams& streams) {
  if (options.machines.empty()) throw RequestError("--machine: give one or more to compare");
  const RunSettings settings = run_settings(options);
  const SystemRequest request = read_request(options);
  const std::string name = fs::path(request.file).stem().string();
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = open_part_cache(options.no_cache);
  ChipTimes times(pricing, settings.seed, settings.execution.engine, &cache);
  system::SystemExecution execution;
  execution.engine = settings.execution.engine;
  std::vector<ScalingRow> rows;
  for (const std::string& each : options.machines) {
    const SystemMachine machine = make_system(each, options.settings);
    ScalingRow row;
    row.system = machine.name;
    row.training = spread_over(request.training, machine.params.chips());
    const TrainingResult result =
        run_training({kinds, pricing, times, machine, row.training, execution});
    row.seconds = result.seconds();
    row.sequences_per_s = row.training.global_batch() / row.seconds;
    row.joules_per_sequence = result.energy.total().nominal / row.training.global_batch();
    row.trust = errors_of(machine, row.training);
    rows.push_back(row);
    const double chips = static_cast<double>(rows.back().training.chips()) /
                         static_cast<double>(rows.front().training.chips());
    rows.back().efficiency = rows.back().sequences_per_s / rows.front().sequences_per_s / chips;
  }
  if (folder) {
    folder->begin();
    folder->write("scaling.csv", scaling_csv(rows));
    const ResultHeader header = header_of(options, request.file);
    folder->write("result.json", result_text(header, {}));
    draw_figures({scaling_figure(name, rows)}, (folder->temporary() / "figures").string());
    folder->write("report.html", report_page(*folder, header, {{"scaling", scaling_csv(rows)}},
                                             values_of(request.training)));
    folder->commit();
  }
  if (options.json) {
    streams.out << scaling_json(rows);
  } else {
    streams.out << scaling_text(name, rows);
  }
  return kDone;
}

int run_system(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const RunSettings settings = run_settings(options);
  const SystemRequest request = read_request(options);
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
  if (folder) write_folder(*folder, options, file, machine, training, result);
  if (options.json) {
    streams.out << metrics_json(system_metrics(machine, training, result));
  } else {
    streams.out << system_text(machine, fs::path(file).filename().string(), training, result);
  }
  return kDone;
}

}  // namespace lacuna
