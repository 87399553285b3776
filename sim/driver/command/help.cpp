// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kWidthOfNames = 30;  // letters of an option and its value
constexpr std::size_t kFewOptions = 25;    // are shown at once

/// An option and what it is for, its lines broken to the width of the terminal; of `brief` ones the
/// first clause.
std::string line_of(const TypedOption& option, bool brief) {
  std::string meaning = option.meaning;
  if (brief) meaning = meaning.substr(0, std::min(meaning.find("; "), meaning.find(": ")));
  const std::size_t width = TextTable::width();
  const auto lines =
      lines_of_words(meaning, width > 2 * kWidthOfNames ? width - kWidthOfNames - 2 : 100);
  const std::string name = option.dashed() + (option.value.empty() ? "" : " ") + option.value;
  std::string text = fmt::format("  {:<{}}", name, kWidthOfNames - 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? " " : "\n" + std::string(kWidthOfNames + 2, ' ')) + lines[i];
  }
  return text + '\n';
}

using OptionGroup = std::pair<std::string, std::vector<const TypedOption*>>;

/// The options of a verb by their groups, in the order of their first ones.
std::vector<OptionGroup> groups_of(const TypedVerb& verb) {
  std::vector<OptionGroup> groups;
  for (const TypedOption& option : verb.options) {
    if (option.name == "help") continue;
    const auto same = [&](const OptionGroup& each) { return each.first == option.group; };
    find_or_add(groups, same, {option.group, {}}).second.push_back(&option);
  }
  return groups;
}

std::string text_of(const OptionGroup& group) {
  std::string text = group.first + ":\n";
  for (const TypedOption* const option : group.second) text += line_of(*option, false);
  return text;
}

/// The word after --help, which no verb is called.
std::string word_after_help(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != "--help" && arguments[i] != "-h") continue;
    if (arguments[i + 1].rfind('-', 0) != 0) return arguments[i + 1];
  }
  return "";
}

/// Of a verb that has others below it.
std::string verbs_text(const TypedVerb& verb) {
  std::string text =
      fmt::format("{}\nUsage: {} [OPTIONS] [SUBCOMMAND]\n\nOptions:\n", verb.what, verb.typed);
  const auto add = [&](const std::string& name, const std::string& what) {
    text += fmt::format("  {:<{}}{}\n", name, kWidthOfNames, what);
  };
  for (const TypedOption& option : verb.options) {
    add((option.name == "help" ? "-h," : "") + option.dashed(), option.meaning);
  }
  text += "\nSubcommands:\n";
  for (const TypedVerb& below : verb.below) add(below.name, below.what);
  return text + '\n' + verb.footer + '\n';
}

}  // namespace

std::string help_text(const TypedVerb& verb, const std::vector<std::string>& arguments) {
  if (!verb.below.empty()) return verbs_text(verb);
  const std::vector<OptionGroup> groups = groups_of(verb);
  const std::string wanted = lower_case(word_after_help(arguments));
  const bool is_verb = (verb.typed + ' ').find(' ' + wanted + ' ') != std::string::npos;
  std::string all;
  std::string found;
  std::string names;
  for (const OptionGroup& group : groups) {
    const std::string name = lower_case(group.first);
    all += '\n' + text_of(group);
    if (found.empty() && name.find(wanted) != std::string::npos) found = text_of(group);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!wanted.empty() && !is_verb && wanted != "all") {
    if (!found.empty()) return found;
    throw refused("{} --help: there is no group of options '{}'; there are all, {}", verb.typed,
                  wanted, names);
  }
  const std::string word = verb.declared->word;
  std::string text =
      wrapped(verb.what) +
      fmt::format("Usage: {} [OPTIONS]{}\n", verb.typed, word.empty() ? "" : " WORDS") +
      verb.footer + '\n';
  if (!word.empty()) {
    text += fmt::format("\n  {:<{}} {}\n", word, kWidthOfNames - 1, verb.word_meaning);
  }
  if (verb.options.size() <= kFewOptions + 1 || wanted == "all") return text + all;
  text += "\nWhat most people need:\n";
  for (const OptionDeclaration& each : option_table()) {
    if (!each.is(OptionDeclaration::first)) continue;
    for (const TypedOption& option : verb.options) {  // a key may have the name of an option
      if (option.name == each.name) text += line_of(option, true);
    }
  }
  text += fmt::format("\nAll options by group: {} --help GROUP, or --help all\n", verb.typed);
  for (const OptionGroup& group : groups) {
    std::vector<std::string> own;
    for (const TypedOption* const option : group.second) own.push_back(option->name);
    const std::size_t width = TextTable::width();
    const auto lines =
        lines_of_words(fmt::format("{}", fmt::join(own, ", ")), width > 60 ? width - 26 : 100);
    text += fmt::format("  {:<24}{}\n", lower_case(group.first),
                        fmt::join(lines, "\n" + std::string(26, ' ')));
  }
  return text;
}

}  // namespace lacuna
