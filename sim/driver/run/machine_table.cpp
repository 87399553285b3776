// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/machine_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/idealisation.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

namespace {

/// A setting of the command line and the machine it is limited to, if any.
struct ScopedSetting {
  std::string machine;
  Setting setting;
};

ScopedSetting parse_scoped(const std::string& text) {
  ScopedSetting scoped{"", parse_setting(text)};
  const std::size_t colon = scoped.setting.path.find(':');
  if (colon != std::string::npos) {
    scoped.machine = scoped.setting.path.substr(0, colon);
    scoped.setting.path.erase(0, colon + 1);
  }
  return scoped;
}

/// No machine took the setting: says what is wrong with it.
[[noreturn]] void refuse(const ScopedSetting& scoped,
                         const std::vector<std::unique_ptr<Machine>>& machines) {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (const auto& machine : machines) {
    names.push_back(machine->name());
    for_each_parameter(*machine,
                       [&](const std::string& path, const ParamBase&) { paths.push_back(path); });
  }
  if (!scoped.machine.empty() && !contains(names, scoped.machine)) {
    throw ParameterError(fmt::format("--set: there is no machine '{}' in this request, only {}",
                                     scoped.machine, fmt::join(names, ", ")));
  }
  for (const auto& machine : machines) {
    if (find_parameter(*machine, kChipPrefix + scoped.setting.path) == nullptr) continue;
    throw ParameterError(
        fmt::format("--set: '{}' is a parameter of the chips of {}, and set as {}{}",
                    scoped.setting.path, machine->name(), kChipPrefix, scoped.setting.path));
  }
  for (const MachineKind& kind : known_machines()) {
    if (find_parameter(*kind.make(kind.kind), scoped.setting.path) == nullptr) continue;
    throw ParameterError(fmt::format("--set: '{}' is a parameter of machines of kind {}, {}; {} {}",
                                     scoped.setting.path, kind.kind, kind.what,
                                     fmt::join(names, ", "),
                                     names.size() == 1 ? "is another kind" : "are other kinds"));
  }
  throw ParameterError(fmt::format("--set: there is no parameter '{}'{}", scoped.setting.path,
                                   hint_of(scoped.setting.path, paths)));
}

}  // namespace

const MachineTable& standard_machines() {
  static const MachineTable table = {ipu_kind(), wse_kind()};
  return table;
}

namespace {

MachineTable& known() {
  static MachineTable machines = standard_machines();
  return machines;
}

}  // namespace

const MachineTable& known_machines() { return known(); }

void set_known_machines(const MachineTable& machines) { known() = machines; }

const MachineKind* known_kind(const std::string& kind) {
  for (const MachineKind& each : known_machines()) {
    if (kind == each.kind) return &each;
  }
  return nullptr;
}

namespace {

/// No machine is described by what hardware does not have.
[[noreturn]] void refuse_idealisation(const Setting& setting) {
  throw refused(
      "{}: '{} = {}' takes a cost away that all hardware has, and no machine is "
      "described so; a run may have it: --set {}={}",
      setting.origin, setting.path, setting.value, setting.path, setting.value);
}

/// A system of chips that share a store; one whose chips are joined by links is no machine.
std::unique_ptr<Machine> make_store_system(const MachineTable& table, const Preset& preset,
                                           const std::string& label) {
  if (network_of(preset) != kTreeNetwork) {
    throw refused(
        "'{}' is a system of chips joined by links, and no machine that has rows of its own: it "
        "stands alone or with others like it, with --trace or --system-config",
        preset.name);
  }
  auto system =
      std::make_unique<StoreSystem>(label.empty() ? preset.name : label,
                                    [table](const std::string& chip, const std::string& called) {
                                      return make_machine(table, chip, called);
                                    });
  for (const Setting& setting : preset.settings) {
    if (is_idealisation(setting.path, setting.value)) refuse_idealisation(setting);
    if (setting.path != kNetworkKey) system->set(setting.path, setting.value, setting.origin);
  }
  return system;
}

}  // namespace

std::unique_ptr<Machine> make_machine(const MachineTable& table, const std::string& name_or_file,
                                      const std::string& label) {
  const Preset preset = load_preset(name_or_file);
  if (preset.kind == kSystemKind) return make_store_system(table, preset, label);
  const auto* const row =
      find_where(table, [&](const MachineKind& kind) { return preset.kind == kind.kind; });
  if (row == nullptr) {
    std::vector<std::string> kinds;
    for (const MachineKind& kind : table) kinds.emplace_back(kind.kind);
    throw refused("{}: machine = '{}' is not one of {}", preset.name, preset.kind,
                  fmt::join(kinds, ", "));
  }
  std::unique_ptr<Machine> machine = row->make(label.empty() ? preset.name : label);
  for (const Setting& setting : preset.settings) {
    if (is_idealisation(setting.path, setting.value)) refuse_idealisation(setting);
    machine->set(setting.path, setting.value, setting.origin);
  }
  return machine;
}

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ParameterError(fmt::format("--set '{}' is not of the form path=value", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1), "--set"};
}

namespace {

/// Refuses a last machine that is called like one before it; names[i] was made to machines[i].
void check_last_name(const std::vector<std::unique_ptr<Machine>>& machines,
                     const std::vector<std::string>& names) {
  const std::string& name = names[machines.size() - 1];
  for (std::size_t i = 0; i + 1 < machines.size(); ++i) {
    if (machines[i]->name() != machines.back()->name()) continue;
    const std::string& other = names[i];
    if (other == name) throw refused("--machine '{}' is given twice", name);
    throw refused(
        "--machine: '{}' and '{}' are both called '{}', and results could not tell them apart; "
        "rename a file",
        other, name, machines.back()->name());
  }
}

}  // namespace

std::vector<std::unique_ptr<Machine>> make_machines(const MachineTable& table,
                                                    const std::vector<std::string>& names,
                                                    const std::vector<std::string>& settings) {
  std::vector<std::unique_ptr<Machine>> machines;
  for (const std::string& name : names) {
    machines.push_back(make_machine(table, name));
    check_last_name(machines, names);
  }
  std::set<std::pair<std::string, std::string>> taken;
  for (const std::string& text : settings) {
    const ScopedSetting scoped = parse_scoped(text);
    bool used = false;
    for (const auto& machine : machines) {
      if (!scoped.machine.empty() && scoped.machine != machine->name()) continue;
      if (find_parameter(*machine, scoped.setting.path) == nullptr) continue;
      if (!taken.emplace(machine->name(), scoped.setting.path).second) {
        throw ParameterError(
            fmt::format("--set: '{}' is given twice for {}", scoped.setting.path, machine->name()));
      }
      machine->set(scoped.setting.path, scoped.setting.value, scoped.setting.origin);
      used = true;
    }
    if (!used) refuse(scoped, machines);
  }
  for (const auto& machine : machines) machine->check();
  return machines;
}

}  // namespace lacuna
