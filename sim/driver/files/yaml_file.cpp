// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/yaml_file.hpp"

#include <fmt/format.h>

#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"

namespace lacuna {

YAML::Node YamlFile::load(std::size_t most, const std::string& lacks) const {
  YAML::Node root;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(read_words(path_, most));
    if (documents.size() > 1) refuse(documents[1].Mark(), "a second document begins");
    if (!documents.empty()) root = documents[0];
  } catch (const YAML::Exception& error) {
    refuse(error.mark, "is not YAML: " + error.msg);
  }
  if (!root.IsMap()) throw RequestError(fmt::format("{}: holds no {}", path_, lacks));
  return root;
}

std::string YamlFile::place(const YAML::Mark& mark) const {
  return fmt::format("{}:{}:{}", path_, mark.line + 1, mark.column + 1);  // Mark counts from 0
}

void YamlFile::refuse(const YAML::Mark& mark, const std::string& why) const {
  throw RequestError(fmt::format("{}: {}", place(mark), why));
}

const std::string& YamlFile::one_line(const YAML::Node& scalar) const {
  if (scalar.Scalar().find('\n') != std::string::npos) {
    refuse(scalar.Mark(), "goes on over several lines; is a quote left open?");
  }
  return scalar.Scalar();
}

std::string YamlFile::new_key(const YAML::Node& key, const std::string& prefix) {
  if (!key.IsScalar()) refuse(key.Mark(), "a key is not a word");
  std::string name = prefix + one_line(key);
  check_new(key, name);
  return name;
}

void YamlFile::check_new(const YAML::Node& key, const std::string& name) {
  // yaml-cpp takes a key given twice; we do not
  const auto [first, is_new] = seen_.emplace(name, key.Mark().line + 1);
  if (is_new) return;
  refuse(key.Mark(), fmt::format("'{}' is given twice; first in line {}", name, first->second));
}

}  // namespace lacuna
