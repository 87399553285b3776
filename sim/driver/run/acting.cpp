// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/acting.hpp"

#include <fmt/format.h>

namespace lacuna {

namespace {

bool covers(const ActsWith& condition, const std::string& path) {
  if (path == condition.other) return false;
  if (condition.path.back() == '.') return path.rfind(condition.path, 0) == 0;
  return path == condition.path;
}

/// "machine:path=value" as its two first parts; the machine may be empty.
std::pair<std::string, std::string> split(const std::string& setting) {
  const std::string path = setting.substr(0, setting.find('='));
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos) return {"", path};
  return {path.substr(0, colon), path.substr(colon + 1)};
}

std::string remark(const Machine& machine, const std::string& path) {
  const ParameterSet& parameters = machine.parameters();
  if (parameters.find(path) == nullptr) return "";
  for (const ActsWith& condition : conditions()) {
    const ParamBase* const other = parameters.find(condition.other);
    if (other == nullptr || !covers(condition, path)) continue;
    if (other->value_text() == condition.value) continue;
    return fmt::format("lacuna: {} acts with {} = {} alone, and on {} that is {}\n", path,
                       condition.other, condition.value, machine.name(), other->value_text());
  }
  return "";
}

}  // namespace

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
      {"sys.", "sys.memoryx.on", "true"},
  };
  return all;
}

std::string idle_settings(const std::vector<std::unique_ptr<Machine>>& machines,
                          const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) {
    const auto [name, path] = split(setting);
    for (const auto& machine : machines) {
      if (name.empty() || name == machine->name()) text += remark(*machine, path);
    }
  }
  return text;
}

std::string settings_without_effect(const std::vector<std::unique_ptr<Machine>>& machines,
                                    const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) {
    const auto [name, path] = split(setting);
    std::string first;
    bool acts = false;
    for (const auto& machine : machines) {
      if (!name.empty() && name != machine->name()) continue;
      const std::string line = remark(*machine, path);
      acts = acts || (line.empty() && machine->parameters().find(path) != nullptr);
      if (first.empty()) first = line;
    }
    if (!acts) text += first;
  }
  return text;
}

}  // namespace lacuna
