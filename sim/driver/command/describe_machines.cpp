// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/files/config_table.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/result/off_chip.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

std::vector<std::string> machine_names() {
  std::vector<std::string> names = preset_names();
  for (const std::string& name : system_names()) {
    if (!is_linked_system(name)) names.push_back(name);
  }
  return names;
}

namespace {

double number_of(const ParameterSet& parameters, const char* path) {
  const ParamBase* const parameter = parameters.find(path);
  return parameter == nullptr ? 0 : std::stod(parameter->value_text());
}

/// Bytes that a tile or core can read and write in a cycle.
double bytes_per_cycle(const ParameterSet& parameters) {
  return number_of(parameters, "tile.memory.load_bytes") +
         number_of(parameters, "tile.memory.store_bytes") +
         (number_of(parameters, "mem.read_bits") + number_of(parameters, "mem.write_bits")) / 8;
}

/// What stands behind a machine's memory: its bandwidth, the chip's beside it, and the source.
std::vector<std::string> beyond_cells(const Machine& machine, const std::vector<OffChip>& off_chip,
                                      double chip_tbps) {
  const auto cells = [&](double gbps, std::string what) -> std::vector<std::string> {
    return {four_digits(gbps), four_digits(chip_tbps * 1e3 / gbps), std::move(what)};
  };
  if (const StoreSystem* const system = as_store_system(machine)) {
    return cells(
        system->own().swarmx.link_gbps,
        "no DRAM; MemoryX over a link of SwarmX; each wafer, as " + system->own().chip.value());
  }
  const auto* const beyond =
      find_where(off_chip, [&](const OffChip& each) { return machine.name() == each.name; });
  if (beyond == nullptr) return {"", "", "none is modelled"};
  std::vector<std::string> row = cells(beyond->gbps, beyond->what + "; " + beyond->source);
  row.front() = fmt::format("{}", beyond->gbps);
  return row;
}

/// What each level of BLAS needs for an operation, and what a machine of others gives.
std::string blas_text(const std::vector<OffChip>& off_chip) {
  std::string text =
      "GEMM n x n x n: 3/n. GEMV: 1. DOT: 2. AXPY, and a sparse product of single weights: 3.\n";
  for (const OffChip& row : off_chip) {
    if (row.kind != "reference" || !row.fp16_tflops) continue;
    text += fmt::format("{} ({} GB/s, {} TFLOP/s fp16; {}) gives {:.3g}.\n", row.what, row.gbps,
                        *row.fp16_tflops, row.source, row.gbps / (*row.fp16_tflops * 1e3));
  }
  return text;
}

/// Bandwidth of the memory on the chip beside that beyond it, and bytes per fp16 FLOP at peak.
TextTable bandwidth_table(const MachineTable& table, const std::vector<OffChip>& off_chip) {
  TextTable list({"name<", "memory of a unit|B/cycle", "a unit|GB/s", "units", "chip|TB/s",
                  "per FLOP|B", "beyond the chip|GB/s", "ratio",
                  "what is beyond, and its source<"});
  for (const std::string& name : machine_names()) {
    const std::unique_ptr<Machine> machine = make_machine(table, name);
    const ParameterSet& parameters = machine->parameters();
    const double bytes = bytes_per_cycle(parameters);
    const double units = machine->energy().chip_units;
    const double unit_gbps = bytes * number_of(parameters, "clock");
    const double chip_tbps = unit_gbps * units * 1e-3;
    const double flop = 2 * machine->energy().peak_macs;
    std::vector<std::string> cells = {name,
                                      fmt::format("{:.0f}", bytes),
                                      four_digits(unit_gbps),
                                      fmt::format("{:.0f}", units),
                                      four_digits(chip_tbps),
                                      flop > 0 ? four_digits(bytes / flop) : ""};
    std::vector<std::string> beyond = beyond_cells(*machine, off_chip, chip_tbps);
    cells.insert(cells.end(), std::make_move_iterator(beyond.begin()),
                 std::make_move_iterator(beyond.end()));
    list.row(std::move(cells));
  }
  return list;
}

/// The row of a system that shares a store of weights.
std::vector<std::string> store_cells(const std::string& name, const MachineTable& table) {
  const std::unique_ptr<Machine> machine = make_machine(table, name);
  const system::WaferSystemParams& own = as_store_system(*machine)->own();
  return {name,
          own.machines.value_text(),
          own.machines.value_text(),
          own.chip,
          kTreeNetwork,
          fmt::format("{:.0f}", own.memoryx.capacity_tb * 1000)};
}

void add_systems(const MachineTable& table, TextPage& page) {
  TextTable list(
      {"name<", "machines", "chips", "chip<", "topology<", "streaming memory or store|GB"});
  for (const std::string& name : system_names()) {
    if (!is_linked_system(name)) {
      list.row(store_cells(name, table));
      continue;
    }
    const system::SystemParams params = make_system(name, {}).params;
    list.row({name, params.machines.value_text(), fmt::format("{}", params.chips()), params.chip,
              params.links.topology.value_text(),
              fmt::format("{:.0f}", params.gateway.ddr_gb * params.machines)});
  }
  page.heading("Systems of chips").table(std::move(list));
}

}  // namespace

TextPage systems_page(const MachineTable& table) {
  TextPage page("Systems",
                "Presets of chips joined by links, and by a tree to a store of weights.");
  add_systems(table, page);
  return page;
}

namespace {

/// What is known of chips beside their parameters; none if the configuration folder has no such
/// file.
std::vector<std::vector<std::string>> read_chips() {
  const std::filesystem::path file = config_folder() / "chips.csv";
  std::vector<std::vector<std::string>> rows;
  if (!std::filesystem::exists(file)) return rows;
  const ConfigTable table(file, {"name", "year", "process", "what", "source"});
  for (std::size_t row = 0; row < table.size(); ++row) rows.push_back(table.cells(row));
  return rows;
}

}  // namespace

TextPage machines_page(const MachineTable& table) {
  TextTable list({"name<", "kind<", "what it is<", "simulated<", "clock|GHz", "memory|MB",
                  "peak fp16|TFLOP/s", "process<", "year", "process and year by<"});
  const std::vector<std::vector<std::string>> chips = read_chips();
  for (const std::string& name : preset_names()) {
    const std::unique_ptr<Machine> machine = make_machine(table, name);
    const ParameterSet& parameters = machine->parameters();
    const auto* const kind = find_where(
        table, [&](const MachineKind& row) { return machine->kind() == std::string(row.kind); });
    const auto* const chip = find_where(chips, [&](const auto& each) { return each[0] == name; });
    const bool known = chip != nullptr;
    const ParamBase* const clock = parameters.find("clock");
    const double units = machine->energy().chip_units;
    const double kib = number_of(parameters, "tile.memory.kib") + number_of(parameters, "mem.kib");
    const double flop = 2 * machine->energy().peak_macs;
    list.row({name, machine->kind(),
              known             ? (*chip)[3]
              : kind == nullptr ? ""
                                : kind->what,
              machine->extent(), clock == nullptr ? "" : clock->value_text(),
              kib > 0 ? four_digits(kib * units * 1024e-6) : "",
              flop > 0 ? four_digits(flop * units * number_of(parameters, "clock") * 1e-3) : "",
              known ? (*chip)[2] : "", known ? (*chip)[1] : "", known ? (*chip)[4] : ""});
  }
  const std::vector<OffChip> off_chip = read_off_chip();
  TextPage page("Machines", "Presets, in `sim/config`, each number with its source.");
  page.table(std::move(list));
  add_systems(table, page);
  page.heading("Memory bandwidth").table(bandwidth_table(table, off_chip));
  page.heading("Bytes that each level of BLAS needs per FLOP, in fp16").text(blas_text(off_chip));
  return page;
}

}  // namespace lacuna
