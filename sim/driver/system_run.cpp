// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/driver/command_line.hpp"
#include "sim/driver/locations.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/driver/result_json.hpp"
#include "sim/driver/sha256.hpp"
#include "sim/driver/system_job.hpp"
#include "sim/driver/system_report.hpp"
#include "sim/report/text_table.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;

/// A shipped description by its name, or a file.
std::string training_file(const std::string& name) {
  for (const std::string& file : shipped_trainings()) {
    if (fs::path(file).stem() == name) return file;
  }
  return name;
}

void write_folder(ResultFolder& folder, const Options& options, const std::string& file,
                  const SystemMachine& machine, const system::TrainingParams& training,
                  const TrainingResult& result) {
  ResultHeader header;
  header.version = version();
  header.command = reproducing_arguments(options);
  header.workload = fs::path(file).filename().string();
  header.files.emplace_back(file, sha256(read_text(file, kLongest)));
  folder.begin();
  for (const auto& [name, text] : system_files(machine, training, result)) {
    folder.write(name, text);
  }
  folder.write("result.json", result_text(header, {}));
  draw_figures(system_figures(machine, training, result),
               (folder.temporary() / "figures").string());
  folder.commit();
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
  return options.system_config || (options.machines.size() == 1 && is_system(options.machines[0]));
}

int run_system(const Options& options, const MachineTable& kinds, const Streams& streams) {
  if (!options.system_config) {
    throw RequestError(fmt::format(
        "{} is a system of chips: --system-config FILE says what it trains; shipped are\n  {}",
        options.machines[0], fmt::join(shipped_trainings(), "\n  ")));
  }
  const RunSettings settings = run_settings(options);
  const std::string file = training_file(*options.system_config);
  const system::TrainingParams training = read_training(file, options.settings);
  const std::string name = options.machines.empty() ? training.system.value() : options.machines[0];
  if (name.empty()) throw RequestError("--machine: say which system, or " + file + ": system:");
  const SystemMachine machine = make_system(name, options.settings);
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  ChipTimes times(pricing, settings.seed, settings.execution.engine);
  system::SystemExecution execution;
  execution.engine = settings.execution.engine;
  execution.event_log = options.out.has_value();
  const TrainingResult result =
      run_training({kinds, pricing, times, machine, training, execution, true});
  if (folder) write_folder(*folder, options, file, machine, training, result);
  if (options.json) {
    streams.out << metrics_json(system_metrics(machine, training, result));
  } else {
    streams.out << system_text(machine, fs::path(file).filename().string(), training, result);
  }
  return kDone;
}

}  // namespace lacuna
