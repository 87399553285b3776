// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kWidthOfNames = 30;  // letters of an option and its value
constexpr std::size_t kFewOptions = 25;    // are shown at once

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string name_of(const CLI::Option& option) {
  if (option.get_lnames().empty()) return option.get_name();
  const std::string type = option.get_type_name();
  return "--" + option.get_lnames().front() + (type.empty() ? "" : " " + type);
}

/// An option and what it is for, its lines broken to the width of the terminal; of `brief` ones the
/// first clause.
std::string line_of(const CLI::Option& option, bool brief) {
  std::string meaning = option.get_description();
  if (brief) meaning = meaning.substr(0, std::min(meaning.find("; "), meaning.find(": ")));
  const std::size_t width = TextTable::width();
  const auto lines =
      lines_of_words(meaning, width > 2 * kWidthOfNames ? width - kWidthOfNames - 2 : 100);
  std::string text = fmt::format("  {:<{}}", name_of(option), kWidthOfNames - 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? " " : "\n" + std::string(kWidthOfNames + 2, ' ')) + lines[i];
  }
  return text + '\n';
}

using OptionGroup = std::pair<std::string, std::vector<const CLI::Option*>>;

/// The options of a verb by their groups, in the order of their first ones.
std::vector<OptionGroup> groups_of(const CLI::App& verb) {
  std::vector<OptionGroup> groups;
  for (const CLI::Option* const option : verb.get_options()) {
    if (option->get_lnames().empty() || option->check_lname("help")) continue;
    const std::string& name = option->get_group();
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const OptionGroup& each) { return each.first == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(option);
  }
  return groups;
}

std::string text_of(const OptionGroup& group) {
  std::string text = group.first + ":\n";
  for (const CLI::Option* const option : group.second) text += line_of(*option, false);
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

std::string positionals_of(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* const option : verb.get_options()) {
    if (!option->get_lnames().empty()) continue;
    text += fmt::format("  {:<{}} {}\n", option->get_name(), kWidthOfNames - 1,
                        option->get_description());
  }
  return text;
}

}  // namespace

std::string help_text(const CLI::App& verb, const std::string& typed,
                      const std::vector<std::string>& arguments) {
  const std::vector<OptionGroup> groups = groups_of(verb);
  std::size_t options = 0;
  for (const OptionGroup& group : groups) options += group.second.size();
  const std::string wanted = lower(word_after_help(arguments));
  const bool is_verb = (typed + ' ').find(' ' + wanted + ' ') != std::string::npos;
  std::string all;
  std::string found;
  std::string names;
  for (const OptionGroup& group : groups) {
    all += '\n' + text_of(group);
    if (found.empty() && lower(group.first).find(wanted) != std::string::npos) {
      found = text_of(group);
    }
    names += (names.empty() ? "" : ", ") + lower(group.first);
  }
  if (!wanted.empty() && !is_verb && wanted != "all") {
    if (!found.empty()) return found;
    throw RequestError(fmt::format(
        "{} --help: there is no group of options '{}'; there are all, {}", typed, wanted, names));
  }
  const std::string words = positionals_of(verb);
  std::string text = wrapped(verb.get_description()) +
                     fmt::format("Usage: {} [OPTIONS]{}\n", typed, words.empty() ? "" : " WORDS");
  text += verb.get_footer().empty() ? "" : verb.get_footer() + "\n";
  if (!words.empty()) text += '\n' + words;
  if (options <= kFewOptions || wanted == "all") return text + all;
  text += "\nWhat most people need:\n";
  for (const OptionDeclaration& each : option_table()) {
    const CLI::Option* const option = verb.get_option_no_throw(each.dashed());
    if (option != nullptr && each.is(OptionDeclaration::first)) text += line_of(*option, true);
  }
  text += fmt::format("\nAll options by group: {} --help GROUP, or --help all\n", typed);
  for (const OptionGroup& group : groups) {
    std::vector<std::string> own;
    for (const CLI::Option* const option : group.second) {
      own.push_back(option->get_lnames().front());
    }
    const std::size_t width = TextTable::width();
    const auto lines =
        lines_of_words(fmt::format("{}", fmt::join(own, ", ")), width > 60 ? width - 26 : 100);
    text += fmt::format("  {:<24}{}\n", lower(group.first),
                        fmt::join(lines, "\n" + std::string(26, ' ')));
  }
  return text;
}

}  // namespace lacuna
