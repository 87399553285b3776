// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {
namespace {

constexpr std::int64_t kMost = 0x7FFFFFFF;

}  // namespace

YamlNode Said::at(const char* key) const {
  const YamlMember* const found = find_named(members, key);
  return found == nullptr ? nullptr : found->value;
}

YamlNode ProgramText::load(std::size_t most, const std::string& lacks) {
  if (root_ == nullptr) root_ = keep(YamlFile::load(most, lacks));
  return root_;
}

YamlNode ProgramText::keep(const YAML::Node& node) {
  Said& made = said_.emplace_back();
  made.mark = node.Mark();
  made.type = node.Type();
  if (node.IsScalar()) made.word = one_line(node);
  if (!node.IsMap() && !node.IsSequence()) return &made;
  // what stands in several places by its name is kept once
  const auto [known, fresh] = collections_.emplace(std::make_pair(made.mark.pos, made.type), &made);
  if (!fresh) return known->second;
  for (const auto& item : node) {
    if (node.IsSequence()) {
      made.items.push_back(keep(item));
      continue;
    }
    YamlNode key = keep(item.first);
    if (find_named(made.members, word(key)) != nullptr) {
      refuse(key, fmt::format("'{}' is given twice", key->word));
    }
    made.members.push_back({key->word, key, keep(item.second)});
  }
  return &made;
}

void ProgramText::refuse_word(YamlNode at, const std::string& found,
                              const std::vector<std::string>& allowed) const {
  refuse(at, fmt::format("found '{}'; allowed: {}{}", found, fmt::join(allowed, ", "),
                         hint_of(found, allowed)));
}

const std::string& ProgramText::word(YamlNode node) const {
  if (node->type != YAML::NodeType::Scalar) {
    refuse(node, "found a list or a map; allowed: one word or number");
  }
  return node->word;
}

std::string ProgramText::numbered(YamlNode at, const std::string& word) {
  const std::size_t open = word.find('[');
  if (open == std::string::npos || word.back() != ']') return word;
  const std::string index = word.substr(open + 1, word.size() - open - 2);
  return fmt::format("{}[{}]", word.substr(0, open), whole(at, index, 0, kMost));
}

double ProgramText::value(YamlNode at, const std::string& text, const Formula*& formula) {
  try {
    if (formula == nullptr) formula = &names.formula(text);
    return (*formula)();
  } catch (const RequestError& error) {
    refuse(at, error.what());
  }
}

std::int64_t ProgramText::whole(YamlNode at, const std::string& formula, std::int64_t least,
                                std::int64_t most) {
  const double value = number(at, formula);
  if (value == std::floor(value) && value >= static_cast<double>(least) &&
      value <= static_cast<double>(most)) {
    return static_cast<std::int64_t>(value);
  }
  refuse(at, fmt::format("found {} = {}; allowed: {} to {}, whole", formula, value, least, most));
}

TextRange ProgramText::range(YamlNode at, const std::string& said, std::int64_t size, bool none) {
  const std::vector<std::string>& parts = this->parts(said, ':');
  const auto part = [&](std::size_t i, std::int64_t otherwise) {
    if (i >= parts.size() || parts[i].empty()) return otherwise;
    const std::int64_t value = whole(at, parts[i], -kMost, kMost);
    return i < 2 && value < 0 ? value + size : value;
  };
  TextRange range;
  range.single = parts.size() == 1;
  range.step = part(2, 1);
  const int way = range.step < 0 ? -1 : 1;
  range.first = part(0, range.single ? -1 : way < 0 ? size - 1 : 0);
  const std::int64_t end = range.single ? range.first + 1 : part(1, way < 0 ? -1 : size);
  const auto inside = [](std::int64_t place, std::int64_t most) {
    return place >= 0 && place <= most;
  };
  if (parts.size() <= 3 && range.step != 0) {
    range.count = std::max((end - range.first + range.step - way) / range.step, std::int64_t{0});
    const std::int64_t last = range.first + (range.count - 1) * range.step;
    if (range.count == 0 ? none && inside(range.first, size)
                         : inside(range.first, size - 1) && inside(last, size - 1))
      return range;
  }
  refuse(at, fmt::format("found '{}'; allowed: 0 to {}, as N, A:B or A:B:STEP", said, size - 1));
}

bool ProgramText::flag(YamlNode node) {
  if (node == nullptr || word(node) == "false") return false;
  return word(node) == "true" || number(node) != 0;
}

const std::vector<YamlMember>& ProgramText::members(
    YamlNode map, std::initializer_list<const char*> allowed) const {
  static const std::vector<YamlMember> none;
  if (map == nullptr || map->type == YAML::NodeType::Null) return none;
  if (map->type != YAML::NodeType::Map) refuse(map, "found no map; allowed: WORD: ... lines");
  for (const YamlMember& each : map->members) {
    if (allowed.size() == 0 || contains(allowed, each.name)) continue;
    refuse_word(each.at, each.name, {allowed.begin(), allowed.end()});
  }
  return map->members;
}

std::vector<YamlNode> ProgramText::items(YamlNode list) {
  if (list == nullptr) return {};
  return list->is_list() ? list->items : std::vector<YamlNode>{list};
}

const std::vector<std::string>& ProgramText::parts(const std::string& text, char mark) {
  std::vector<std::string>& parts = parts_[mark][text];
  if (!parts.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == mark && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
  }
  return parts;
}

}  // namespace lacuna
