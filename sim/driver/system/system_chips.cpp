// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/system_chips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/machines/system/takes_streams.hpp"

namespace lacuna {

namespace fs = std::filesystem;

std::string no_system(const std::string& name) {
  const std::vector<std::string> names = system_names();
  return fmt::format("'{}' is no system of chips; systems are {}, or a file{}", name,
                     fmt::join(names, ", "), hint_of(name, names));
}

bool is_system(const std::string& name) {
  if (contains(system_names(), name)) return true;
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml";
  return file && load_preset(name).kind == kSystemKind;
}

bool is_linked_system(const std::string& name) {
  return is_system(name) && network_of(load_preset(name)) == kLinksNetwork;
}

SystemMachine make_system(const std::string& name, const std::vector<std::string>& settings) {
  SystemMachine made;
  if (!is_system(name)) throw RequestError("--machine: " + no_system(name));
  const Preset loaded = load_preset(name);
  if (network_of(loaded) != kLinksNetwork) {
    throw refused(
        "'{}' has chips that share a store of weights, which all go through the link "
        "of each chip for every token that --model makes; a chip by itself holds them "
        "(--machine wse2), as do systems joined by links. A model is trained there "
        "with --system-config",
        name);
  }
  made.name = loaded.name;
  std::string chip_file;
  const auto take = [&](const Setting& setting) {
    const std::string file = setting.origin.substr(0, setting.origin.find(':'));
    if (setting.path == "chip") {
      chip_file = file;
      made.own_barrier = false;
    }
    if (setting.path == kBarrierOfTiles) made.own_barrier = file == "--set" || file == chip_file;
    if (setting.path == kNetworkKey && setting.origin != "--set") return;
    if (starts_with(setting.path, kChipPrefix)) {
      made.chip_settings.push_back(setting.path.substr(std::strlen(kChipPrefix)) + "=" +
                                   setting.value);
    } else {
      made.params.set(setting.path, setting.value, setting.origin);
    }
  };
  for (const Setting& setting : loaded.settings) take(setting);
  std::set<std::string> given;
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text);
    if (!given.insert(setting.path).second) {
      throw ParameterError(
          fmt::format("--set: '{}' is given twice for {}", setting.path, made.name));
    }
    if (!starts_with(setting.path, "training.")) take(setting);
  }
  made.params.check();
  return made;
}

SystemChips::SystemChips(const MachineTable& kinds, const Pricing& pricing,
                         const SystemMachine& system, unsigned io_tiles, const char* word)
    : kinds_(kinds),
      pricing_(pricing),
      preset_(system.params.chip),
      settings_(system.chip_settings),
      word_(word) {
  if (io_tiles == 0) return;
  const unsigned all = tiles();
  if (all < io_tiles + 2) {
    throw ParameterError(fmt::format("{} = {}: the chip has {} tiles", word, io_tiles, all));
  }
  whole_ = std::move(made_.begin()->second);
  made_.clear();
  tiles_ = fmt::format("{}", all - io_tiles);
}

system::StandingWatts SystemChips::watts() const {
  system::StandingWatts watts{idle_watts(chip(), pricing_), {}};
  if (whole_ == nullptr) return watts;
  watts.always = idle_watts(*whole_, pricing_);
  watts.always.add(watts.waiting, -1);
  return watts;
}

const Machine& SystemChips::chip(const std::string& path, const std::string& value,
                                 const char* origin) const {
  std::unique_ptr<Machine>& kept = made_[path + "=" + value];
  if (kept != nullptr) return *kept;
  std::unique_ptr<Machine> made = std::move(make_machines(kinds_, {preset_}, settings_)[0]);
  if (!tiles_.empty()) made->set("ipu.tiles", tiles_, word_);
  if (!path.empty()) made->set(path, value, origin);
  made->check();
  kept = std::move(made);
  return *kept;
}

std::uint64_t SystemChips::tile_bytes() const {
  return static_cast<std::uint64_t>(std::llround(number("tile.memory.kib") * 1024));
}

std::uint64_t SystemChips::memory_bytes() const {
  const auto* const wafer = dynamic_cast<const TakesStreams*>(&chip());
  return wafer != nullptr ? wafer->memory_bytes() : tile_bytes() * tiles();
}

std::uint64_t SystemChips::code_bytes(double kib) const {
  const bool wafer = dynamic_cast<const TakesStreams*>(&chip()) != nullptr;
  return wafer ? 0 : static_cast<std::uint64_t>(std::llround(kib * 1024)) * tiles();
}

const system::MemoryAccount& StepResult::fullest() const {
  return *std::max_element(memory.begin(), memory.end(), [](const auto& a, const auto& b) {
    return a.use.total() < b.use.total();
  });
}

void run_step(const system::SystemParams& params, system::Program program,
              const system::StandingWatts& watts, const system::SystemExecution& execution,
              StepResult& step, bool alone) {
  step.program = std::move(program);
  step.run = run_program(params, system::Fabric(params), step.program, execution);
  const system::ProgramWork work = work_of(step.program);
  step.flop = work.flop;
  step.watts = watts_over(params, step.program, step.run, watts);
  if (!alone) {
    step.energy = energy_of(params, step.run, work.joules, watts);
    return;
  }
  system::SystemParams machine = params;
  machine.machine_w = 0;
  machine.hosts_w = 0;
  system::RunResult one = step.run;
  one.chips.resize(1);
  step.energy = energy_of(machine, one, work.joules, watts);
}

}  // namespace lacuna
