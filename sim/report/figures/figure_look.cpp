// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/report/figures/figure_style.hpp"

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

/// The quote that what begins at `at` may have for its text, if a reader sees that: after `title`
/// and such, a bracket or a comma.
std::size_t quote_of_shown(const std::string& text, std::size_t at) {
  const auto is_quote = [&](std::size_t place) {
    return place < text.size() && text[place] == '\'';
  };
  const auto quote_at = [&](std::size_t place) {
    return is_quote(place) ? place : std::string::npos;
  };
  if (text[at] == '(' || text[at] == ',') {
    return quote_at(text.compare(at + 1, 1, " ") == 0 ? at + 2 : at + 1);
  }
  for (const std::string_view word : {"title ", "xlabel ", "ylabel ", "cblabel "}) {
    if (text.compare(at, word.size(), word) == 0) return quote_at(at + word.size());
  }
  constexpr std::string_view kLabel = "label ";
  if (text.compare(at, kLabel.size(), kLabel) != 0) return std::string::npos;
  const std::size_t after = text.find_first_not_of("0123456789", at + kLabel.size());
  if (after == at + kLabel.size() || after == std::string::npos) return std::string::npos;
  return text[after] == ' ' ? quote_at(after + 1) : std::string::npos;
}

/// Whether a text of a reader may end before `at`: a place, another word or the line's end follows.
bool follows_shown(const std::string& text, std::size_t at) {
  for (const std::string_view next : {",", " at", " with", " offset", " -"}) {
    if (text.compare(at, next.size(), next) == 0) return true;
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (at + 1 < text.size() && text[at] == ' ' && digit(text[at + 1])) return true;
  const std::size_t word = std::min(text.find_first_not_of(" \t\n\v\f\r", at), text.size());
  return text.find('\n', at) < word || text.compare(word, 2, "\\\n") == 0;
}

/// Texts that a reader sees: names of series and axes, marks, lines above the data.
std::string relabelled(const std::string& text, const std::map<std::string, std::string>& labels) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t quote = quote_of_shown(text, at);
    std::string shown;
    std::size_t end = quote == std::string::npos ? text.size() : quote + 1;
    for (; end < text.size(); ++end) {
      // two quotes are one in the text
      if (text[end] == '\'' && text.compare(end, 2, "''") != 0) break;
      if (text[end] == '\'') ++end;
      shown += text[end];
    }
    if (end >= text.size() || !follows_shown(text, end + 1)) {
      result += text[at++];
      continue;
    }
    result += text.substr(at, quote - at) + quoted(renamed(shown, labels));
    at = end + 1;
  }
  return result;
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

namespace {

/// The assignments of a look in a script of gnuplot or of Python, which begins with a line's end.
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

std::string python_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

void apply_to_python(const FigureLook& look, std::string& text) {
  text = "\n" + text;
  apply(look, text);
  if (look.title) {
    assign(text, "own_title", python_text(*look.title));
    assign(text, "title_lines", look.title->empty() ? "0" : "1");
  }
  std::string labels;
  for (const auto& [old, fresh] : look.labels) {
    labels +=
        fmt::format("{}{}: {}", labels.empty() ? "" : ", ", python_text(old), python_text(fresh));
  }
  if (!labels.empty()) assign(text, "labels", "{" + labels + "}");
  text.erase(0, 1);
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
  try {
    if (!figure.python.empty()) apply_to_python(look, figure.python);
  } catch (const InternalError&) {
    figure.python.clear();  // one that was changed by hand, and has no such variable
  }
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
  if (std::find(words.begin(), words.end(), how) == words.end()) {
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
    if (!figure.python.empty()) {
      figure.python = "\n" + figure.python;
      assign(figure.python, "normalise", quoted(how));
      figure.python.erase(0, 1);
    }
    any = true;
  }
  if (any) return;
  throw RequestError(fmt::format(
      "--normalise {}: no figure drawn here can be{}", how,
      how == "dense" ? "; the runs have no dense partner (--with-dense, or a dense pattern)" : ""));
}

}  // namespace lacuna
