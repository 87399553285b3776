// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_describe.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/result/result_page.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

/// The value of a parameter as what it is: a number, a flag or a word.
Json value_of(const ParamBase& parameter, const std::string& text) {
  return parameter.is_plain() ? Json::parse(text) : Json(text);
}

Json parameter_json(const std::string& path, const ParamBase& parameter, bool with_value) {
  Json item = {{"path", path}};
  if (with_value) item["value"] = value_of(parameter, parameter.value_text());
  item["default"] = value_of(parameter, parameter.initial_text());
  item["unit"] = parameter.unit();
  item["allowed"] = parameter.limits_text();
  item["meaning"] = parameter.doc();
  return item;
}

/// Takes the parameters of a machine or a set that are asked for, by their paths below `prefix`.
class ParametersJson {
 public:
  ParametersJson(bool with_values, const std::string& asked, std::string prefix = "")
      : with_values_(with_values), asked_(asked), prefix_(std::move(prefix)) {}

  void operator()(const std::string& of_set, const ParamBase& parameter) {
    const std::string path = prefix_ + of_set;
    if (path != asked_ && !is_in_group(path.substr(0, path.rfind('.')), asked_)) return;
    list_.push_back(parameter_json(path, parameter, with_values_));
  }

  Json list() { return std::move(list_); }

 private:
  bool with_values_;
  const std::string& asked_;
  std::string prefix_;
  Json list_ = Json::array();
};

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

bool is_in_group(const std::string& name, const std::string& group) {
  if (group.empty()) return true;
  return ('.' + name + '.').find('.' + group + '.') != std::string::npos;
}

TextTable statistics_table(Machine& machine, const std::string& group) {
  TextTable table({"path<", "name<", "unit<", "layer<", "action<", "meaning<"});
  for (const DeclaredStatistic& listed : machine.statistics()) {
    const StatEntry& entry = listed.entry;
    if (!is_in_group(entry.path, group) && listed.layer != group) continue;
    table.row({entry.path, entry.name, entry.unit, listed.layer, entry.action, entry.doc});
  }
  return table;
}

std::optional<std::string> described_json(const std::vector<std::unique_ptr<Machine>>& machines,
                                          bool with_values, const std::string& subject,
                                          const std::vector<NamedSet>& sets) {
  if (subject == "patterns") return patterns_json().dump(1) + '\n';
  const char* const key = with_values ? "machine" : "kind";
  const std::string asked = subject == "parameters" || subject == "statistics" ? "" : subject;
  Json all = Json::array();
  for (const std::unique_ptr<Machine>& machine : machines) {
    Json item = {{key, with_values ? machine->name() : std::string(machine->kind())}};
    if (subject != "statistics") {
      ParametersJson parameters(with_values, asked);
      for_each_parameter(*machine, std::ref(parameters));
      if (Json list = parameters.list(); !list.empty()) item["parameters"] = std::move(list);
    }
    if (subject != "parameters" && find_parameter(*machine, subject) == nullptr) {
      Json list = rows_of(statistics_table(*machine, asked));
      if (!list.empty() || item.contains("parameters")) item["statistics"] = std::move(list);
    }
    if (item.size() > 1) all.push_back(std::move(item));
  }
  for (const NamedSet& set : sets) {
    ParametersJson parameters(with_values, asked, set.prefix);
    set.parameters->for_each(std::ref(parameters));
    Json list = parameters.list();
    if (!list.empty()) all.push_back({{key, set.name}, {"parameters", std::move(list)}});
  }
  if (all.empty()) return std::nullopt;
  return all.dump(1) + '\n';
}

namespace {

/// Parameters by their paths, each with its meaning.
Json parameter_properties(const std::vector<std::unique_ptr<Machine>>& machines,
                          const Json& allowed) {
  Json properties = Json::object();
  for (const std::unique_ptr<Machine>& machine : machines) {
    for_each_parameter(*machine, [&](const std::string& path, const ParamBase& parameter) {
      Json item = allowed;
      item["description"] =
          std::string(parameter.doc()) + " Allowed: " + parameter.limits_text() + ".";
      properties[path] = std::move(item);
    });
  }
  return properties;
}

Json schema_of(const char* title, Json properties) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", title},
          {"type", "object"},
          {"properties", std::move(properties)}};
}

Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

}  // namespace

std::string experiment_schema(const std::vector<std::unique_ptr<Machine>>& machines) {
  Json words = Json::object();
  for (const OptionDeclaration& each : option_table()) {
    if (!each.is(OptionDeclaration::word)) continue;
    words[each.underscored()] = reference("values");
    words[each.underscored()]["description"] = each.meaning;
  }
  Json axes = words;
  axes.update(parameter_properties(machines, reference("values")));
  const Json group = {{"type", "object"}, {"properties", std::move(axes)}};
  for (const char* const name : {"set", "grid", "zip", "space"}) words[name] = group;
  for (const char* const name : {"where", "minimise", "subject_to"})
    words[name] = reference("list");
  for (const char* const name : {"budget", "restarts", "gain", "at_a_time"}) {
    words[name] = {{"type", "number"}};
  }
  words["strategy"] = {{"enum", {"bounds", "descent", "all"}}};
  Json schema = schema_of("An experiment of lacuna sweep and lacuna search", std::move(words));
  schema["patternProperties"] = {{"^[^:]+:[^:]+$", reference("values")}};
  schema["additionalProperties"] = false;
  const Json value = {{"type", {"string", "number", "boolean"}}};
  const Json list = {{"type", "array"}, {"items", value}, {"minItems", 1}};
  Json range = {{"type", "object"}, {"required", {"from", "to"}}, {"additionalProperties", false}};
  for (const char* const name : {"from", "to", "step", "factor"}) {
    range["properties"][name] = {{"type", "number"}};
  }
  schema["$defs"] = {{"list", {{"anyOf", {value, list}}}},
                     {"values", {{"anyOf", {value, list, range}}}}};
  return schema.dump(1) + '\n';
}

std::string machine_schema(const std::vector<std::unique_ptr<Machine>>& machines) {
  Json properties = {
      {"base", {{"type", "string"}, {"description", "a preset or file that this one changes"}}},
      {"machine", {{"type", "string"}, {"description", "the kind, without a base"}}}};
  properties.update(parameter_properties(machines, {{"type", {"string", "number", "boolean"}}}));
  return schema_of("A machine of Lacuna", std::move(properties)).dump(1) + '\n';
}

}  // namespace lacuna
