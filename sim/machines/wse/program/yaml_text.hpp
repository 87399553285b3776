// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/driver/files/yaml_file.hpp"
#include "sim/machines/wse/program/formula.hpp"

namespace lacuna {

struct Said;

/// What a file says at a place; null where it says nothing.
using YamlNode = const Said*;

/// A key of a map of a file, and its value.
struct YamlMember {
  std::string name;
  YamlNode at;
  YamlNode value;
};

/// A word, a list or a map of a file, kept as long as the file.
struct Said {
  YAML::Mark mark;
  YAML::NodeType::value type = YAML::NodeType::Undefined;
  std::string word;
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;           // no key twice
  mutable const Formula* formula = nullptr;  // that the word is, once it has been read

  bool is_list() const { return type == YAML::NodeType::Sequence; }

  /// What a map says of a key.
  YamlNode at(const char* key) const;
};

/// Numbers `first`, `first + step`, ...: an index of an array, or columns or rows of cores.
struct TextRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
  bool single = false;  // said as one number

  bool holds(std::int64_t number) const {
    const std::int64_t place = step == 1 ? number - first : (number - first) / step;
    return place >= 0 && place < count && first + place * step == number;
  }
};

/// The file of a program: words, and numbers that are formulas. RequestError
/// begins with file, line and column.
class ProgramText : public YamlFile {
 public:
  explicit ProgramText(std::string path) : YamlFile(std::move(path)) {}

  using YamlFile::path;

  /// The file, which is read once.
  YamlNode load(std::size_t most, const std::string& lacks);

  FormulaNames names;

  std::string place(YamlNode at) const { return YamlFile::place(at->mark); }
  [[noreturn]] void refuse(YamlNode at, const std::string& why) const {
    YamlFile::refuse(at->mark, why);
  }
  /// "found 'x'; allowed: a, b; did you mean ...?"
  [[noreturn]] void refuse_word(YamlNode at, const std::string& found,
                                const std::vector<std::string>& allowed) const;

  const std::string& word(YamlNode node) const;
  /// What a word stands for; `name[formula]` is one of several with this name.
  template <class Value>
  const Value& one_of(YamlNode node, const std::map<std::string, Value>& table);
  /// Such a word with the value of its formula, as `name[3]`.
  std::string numbered(YamlNode at, const std::string& word);

  /// The value of a formula that stands in `at`.
  double number(YamlNode at, const std::string& text) {
    const Formula* formula = nullptr;
    return value(at, text, formula);
  }
  double number(YamlNode node) { return value(node, word(node), node->formula); }
  std::int64_t whole(YamlNode at, const std::string& formula, std::int64_t least,
                     std::int64_t most);
  template <class Count = std::uint32_t>
  Count count(YamlNode node, std::int64_t least, std::int64_t most) {
    return static_cast<Count>(whole(node, word(node), least, most));
  }
  /// true, false, or a formula that is not 0; false if nothing is said.
  bool flag(YamlNode node);
  /// False if a map has an `if` that is 0.
  bool holds(YamlNode map) { return map->at("if") == nullptr || flag(map->at("if")); }

  /// `N`, `A:B` or `A:B:STEP` of `size`, each a formula, negative ones from the end. `none`: it may
  /// be empty.
  TextRange range(YamlNode at, const std::string& said, std::int64_t size, bool none = false);

  /// What a map has; none if it is not there. `allowed` empty: any key.
  const std::vector<YamlMember>& members(YamlNode map,
                                         std::initializer_list<const char*> allowed = {}) const;

  /// One node, or those of a list; none if it is not there.
  static std::vector<YamlNode> items(YamlNode list);

  /// The parts of a text between commas, or other marks, that stand in no
  /// brackets.
  const std::vector<std::string>& parts(const std::string& text, char mark);

 private:
  YamlNode keep(const YAML::Node& node);
  /// What `text` is worth; `formula` is it from the first time on.
  double value(YamlNode at, const std::string& text, const Formula*& formula);

  YamlNode root_ = nullptr;
  std::deque<Said> said_;
  std::map<std::pair<int, int>, YamlNode> collections_;  // by place and type
  std::map<char, std::unordered_map<std::string, std::vector<std::string>>> parts_;
};

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

template <class Value>
const Value& ProgramText::one_of(YamlNode node, const std::map<std::string, Value>& table) {
  const std::string name = numbered(node, word(node));
  const auto found = table.find(name);
  if (found == table.end()) refuse_word(node, name, keys_of(table));
  return found->second;
}

}  // namespace lacuna
