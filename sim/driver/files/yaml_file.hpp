// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace lacuna {

/// A YAML file on its way to what it says. What is wrong with it is a RequestError that begins with
/// file, line and column.
class YamlFile {
 public:
  explicit YamlFile(std::string path) : path_(std::move(path)) {}

 protected:
  const std::string& path() const { return path_; }

  /// Its map, of at most so many bytes; `lacks` says what it holds none of if it is no map.
  YAML::Node load(std::size_t most, const std::string& lacks) const;

  std::string place(const YAML::Mark& mark) const;
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const;

  /// The text of a word or number, none of which has more than a line.
  const std::string& one_line(const YAML::Node& scalar) const;

  /// A key that is not given twice, `prefix` before it.
  std::string new_key(const YAML::Node& key, const std::string& prefix = "");
  void check_new(const YAML::Node& key, const std::string& name);

  std::map<std::string, int> seen_;  // such keys, and in which line

 private:
  std::string path_;
};

}  // namespace lacuna
