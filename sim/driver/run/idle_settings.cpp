// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/idle_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/ranges.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

namespace {

bool covers(const ActsWith& condition, const std::string& path) {
  if (path == condition.other) return false;
  if (condition.path.back() == '.') return path.rfind(condition.path, 0) == 0;
  return path == condition.path;
}

/// "machine:path=value" as its two first parts; the machine may be empty.
std::pair<std::string, std::string> split_path(const std::string& setting) {
  const std::string path = setting.substr(0, setting.find('='));
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos) return {"", path};
  return {path.substr(0, colon), path.substr(colon + 1)};
}

/// Whether a wafer's rule may choose what a parameter is: nobody has.
bool is_left_to_rule(const std::string& path, const std::vector<std::string>& settings) {
  return path == "ws.groups" &&
         !any_of(settings, [&](const auto& setting) { return split_path(setting).second == path; });
}

std::string remark(const Machine& machine, const std::string& path,
                   const std::vector<std::string>& settings) {
  const ParameterSet& parameters = machine.parameters();
  const bool is_system = as_store_system(machine) != nullptr;
  const std::string prefix = is_system ? kChipPrefix : "";
  if (path.rfind(prefix, 0) != 0) return "";  // a system's own act always
  const std::string of_chip = path.substr(prefix.size());
  if (parameters.find(of_chip) == nullptr) return "";
  for (const ActsWith& condition : conditions()) {
    const ParamBase* const other = parameters.find(condition.other);
    if (other == nullptr || !covers(condition, of_chip)) continue;
    if (is_left_to_rule(condition.other, settings)) continue;
    if ((other->value_text() == condition.value) != condition.differs) continue;
    if (condition.differs) {
      return fmt::format("lacuna: {} acts unless {} = {}, which it is on {}\n", path,
                         condition.other, condition.value, machine.name());
    }
    return fmt::format("lacuna: {} acts with {} = {} alone, and on {} that is {}\n", path,
                       condition.other, condition.value, machine.name(), other->value_text());
  }
  return "";
}

/// A path that a machine has under another name: of a system's chips, or without a system.
std::string set_alone(const Machine& machine, const std::string& path,
                      const std::vector<std::string>& settings) {
  if (find_parameter(machine, path) != nullptr) return "";
  const std::string prefix = kChipPrefix;
  const bool is_system = as_store_system(machine) != nullptr;
  if (!is_system && path.rfind(prefix, 0) != 0) return "";
  const std::string there = is_system ? prefix + path : path.substr(prefix.size());
  if (find_parameter(machine, there) == nullptr) return "";
  for (const std::string& setting : settings) {
    const auto [name, also] = split_path(setting);
    if (also == there && (name.empty() || name == machine.name())) return "";
  }
  return fmt::format("lacuna: {} is not set on {}, where it is {}\n", path, machine.name(), there);
}

std::string fold_remark(const std::vector<std::unique_ptr<Machine>>& machines, bool fold) {
  if (!fold || can_fold(machines)) return "";
  return "lacuna: --fold acts on wafers alone, and there is none here\n";
}

}  // namespace

bool can_fold(const std::vector<std::unique_ptr<Machine>>& machines) {
  return any_of(machines,
                [](const auto& machine) { return machine->kind() == std::string("wse"); });
}

const std::vector<ActsWith>& conditions() {
  static const std::vector<ActsWith> all = {
      {"exchange.constant_latency", "exchange.latency", "constant"},
      {"exchange.paired_words", "exchange.paired", "true"},
      {"wafer.program_columns", "io.share", "0"},
      {"core.cache_bytes", "core.psum_cache", "true"},
      {"mem.fma16_stalls", "mem.model", "rule"},
      {"mem.fma32_stalls", "mem.model", "rule"},
      {"ws.results", "ws.gradient", "chained"},
      {"resident.nonzero_cycles", "resident.storage", "nonzeros"},
      {"io.column_fifo", "io.stream", "row_ordered"},
      {"io.dist_rows", "ws.inject", "west_edge"},
      {"ws.share", "ws.groups", "1", true},
      {"ws.lie", "ws.groups", "1", true},
      {"ws.copies", "ws.groups", "1", true},
      {"ws.exchange", "ws.groups", "1", true},
      {"ws.buses", "ws.groups", "1", true},
      {"ws.buses", "ws.exchange", "product"},
      {"ws.buses", "ws.lie", "side_by_side"},
      {"zero_filter.", "ws.zero_filter", "true"},
      {"zero_filter.scan_width", "zero_filter.at", "sender"},
      {"activations.test", "activations.encode", "device"},
      {"activations.keep", "activations.encode", "device"},
      {"activations.place", "activations.encode", "device"},
      {"host.coo_ns", "host.format", "coo"},
  };
  return all;
}

std::string settings_beside_model(const Machine& machine,
                                  const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) {
    const auto [name, path] = split_path(setting);
    if (!name.empty() && name != machine.name()) continue;
    if (path == "wafer.columns" || path == "wafer.rows") continue;  // blocks have their place there
    if (path == "io.gbit") continue;                                // its area leaks
    for (const char* const group : {"wafer.", "core.cmd_cycles", "core.dispatch_overlap",
                                    "core.init_cycles", "core.psum_cache", "mem.code_kib", "timer.",
                                    "kernel.", "ws.", "zero_filter.", "resident.", "io.", "map."}) {
      if (path.rfind(group, 0) != 0) continue;
      text += fmt::format("lacuna: {} acts on nothing of --model\n", path);
    }
  }
  return text;
}

std::string idle_settings(const std::vector<std::unique_ptr<Machine>>& machines,
                          const std::vector<std::string>& settings, bool fold, IdleOn idle) {
  std::string text = fold_remark(machines, fold);
  for (const std::string& setting : settings) {
    const auto [name, path] = split_path(setting);
    std::string remarks;
    bool acts = false;
    for (const auto& machine : machines) {
      if (!name.empty() && name != machine->name()) continue;
      text += set_alone(*machine, path, settings);
      const std::string line = remark(*machine, path, settings);
      acts = acts || (line.empty() && find_parameter(*machine, path) != nullptr);
      if (idle == IdleOn::one || remarks.empty()) remarks += line;
    }
    if (idle == IdleOn::one || !acts) text += remarks;
  }
  return text;
}

}  // namespace lacuna
