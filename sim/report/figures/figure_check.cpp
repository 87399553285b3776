// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>

#include "sim/base/split.hpp"

namespace lacuna {

namespace {

constexpr const char* kCheck = "# check ";

/// FNV-1a, as 16 digits.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

/// Splits a script into what stands before its check, the check, and what follows its line.
struct Checked {
  std::string check;
  std::string text;
};

std::optional<Checked> checked(const std::string& script) {
  const std::size_t mark = script.find(kCheck);
  if (mark == std::string::npos) return std::nullopt;
  const std::size_t begin = mark + std::string(kCheck).size();
  const std::size_t end = script.find('\n', begin);
  if (end == std::string::npos) return std::nullopt;
  return Checked{script.substr(begin, end - begin), script.substr(end + 1)};
}

/// Eight colours that the colour-blind tell apart: M. Okabe and K. Ito, "Color Universal Design",
/// 2008, without yellow, because a yellow line is not seen on white; and shades of grey. Bars of
/// more parts than these have the further ones, from azure on, each pale beside a dark one. Behind
/// each its grey.
constexpr std::array<const char*, 33> kColours = {
    "black #000000 #000000",     "orange #E69F00 #C4C4C4", "skyblue #56B4E9 #A2A2A2",
    "green #009E73 #5C5C5C",     "blue #0072B2 #333333",   "vermilion #D55E00 #787878",
    "purple #CC79A7 #DCDCDC",    "ink #444444 #222222",    "dim #666666 #666666",
    "reference #888888 #999999", "rule #CCCCCC #D8D8D8",   "pale #D9D9D9 #EFEFEF",
    "clock #4D4D4D #4D4D4D",     "tree #6E6E6E #6E6E6E",   "idle #8C8C8C #8C8C8C",
    "night #00304A #1A1A1A",     "mist #F7FBFF #FBFBFB",   "edge #FFFFFF #FFFFFF",
    "azure #1f77b4 #3A3A3A",     "sky #9ecae1 #C8C8C8",    "navy #08519c #141414",
    "violet #6a51a3 #7A7A7A",    "leaf #74c476 #ABABAB",   "ember #e6550d #555555",
    "peach #fdae6b #D6D6D6",     "red #d62728 #262626",    "brown #8c564b #686868",
    "stone #7f7f7f #909090",     "silver #bdbdbd #E4E4E4", "cyan #17becf #4A4A4A",
    "water #6baed6 #606060",     "ash #e0e0e0 #F2F2F2",    "haze #CFE3F2 #E6E6E6"};

using Colours = std::vector<std::pair<std::string, std::string>>;

Colours colours_of(std::size_t column) {
  Colours colours;
  for (const char* const row : kColours) {
    const std::vector<std::string> words = split(row, ' ');
    colours.emplace_back(words[0], words[column]);
  }
  return colours;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& figure_colours() {
  static const Colours colours = colours_of(1);
  return colours;
}

std::string colour_variable(const std::string& colour) {
  for (const auto& [name, known] : figure_colours()) {
    if (colour == known || colour == name) return name;
  }
  return "'" + colour + "'";
}

const std::vector<std::pair<std::string, std::string>>& grey_colours() {
  static const Colours greys = colours_of(2);
  return greys;
}

const std::vector<std::string>& figure_formats() {
  static const std::vector<std::string> formats = {"svg", "pdf", "png", "eps"};
  return formats;
}

std::string with_check(const std::string& name, const std::string& text) {
  return fmt::format(
      "# {0}: `gnuplot {0}.gp` draws it from {0}.csv. Change what you like: a script that was\n"
      "# changed is known by its check and kept.\n{1}{2}\n{3}",
      name, kCheck, hash_of(text), text);
}

bool is_edited(const std::string& script) {
  const std::optional<Checked> parts = checked(script);
  return parts && parts->check != hash_of(parts->text);
}

std::vector<std::string> formats_of(const std::string& script) {
  const std::string begin = "\nformats = '";
  const std::size_t found = script.find(begin);
  if (found == std::string::npos) return {"svg", "pdf", "png"};
  const std::size_t first = found + begin.size();
  std::istringstream words(script.substr(first, script.find('\'', first) - first));
  std::vector<std::string> formats;
  for (std::string word; words >> word;) formats.push_back(word);
  return formats;
}

}  // namespace lacuna
