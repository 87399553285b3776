// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/driver/files/yaml_file.hpp"
#include "sim/machines/wse/program/formula.hpp"

namespace lacuna {

/// Numbers `first`, `first + step`, ...: an index of an array, or columns or rows of cores.
struct TextRange {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;
  bool single = false;  // said as one number
  std::string half;     // of the word that started the task, which is added: "upper" or "lower"
};

/// The file of a program: words, and numbers that are formulas. RequestError begins with file, line
/// and column.
class ProgramText : public YamlFile {
 public:
  explicit ProgramText(std::string path) : YamlFile(std::move(path)) {}

  using YamlFile::load;
  using YamlFile::place;
  using YamlFile::refuse;

  FormulaNames names;

  /// "found 'x'; allowed: a, b; did you mean ...?"
  [[noreturn]] void refuse_word(const YAML::Node& at, const std::string& found,
                                const std::vector<std::string>& allowed) const;

  const std::string& word(const YAML::Node& node) const;
  const std::string& word(const YAML::Node& node, const std::vector<std::string>& allowed) const;
  /// The value of a formula that stands in `at`.
  double number(const YAML::Node& at, const std::string& formula);
  double number(const YAML::Node& node) { return number(node, word(node)); }
  /// true, false, or a formula that is not 0.
  bool flag(const YAML::Node& node) {
    return word(node) == "true" || (word(node) != "false" && number(node) != 0);
  }
  std::int64_t whole(const YAML::Node& at, const std::string& formula, std::int64_t least,
                     std::int64_t most);
  std::int64_t whole(const YAML::Node& node, std::int64_t least, std::int64_t most) {
    return whole(node, word(node), least, most);
  }

  /// `N`, `A:B` or `A:B:STEP` of `size`, each a formula, negative ones from the end; `by_word`:
  /// `upper` or `lower` and what is added to it, too.
  TextRange range(const YAML::Node& at, const std::string& said, std::int64_t size,
                  bool by_word = false);

  /// Each key of a map, none of them twice, and its value; nothing if there is no map. `allowed`
  /// empty: any.
  using Take =
      std::function<void(const std::string& key, const YAML::Node& at, const YAML::Node& value)>;
  void each(const YAML::Node& map, const std::vector<std::string>& allowed, const Take& take) const;

  /// One node, or each of a list.
  void each(const YAML::Node& list, const std::function<void(const YAML::Node&)>& take) const;
};

/// The parts of a text between commas, or other marks, that stand in no brackets.
std::vector<std::string> parts_of(const std::string& text, char mark);

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace lacuna
