// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/json_figure.hpp"

namespace lacuna {

namespace {

/// The first line that sets `variable`, with another value.
void assign(std::string& text, const std::string& variable, const std::string& value) {
  const std::string begin = "\n" + variable + " = ";
  const std::size_t found = text.find(begin);
  if (found == std::string::npos) throw InternalError("a figure has no variable " + variable);
  const std::size_t first = found + begin.size();
  const std::size_t end = std::min(text.find("  #", first), text.find('\n', first));
  text.replace(first, end - first, value);
}

/// A text that is shown, by its new name; or with each of its words that has one, from the longest
/// on: "bow" in "bow unstructured at 0.25", but not in "rainbow".
std::string renamed(const std::string& text, const std::map<std::string, std::string>& labels) {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::pair<const std::string, std::string>* best = nullptr;
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    for (const auto& label : labels) {
      const std::size_t end = at + label.first.size();
      const bool fits = begins && text.compare(at, label.first.size(), label.first) == 0 &&
                        (end == text.size() || !is_of_word(text[end]));
      if (fits && (best == nullptr || label.first.size() > best->first.size())) best = &label;
    }
    if (best == nullptr) {
      result += text[at++];
    } else {
      result += best->second;
      at += best->first.size();
    }
  }
  return result;
}

/// Texts that a reader sees, by their new names: those after `title` and such, a bracket or a
/// comma, before a place, another word or the line's end. Two quotes are one in a text.
std::string relabelled(const std::string& text, const std::map<std::string, std::string>& labels) {
  static const std::regex shown(
      "((?:title|[xy]label|cblabel|label \\d+) |\\( ?|, ?)'((?:[^'\n]|'')*)'"
      "(?=,| at| with| offset| -| \\d|[ \\t]*\n|[ \\t]*$|[ \\t]*\\\\\n)");
  std::string result;
  auto rest = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), shown), end; at != end; ++at) {
    const std::smatch& found = *at;
    const std::string plain = std::regex_replace(found[2].str(), std::regex("''"), "'");
    result += std::string(rest, found[0].first) + found[1].str() + quoted(renamed(plain, labels));
    rest = found[0].second;
  }
  return result + std::string(rest, text.end());
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

namespace {

/// The assignments of a look in a script, which begins with a line's end.
void apply(const FigureLook& look, std::string& text) {
  if (look.width) assign(text, "width", number(*look.width));
  if (look.height) assign(text, "height", number(*look.height));
  if (look.font) assign(text, "font", quoted(*look.font));
  if (look.points) assign(text, "points", number(*look.points));
  if (look.legend) assign(text, "show_legend", *look.legend ? "1" : "0");
  if (!look.formats.empty()) {
    assign(text, "formats", quoted(fmt::format("{}", fmt::join(look.formats, " "))));
  }
  for (const auto& [name, colour] : look.colours) assign(text, name, quoted(colour));
}

}  // namespace

Figure with_look(Figure figure, const FigureLook& look) {
  if (unchecked(figure.script) == figure.script)
    throw InternalError("a script without a check: " + figure.name);
  std::string text = "\n" + unchecked(figure.script);
  apply(look, text);
  if (look.title) {
    assign(text, "own_title", quoted(*look.title));
    assign(text, "title_lines", look.title->empty() ? "0" : "1");
  }
  if (!look.labels.empty()) text = relabelled(text, look.labels);
  figure.script = with_check(figure.name, text.substr(1));
  figure.description = described_with(figure.description, look);
  return figure;
}

bool shows(const Figure& figure, const std::string& words) {
  const std::string text = "\n" + unchecked(figure.script);
  return relabelled(text, {{words, words + "."}}) != text;
}

namespace {

/// Whether the fourth column, times of dense runs, has any.
bool has_dense_times(const Figure& figure) {
  std::istringstream rows(figure.csv);
  std::string row;
  std::getline(rows, row);
  while (std::getline(rows, row)) {
    const std::vector<std::string> cells = split(row, ',');
    if (cells.size() > 3 && !cells[3].empty()) return true;
  }
  return false;
}

}  // namespace

void normalise(std::vector<Figure>& figures, const std::string& how) {
  const std::vector<std::string> words = {"share", "sum", "time", "dense"};
  if (!contains(words, how)) {
    throw RequestError(
        fmt::format("--normalise: found '{}'; allowed: {}", how, fmt::join(words, ", ")));
  }
  bool any = false;
  for (Figure& figure : figures) {
    std::string text = "\n" + unchecked(figure.script);
    const std::size_t line = text.find("\nnormalise = ");
    if (line == std::string::npos) continue;
    const bool timed = text.find("time or dense", line) < text.find('\n', line + 1);
    if (how == "dense" && timed && !has_dense_times(figure)) continue;
    if ((how == "time" || how == "dense") && !timed) continue;
    if (how == "sum" && timed) continue;
    assign(text, "normalise", quoted(how));
    figure.script = with_check(figure.name, text.substr(1));
    figure.description = described_as(figure.description, how);
    any = true;
  }
  if (any) return;
  throw RequestError(fmt::format(
      "--normalise {}: no figure drawn here can be{}", how,
      how == "dense" ? "; the runs have no dense partner (--with-dense, or a dense pattern)" : ""));
}

}  // namespace lacuna
