// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/yaml_layouts.hpp"

#include <fmt/format.h>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/files/yaml_file.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kLongestLayouts = std::size_t{1} << 24U;

class LayoutsReader : YamlFile {
 public:
  explicit LayoutsReader(std::string file) : YamlFile(std::move(file)) {}

  std::vector<LayoutEntry> read() {
    const YAML::Node root = load(kLongestLayouts, "`layouts:`, a list of layouts");
    for (const auto& item : root) {
      const std::string key = scalar(item.first, "a key");
      if (key != "layouts") refuse(item.first.Mark(), unknown(key, {"layouts"}));
    }
    const YAML::Node list = root["layouts"];
    if (!list.IsSequence()) refuse(list.Mark(), "`layouts` is no list");
    std::vector<LayoutEntry> entries;
    for (const YAML::Node& each : list) entries.push_back(entry(each));
    return entries;
  }

 private:
  static std::string unknown(const std::string& key, const std::vector<std::string>& allowed) {
    return fmt::format("found '{}'; allowed: {}{}", key, fmt::join(allowed, ", "),
                       hint_of(key, allowed));
  }

  std::string scalar(const YAML::Node& node, const std::string& what) const {
    if (!node.IsScalar()) refuse(node.Mark(), what + " is no word");
    return node.Scalar();
  }

  LayoutEntry entry(const YAML::Node& map) {
    if (!map.IsMap()) refuse(map.Mark(), "a layout is a map, with `machine` and `layout`");
    LayoutEntry made;
    made.place = place(map.Mark());
    seen_.clear();
    std::vector<std::string> allowed = layout_words();
    allowed.insert(allowed.end(), {"layout", "extent", "found"});
    for (const auto& item : map) {
      const std::string key = scalar(item.first, "a key");
      if (!contains(allowed, key)) {
        refuse(item.first.Mark(), unknown(key, allowed));
      }
      if (key == "found") continue;
      check_new(item.first, key);
      if (key == "layout") {
        add_settings(item.second, made);
      } else if (key == "extent") {
        made.extent = scalar(item.second, key);
        if (made.extent.empty()) refuse(item.second.Mark(), "extent: says nothing");
      } else {
        made.of[key] = scalar(item.second, key);
      }
    }
    if (seen_.count("layout") == 0)
      refuse(map.Mark(), "has no `layout`; {} is the one that is planned");
    return made;
  }

  void add_settings(const YAML::Node& map, LayoutEntry& made) {
    if (!map.IsMap()) refuse(map.Mark(), "`layout` is no map of choices and values");
    for (const auto& item : map) {
      const std::string key = scalar(item.first, "a choice");
      check_new(item.first, key);
      made.layout.emplace_back(key, scalar(item.second, key));
      made.places.push_back(place(item.first.Mark()));
    }
  }
};

}  // namespace

const std::vector<std::string>& layout_words() {
  static const std::vector<std::string> words = {"machine", "id",    "op",   "m",       "k",
                                                 "n",       "batch", "type", "pattern", "mode"};
  return words;
}

std::vector<LayoutEntry> read_layouts(const std::string& path) {
  return LayoutsReader(path).read();
}

std::string layouts_yaml(const std::vector<LayoutEntry>& entries,
                         const std::vector<std::string>& found) {
  const auto quoted = [](const std::string& text) {
    const bool plain = all_of(text, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '/';
    });
    return plain && !text.empty() ? text : "\"" + text + "\"";
  };
  std::string text = "# Layouts of operations, for --layout\nlayouts:\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const char* lead = "  - ";
    for (const std::string& word : layout_words()) {
      const auto value = entries[i].of.find(word);
      if (value == entries[i].of.end()) continue;
      text += fmt::format("{}{}: {}\n", lead, word, quoted(value->second));
      lead = "    ";
    }
    if (!entries[i].extent.empty()) {
      text += fmt::format("{}extent: {}\n", lead, quoted(entries[i].extent));
      lead = "    ";
    }
    std::string settings;
    for (const auto& [key, value] : entries[i].layout) {
      settings += fmt::format("{}{}: {}", settings.empty() ? "" : ", ", key, quoted(value));
    }
    text += fmt::format("{}layout: {{{}}}\n", lead, settings);
    if (i < found.size() && !found[i].empty()) text += fmt::format("    found: \"{}\"\n", found[i]);
  }
  return text;
}

}  // namespace lacuna
