// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/power.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "models/energy/energy_model.hpp"
#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/config_table.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/times.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {

namespace {

/// What lies between chips and the place where power is stated.
struct Boundary {
  JouleRange rest;  // W beside the chips
  JouleRange loss;  // of regulators and supplies, a share of what goes in
};

JouleRange at_boundary(const JouleRange& chips, const Boundary& boundary) {
  JouleRange watts;
  for (const Corner corner : kCorners) {
    watts.at(corner) =
        (chips.at(corner) + boundary.rest.at(corner)) / (1 - boundary.loss.at(corner));
  }
  return watts;
}

JouleRange times(const JouleRange& range, double factor) {
  JouleRange all;
  all.add(range, factor);
  return all;
}

class PowerPoints {
 public:
  PowerPoints(const MachineTable& table, const ValidationRunSettings& run,
              const std::optional<std::string>& energy_table)
      : table_(table),
        engine_(run.execution.engine),
        pricing_(config_folder(), energy_table),
        times_(pricing_, run.seed, engine_) {
    read_boundaries();
  }

  PowerRow simulate(const ValidationPoint& point) {
    PowerRow row;
    row.id = point.id;
    row.system = point.system;
    row.workload = point.workload;
    row.boundary = text(point, "boundary");
    row.kind = text(point, "kind");
    row.role = text(point, "role");
    row.published = point.value.value_or(0);
    const std::string& what = text(point, "run");
    const std::size_t colon = what.find(':');
    const std::string name = colon == std::string::npos ? "" : what.substr(colon + 1);
    const double chips = std::stod(text(point, "chips"));
    if (what == "peak") {
      const std::unique_ptr<Machine> machine = make_machine(table_, text(point, "machine"));
      row.chips = times(peak(*machine), chips);
      row.chips_idle = idle(*machine).nominal * chips;
    } else if (starts_with(what, "trace:")) {
      const std::unique_ptr<Machine> machine = make_machine(table_, text(point, "machine"));
      row.chips = times(of_trace(*machine, name), chips);
      row.chips_idle = idle(*machine).nominal * chips;
    } else if (starts_with(what, "system:")) {
      of_system(name, row);
    } else {
      throw TraceError(fmt::format("{}:{}: run = '{}'; allowed: peak, trace:FILE, system:NAME",
                                   point.file, point.line, what));
    }
    row.watts =
        row.boundary == "chip" ? row.chips : at_boundary(row.chips, boundary(point, row.boundary));
    return row;
  }

 private:
  static const std::string& text(const ValidationPoint& point, const char* key) {
    const auto found = point.parameters.find(key);
    if (found == point.parameters.end()) {
      throw TraceError(fmt::format("{}:{}: a power needs the parameter '{}'; it has {}", point.file,
                                   point.line, key, point.parameters.size()));
    }
    return found->second;
  }

  void read_boundaries() {
    const std::filesystem::path path = config_folder() / "power_boundaries.csv";
    const ConfigTable table(
        path, {"boundary", "part", "low", "nominal", "high", "unit", "mark", "source"});
    for (std::size_t row = 0; row < table.size(); ++row) {
      Boundary& at = boundaries_[table.text(row, "boundary")];
      (table.text(row, "part") == "loss" ? at.loss : at.rest) = {
          table.number(row, "low"), table.number(row, "nominal"), table.number(row, "high")};
    }
  }

  const Boundary& boundary(const ValidationPoint& point, const std::string& name) const {
    const auto found = boundaries_.find(name);
    if (found == boundaries_.end()) {
      throw TraceError(fmt::format("{}:{}: boundary = '{}' is not in power_boundaries.csv",
                                   point.file, point.line, name));
    }
    return found->second;
  }

  static double number(const Machine& machine, const char* path) {
    return std::stod(machine.parameters().find(path)->value_text());
  }

  /// Every unit of the chip in its busiest cycle.
  JouleRange peak(const Machine& machine) const {
    constexpr Cycle kCycles = 4000;
    const EnergyParams& params = machine.energy();
    OpRecord record;
    record.result.cycles = kCycles;
    record.result.clock_ghz = number(machine, "clock");
    record.result.units = static_cast<std::uint64_t>(params.chip_units);
    for (const auto& [action, count] : pricing_.busiest_cycle(machine)) {
      StatEntry entry;
      entry.path = "unit";
      entry.name = action;
      entry.action = action;
      entry.value = static_cast<std::uint64_t>(
          count * static_cast<double>(record.result.cycles * record.result.units));
      record.result.statistics.push_back(std::move(entry));
    }
    pricing_.price(machine, record);
    return times(*record.row.energy_j,
                 record.result.clock_ghz * 1e9 / static_cast<double>(kCycles));
  }

  JouleRange idle(const Machine& machine) const {
    return idle_watts(machine, pricing_, static_cast<std::uint64_t>(machine.energy().chip_units));
  }

  /// All rows, one after the other.
  JouleRange of_trace(const Machine& machine, const std::string& name) {
    const std::filesystem::path file = config_folder().parent_path().parent_path() / name;
    const std::filesystem::path installed = config_folder().parent_path() / name;
    const WorkloadTrace trace =
        read_trace((std::filesystem::exists(file) ? file : installed).string());
    JouleRange joules;
    double cycles = 0;
    for (const LayerOp& op : trace.ops) {
      const system::ChipCost cost = times_.cost(machine, op, trace);
      joules.add(cost.joules, static_cast<double>(op.repeat));
      cycles += static_cast<double>(cost.cycles) * static_cast<double>(op.repeat);
    }
    return times(joules, number(machine, "clock") * 1e9 / cycles);
  }

  /// The chips, links and memory of one machine of the system in a training step.
  void of_system(const std::string& name, PowerRow& row) {
    for (const std::string& file : shipped_trainings()) {
      if (std::filesystem::path(file).stem() != name) continue;
      const system::TrainingParams training = read_training(file, {});
      const SystemMachine system = make_system(training.system, {});
      system::SystemExecution execution;
      execution.engine = engine_;
      const TrainingResult result =
          run_training({{table_, pricing_, times_, training, execution}, system});
      JouleRange joules;
      for (const SystemEnergyPart& part : result.energy.parts) {
        // Machines and hosts are what the boundary adds, or beyond it.
        if (part.key != "machines" && part.key != "hosts") joules.add(part.joules);
      }
      row.chips = times(joules, 1 / (result.seconds() * system.params.machines));
      const std::unique_ptr<Machine> chip = make_machine(table_, system.params.chip);
      row.chips_idle = idle(*chip).nominal * system.params.machine_chips;
      return;
    }
    throw refused("no description of traces/systems is called '{}'", name);
  }

  const MachineTable& table_;
  Engine engine_;
  Pricing pricing_;
  ChipTimes times_;
  std::map<std::string, Boundary> boundaries_;
};

}  // namespace

std::vector<PowerRow> simulate_power(const ValidationPoints& points, const MachineTable& table,
                                     const ValidationRunSettings& run,
                                     const std::optional<std::string>& energy_table,
                                     Outcomes& outcomes) {
  std::vector<PowerRow> rows;
  std::unique_ptr<PowerPoints> power;  // made where there is something to run
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool ours = points[i].metric == "power" && points[i].parameters.count("boundary") != 0;
    if (!ours || outcomes[i].status != Status::unsupported) continue;
    if (power == nullptr) power = std::make_unique<PowerPoints>(table, run, energy_table);
    rows.push_back(power->simulate(points[i]));
    const PowerRow& row = rows.back();
    if (row.kind != "measured" && row.kind != "typical") {
      outcomes[i].reason = fmt::format("a power that is no measurement ({})", row.kind);
      continue;
    }
    outcomes[i].status = Status::ok;
    outcomes[i].reason.clear();
    outcomes[i].simulated = row.watts.nominal;
    outcomes[i].family = fmt::format("power of a {}, {}", row.boundary, row.kind);
  }
  return rows;
}

std::string power_table(const std::vector<PowerRow>& rows) {
  TextTable table({"power<", "system<", "boundary<", "workload<", "kind<", "role<", "published|W",
                   "predicted|W", "low|W", "high|W", "chips|W", "idle chips|W"});
  for (const PowerRow& row : rows) {
    const auto watts = [](double value) { return fmt::format("{:.0f}", value); };
    table.row({row.id, row.system, row.boundary, row.workload, row.kind, row.role,
               watts(row.published), watts(row.watts.nominal), watts(row.watts.low),
               watts(row.watts.high), watts(row.chips.nominal), watts(row.chips_idle)});
  }
  return table.text();
}

std::string power_csv(const std::vector<PowerRow>& rows) {
  std::string text =
      "id,system,boundary,workload,kind,role,published_w,predicted_w,low_w,high_w,chips_w,"
      "chips_idle_w\n";
  for (const PowerRow& row : rows) {
    text += csv_row(row.id, row.system, row.boundary, row.workload, row.kind, row.role,
                    row.published, row.watts.nominal, row.watts.low, row.watts.high,
                    row.chips.nominal, row.chips_idle);
  }
  return text;
}

}  // namespace lacuna
