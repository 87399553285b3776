// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/driver/files/yaml_file.hpp"
#include "sim/machines/wse/program/formula.hpp"

namespace lacuna {

using YamlNode = YAML::Node;

/// A key of a map of a file, and its value.
struct YamlMember {
  std::string name;
  YamlNode at;
  YamlNode value;
};

/// Numbers `first`, `first + step`, ...: an index of an array, or columns or
/// rows of cores.
struct TextRange {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;
  bool single = false;  // said as one number
  std::string half;     // of the word that started the task, which is added:
                        // "upper" or "lower"
};

/// The file of a program: words, and numbers that are formulas. RequestError
/// begins with file, line and column.
class ProgramText : public YamlFile {
 public:
  explicit ProgramText(std::string path) : YamlFile(std::move(path)) {}

  using YamlFile::load;
  using YamlFile::place;
  using YamlFile::refuse;

  FormulaNames names;

  /// "found 'x'; allowed: a, b; did you mean ...?"
  [[noreturn]] void refuse_word(const YamlNode& at, const std::string& found,
                                const std::vector<std::string>& allowed) const;

  const std::string& word(const YamlNode& node) const;
  /// What a word stands for; `name[formula]` is one of several with this name.
  template <class Value>
  const Value& one_of(const YamlNode& node, const std::map<std::string, Value>& table);
  /// Such a word with the value of its formula, as `name[3]`.
  std::string numbered(const YamlNode& at, const std::string& word);

  /// The value of a formula that stands in `at`.
  double number(const YamlNode& at, const std::string& formula);
  double number(const YamlNode& node) { return number(node, word(node)); }
  std::int64_t whole(const YamlNode& at, const std::string& formula, std::int64_t least,
                     std::int64_t most);
  std::uint32_t count(const YamlNode& node, std::int64_t least, std::int64_t most) {
    return static_cast<std::uint32_t>(whole(node, word(node), least, most));
  }
  /// true, false, or a formula that is not 0; false if nothing is said.
  bool flag(const YamlNode& node);

  /// `N`, `A:B` or `A:B:STEP` of `size`, each a formula, negative ones from the
  /// end; `by_word`: `upper` or `lower` and what is added to it, too. `none`: it
  /// may be empty.
  TextRange range(const YamlNode& at, const std::string& said, std::int64_t size,
                  bool by_word = false, bool none = false);

  /// What a map has, no key twice; none if it is not there. `allowed` empty:
  /// any key.
  std::vector<YamlMember> members(const YamlNode& map,
                                  const std::vector<std::string>& allowed = {}) const;

  /// One node, or those of a list; none if it is not there.
  static std::vector<YamlNode> items(const YamlNode& list);
};

/// The parts of a text between commas, or other marks, that stand in no
/// brackets.
std::vector<std::string> parts_of(const std::string& text, char mark);

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

template <class Value>
const Value& ProgramText::one_of(const YamlNode& node, const std::map<std::string, Value>& table) {
  const std::string name = numbered(node, word(node));
  const auto found = table.find(name);
  if (found == table.end()) refuse_word(node, name, keys_of(table));
  return found->second;
}

}  // namespace lacuna
