// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/fonts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"

namespace lacuna {

namespace {

/// A name as fontconfig takes it literally, as a word of the shell.
std::string pattern_of(const std::string& font) {
  std::string text = "'";
  for (const char c : font) {
    if (std::string("\\-:,=").find(c) != std::string::npos) text += '\\';
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

/// What fontconfig takes for a font: names of one family, in several languages.
std::string matched(const std::string& font) {
  const std::string command = "fc-match -f '%{family}' " + pattern_of(font) + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> part{};
  while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) {
    text += part.data();
  }
  return text;
}

/// Free fonts whose letters are as wide as those of others, by the beginnings of the others' names:
/// Liberation, those of ghostscript and those of TeX.
bool same_metrics(const std::string& font, const std::string& other) {
  using Names = std::vector<std::string>;
  const Names serif = {"liberation serif", "nimbus roman", "nimbus roman no9 l", "tex gyre termes"};
  const Names sans = {"liberation sans", "nimbus sans", "nimbus sans l", "tex gyre heros"};
  const Names mono = {"liberation mono", "nimbus mono ps", "nimbus mono l", "tex gyre cursor"};
  const std::vector<std::pair<std::string, const Names*>> twins = {
      {"times", &serif}, {"arial", &sans}, {"helvetica", &sans}, {"courier", &mono}};
  return any_of(twins, [&](const auto& twin) {
    return font.rfind(twin.first, 0) == 0 && contains(*twin.second, other);
  });
}

}  // namespace

std::string font_in_place_of(const std::string& font) {
  const std::string family = matched(font);
  if (family.empty()) return "";
  const std::string asked = lower_case(font);
  const std::vector<std::string> names = split(family, ',');
  const bool known = any_of(names, [&](const std::string& name) {
    return lower_case(name) == asked || same_metrics(asked, lower_case(name));
  });
  // "sans" and its like ask for no font of that name
  const bool any = asked == "sans" || asked == "sans-serif" || asked == "serif" ||
                   asked == "mono" || asked == "monospace";
  return known || any ? "" : names.front();
}

}  // namespace lacuna
