// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_describe.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

/// The value of a parameter as what it is: a number, a flag or a word.
Json value_of(const ParamBase& parameter, const std::string& text) {
  return parameter.is_plain() ? Json::parse(text) : Json(text);
}

Json parameters_json(const Machine& machine, bool with_values, const std::string& group) {
  Json list = Json::array();
  machine.parameters().for_each([&](const std::string& path, const ParamBase& parameter) {
    const bool asked = group.empty() || path == group || path.rfind(group + ".", 0) == 0;
    if (!asked) return;
    Json item = {{"path", path}};
    if (with_values) item["value"] = value_of(parameter, parameter.value_text());
    item["default"] = value_of(parameter, parameter.initial_text());
    item["unit"] = parameter.unit();
    item["allowed"] = parameter.limits_text();
    item["meaning"] = parameter.doc();
    list.push_back(std::move(item));
  });
  return list;
}

Json statistics_json(Machine& machine) {
  Json list = Json::array();
  for (const DeclaredStatistic& listed : machine.statistics()) {
    const StatEntry& entry = listed.entry;
    list.push_back({{"path", entry.path},
                    {"name", entry.name},
                    {"unit", entry.unit},
                    {"layer", listed.layer},
                    {"action", entry.action},
                    {"meaning", entry.doc}});
  }
  return list;
}

Json patterns_json() {
  Json list = Json::array();
  for (const PatternKind& kind : pattern_kinds()) {
    const bool required = kind.density == PatternKind::Density::required;
    list.push_back({{"name", kind.name},
                    {"needs_density", required},
                    {"takes_block", kind.blocks},
                    {"keys", kind.keys},
                    {"meaning", kind.meaning},
                    {"source", kind.source}});
  }
  return list;
}

}  // namespace

std::string described_json(const std::vector<std::unique_ptr<Machine>>& machines, bool with_values,
                           const std::string& subject) {
  if (subject == "patterns") return patterns_json().dump(1) + '\n';
  Json all = Json::array();
  bool any = false;
  for (const std::unique_ptr<Machine>& machine : machines) {
    Json item = {{with_values ? "machine" : "kind",
                  with_values ? machine->name() : std::string(machine->kind())}};
    if (subject == "statistics") {
      item["statistics"] = statistics_json(*machine);
    } else {
      item["parameters"] =
          parameters_json(*machine, with_values, subject == "parameters" ? "" : subject);
      if (item["parameters"].empty()) continue;
    }
    any = true;
    all.push_back(std::move(item));
  }
  if (any) return all.dump(1) + '\n';
  throw RequestError(fmt::format(
      "--json: found '{}'; allowed: parameters, statistics, patterns, and a parameter or a group "
      "of them",
      subject));
}

}  // namespace lacuna
