// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/split.hpp"
#include "workloads/import/chakra_graph.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/json_text.hpp"

namespace lacuna {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& found,
                       const std::string& allowed) {
  throw_diagnostic(path, "E206", found, allowed);
}

// Keys differ in case and underscores between writers.
std::string plain(const std::string& key) {
  std::string result = lower_case(key);
  result.erase(std::remove(result.begin(), result.end(), '_'), result.end());
  return result;
}

bool is_whole(const Json& value) { return value.is_number_unsigned(); }

void read_ids(const Json& list, const std::string& path, ChakraNode& node) {
  if (!list.is_array()) fail(path, "dependencies that are no list", "a list of ids");
  for (const Json& id : list) {
    if (!is_whole(id)) fail(path, "dependency " + quotable(id.dump()), "an id, a whole number");
    node.dependencies.push_back(id.get<std::uint64_t>());
  }
}

// An attribute: a number, or an object {name, value of any type}.
void read_attribute(const Json& attribute, ChakraNode& node) {
  if (!attribute.is_object() || !attribute.contains("name")) return;
  const Json& name = attribute.at("name");
  for (const auto& [key, value] : attribute.items()) {
    if (name.is_string() && is_whole(value)) {
      set_attribute(node, name.get<std::string>(), value.get<std::uint64_t>());
    }
  }
}

std::uint64_t whole_of(const Json& value, const std::string& key, const std::string& path) {
  if (is_whole(value)) return value.get<std::uint64_t>();
  constexpr double kMost = 9e15;
  if (value.is_number_float() && value.get<double>() >= 0 && value.get<double>() < kMost) {
    return static_cast<std::uint64_t>(std::llround(value.get<double>()));
  }
  fail(path, fmt::format("{}: {}", key, quotable(value.dump())), "a whole number");
}

/// A list of attributes, or an object of them.
void read_attributes(const Json& value, ChakraNode& node) {
  if (value.is_array()) {
    for (const Json& attribute : value) read_attribute(attribute, node);
  } else if (value.is_object()) {
    for (const auto& [attribute, number] : value.items()) {
      if (is_whole(number)) set_attribute(node, attribute, number.get<std::uint64_t>());
    }
  }
}

void read_member(const std::string& key, const Json& value, const std::string& path,
                 ChakraNode& node) {
  constexpr std::uint64_t kTypes = 8;
  const std::string name = plain(key);
  if (name == "id") {
    node.id = whole_of(value, key, path);
  } else if (name == "name" && value.is_string()) {
    node.name = value.get<std::string>();
  } else if (name == "nodetype" || name == "type") {
    const std::uint64_t type = whole_of(value, key, path);
    if (type < kTypes) node.type = static_cast<ChakraNode::Type>(type);
  } else if (name == "ctrldeps" || name == "datadeps") {
    read_ids(value, path, node);
  } else if (name == "runtime" || name == "durationmicros") {
    node.duration_us = whole_of(value, key, path);
  } else if ((name == "attrs" || name == "attr") && value.is_structured()) {
    read_attributes(value, node);
  } else if (is_whole(value)) {
    set_attribute(node, key, value.get<std::uint64_t>());
  }
}

ChakraNode read_node(const Json& json, const std::string& path) {
  if (!json.is_object()) fail(path, "a node that is no object", "an object");
  ChakraNode node;
  bool has_id = false;
  for (const auto& [key, value] : json.items()) {
    read_member(key, value, path, node);
    has_id = has_id || plain(key) == "id";
  }
  if (!has_id) fail(path, "a node without an id", "an id");
  return node;
}

const Json& list_of(const Json& json, const std::string& path) {
  if (json.is_array()) return json;
  for (const char* key : {"workload_graph", "nodes"}) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    if (json.is_object() && found != json.end() && found->is_array()) return *found;
  }
  fail(path, "no list of nodes", "a list under workload_graph or nodes, or a bare list");
}

}  // namespace

void import_chakra_json(const ImportFile& file, ImportContext& context) {
  const Json json = parse_json(file.text, file.path);
  ChakraGraph graph;
  for (const Json& node : list_of(json, file.path))
    graph.nodes.push_back(read_node(node, file.path));
  if (json.is_object() && json.contains("ngpus") && is_whole(json.at("ngpus"))) {
    graph.ranks = json.at("ngpus").get<std::uint64_t>();
  }
  add_graph(file, graph, context);
}

}  // namespace lacuna
