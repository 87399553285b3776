// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command/help.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/schedule/workload_schedule.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/schedule.hpp"
#include "workloads/import/import_table.hpp"

namespace lacuna {

namespace {

/// Sets what an option says into the options.
CLI::Option* add_to(CLI::App& app, const OptionDeclaration& option, Options& o) {
  using Declared = OptionDeclaration;
  if (const auto* const flag = std::get_if<Declared::Flag>(&option.place)) {
    return app.add_flag(option.dashed(), o.*(*flag), option.meaning);
  }
  if (const auto* const text = std::get_if<Declared::Text>(&option.place)) {
    return app.add_option(option.dashed(), o.*(*text), option.meaning);
  }
  return app.add_option(option.dashed(), o.*std::get<Declared::Texts>(option.place),
                        option.meaning);
}

void add_options(CLI::App& app, Verb verb, Options& o) {
  for (const OptionDeclaration& each : option_table()) {
    if ((each.verbs & verb) == 0) continue;
    CLI::Option* const option = add_to(app, each, o)->group(each.group);
    if (each.value[0] == '\0') continue;
    option->type_name(each.value);
    if (each.is(OptionDeclaration::perhaps_valued)) option->expected(0, 1);
    const bool list = std::holds_alternative<OptionDeclaration::Texts>(each.place);
    if (list) option->expected(1);
    if (list && (each.repeated & verb) != 0) option->take_all();
  }
}

/// A key that a table of workloads declares: a flag, or an option whose values are kept in order.
struct Key {
  std::string name;
  std::string meaning;
  std::string group;
  bool is_flag = false;
  bool repeated = false;
};

void add_key(CLI::App& app, const Key& key, Options& o) {
  const std::string name = "--" + key.name;
  if (key.is_flag) {
    app.add_flag_function(
           name,
           [&o, key](std::int64_t count) {
             if (count > 0) o.generator.emplace_back(key.name, "1");
           },
           key.meaning)
        ->group(key.group);
    return;
  }
  CLI::Option* const option = app.add_option_function<std::vector<std::string>>(
      name,
      [&o, key](const std::vector<std::string>& values) {
        for (const std::string& value : values) o.generator.emplace_back(key.name, value);
      },
      key.meaning);
  option->expected(1)->type_name("")->group(key.group);
  if (key.repeated) option->take_all();
}

/// What generators, importers and schedules take beside the options of the table.
void add_keys(CLI::App& app, Verb verb, Options& o) {
  if (verb == kOfImport) {
    for (const ImportKey& each : import_keys()) {
      const bool flag = each.allowed == "0, 1";
      const std::string meaning =
          flag ? each.meaning : fmt::format("{} ({})", each.meaning, each.allowed);
      add_key(app, {each.name, meaning, "Files", flag, each.name == "dim"}, o);
    }
  }
  if (verb == kOfMake || verb == kOfImport) {
    for (const GeneratorKey& each : generator_keys()) {
      if (verb == kOfImport && (!each.of_models || each.name == "size")) continue;
      const std::string meaning =
          each.is_flag ? each.meaning : fmt::format("{} ({})", each.meaning, each.allowed);
      add_key(app,
              {each.name, meaning, each.of_models ? "Models" : "Other workloads", each.is_flag,
               each.name == "sparse"},
              o);
    }
  }
  if (verb == kOfSchedule) {
    for (const auto& [name, meaning] : schedule_keys()) {
      add_key(app, {name, meaning, "Schedule"}, o);
    }
  }
}

/// What stands behind a verb, where that is a list of its own.
std::string meaning_of_word(const VerbDeclaration& verb) {
  std::string text = verb.meaning;
  if (verb.verb == kOfImport) {
    for (const ImportFormat& format : import_formats()) {
      text += (&format == import_formats().data() ? "" : ", ") + format.name;
    }
  }
  if (verb.verb == kOfSchedule) {
    for (const ScheduleKindRow& row : schedule_kinds()) {
      text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", row.name, row.meaning);
    }
  }
  return text;
}

/// The verb of a table's row; "trace show" is below "trace".
CLI::App& add_verb(CLI::App& app, const std::string& name, const char* what) {
  const std::size_t blank = name.find(' ');
  if (blank == std::string::npos) return *app.add_subcommand(name, what);
  CLI::App* above = nullptr;
  for (CLI::App* const each : app.get_subcommands({})) {
    if (each->get_name() == name.substr(0, blank)) above = each;
  }
  if (above == nullptr) {
    above = app.add_subcommand(name.substr(0, blank),
                               "Makes, imports, shows or checks a workload trace.");
    above->footer("Example:\n  lacuna trace show traces/bert_base_layer.csv");
  }
  return *above->add_subcommand(name.substr(blank + 1), what);
}

/// An option of one value takes one: CLI11 would give it the files behind as well, as it keeps a
/// list of what is given again.
void take_one_value(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (!option->get_positional() && option->get_expected_max() == 1)
      option->allow_extra_args(false);
  }
  for (CLI::App* const verb : app.get_subcommands({})) take_one_value(*verb);
}

}  // namespace

void add_verbs(CLI::App& app, Options& o) {
  for (const VerbDeclaration& each : verb_table()) {
    CLI::App& verb = add_verb(app, each.name, each.what);
    verb.footer(std::string("Example:\n  ") + each.example);
    if (each.word[0] != '\0') {
      verb.add_option(each.word, o.subjects, meaning_of_word(each))
          ->required(each.least > 0)
          ->type_name("TEXT")
          ->expected(each.least,
                     each.most == kAnyNumber ? CLI::detail::expected_max_vector_size : each.most);
    }
    add_keys(verb, each.verb, o);
    add_options(verb, each.verb, o);
  }
  take_one_value(app);
}

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

/// The verb of the request, as deep as it goes.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  return verbs.empty() ? app : chosen(*verbs.front());
}

/// As the user types it, with all above: `lacuna trace make`.
std::string typed_name(const CLI::App& verb) {
  const CLI::App* const above = verb.get_parent();
  if (above == nullptr) return verb.get_name();
  return typed_name(*above) + " " + verb.get_name();
}

/// What CLI11 calls an extra argument is a misspelt verb or option, or a word too many.
[[noreturn]] void refuse_extra(const CLI::App& verb, const std::string& word) {
  const bool is_option = word.rfind('-', 0) == 0;
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = is_option ? option_names(verb) : verb_names(verb);
  const std::string hint = hint_of(name, known);
  if (is_option) {
    throw RequestError(fmt::format("{} has no option '{}'{}", typed_name(verb), name, hint));
  }
  if (known.empty()) {
    throw RequestError(fmt::format("{} does not take the word '{}'", typed_name(verb), word));
  }
  throw RequestError(
      fmt::format("there is no verb '{}'; there are {}{}", word, fmt::join(known, ", "), hint));
}

/// The options of `verb` that a value must follow.
void add_taking(const CLI::App& verb, std::vector<std::string>& taking) {
  for (const CLI::Option* const option : verb.get_options()) {
    if (option->get_items_expected_min() == 0) continue;  // a flag
    for (const std::string& name : option->get_lnames()) taking.push_back("--" + name);
  }
}

/// CLI11 would take the next option for the value that is missing.
void refuse_missing_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> taking;
  for (const CLI::App* const verb : app.get_subcommands({})) {
    add_taking(*verb, taking);
    for (const CLI::App* const below : verb->get_subcommands({})) add_taking(*below, taking);
  }
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const bool takes = contains(taking, arguments[i]);
    if (takes && arguments[i + 1].rfind("--", 0) == 0) {
      throw RequestError(
          fmt::format("{}: a value is missing before '{}'", arguments[i], arguments[i + 1]));
    }
  }
}

/// The verb that `arguments` name, as deep as they go.
const CLI::App& named(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* verb = &app;
  for (const std::string& argument : arguments) {
    for (const CLI::App* const below : verb->get_subcommands({})) {
      if (below->get_name() != argument) continue;
      verb = below;
      break;
    }
  }
  return *verb;
}

/// Help is for a verb that there is: a word that should be one and is not is said, not passed over.
void refuse_misspelt_verb(const CLI::App& verb, const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = verb_names(verb);
  bool is_below = verb.get_parent() == nullptr;
  for (const std::string& argument : arguments) {
    const bool is_name = contains(names, argument);
    if (names.empty() || (is_below && is_name)) return;
    if (is_below && argument.rfind('-', 0) != 0) refuse_extra(verb, argument);
    if (argument == verb.get_name()) is_below = true;
  }
}

/// CLI11 would first complain about the word that the option took for its value, or one missing.
void refuse_unknown_options(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App& verb = named(app, arguments);
  if (!verb_names(verb).empty()) return;  // a verb that is missing or misspelt is said first
  const std::vector<std::string> known = option_names(verb);
  for (const std::string& argument : arguments) {
    if (argument == "--") return;  // only words follow
    if (argument.rfind("--", 0) != 0) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (!contains(known, name)) refuse_extra(verb, argument);
  }
}

/// CLI11 says of an option given twice that it got more than it wants; this says it plainly.
std::string plain_mismatch(const std::string& text, const std::vector<std::string>& arguments) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.find(" missing") != std::string::npos) return name + ": a value is missing";
  if (name.rfind('-', 0) != 0) return fmt::format("more than one {} is given; allowed: one", name);
  const auto times = std::count_if(
      arguments.begin(), arguments.end(),
      [&](const std::string& argument) { return argument.substr(0, argument.find('=')) == name; });
  return times < 2 ? text : fmt::format("{} is given {} times; allowed: once", name, times);
}

void parse(CLI::App& app, std::vector<std::string> arguments, Options& options) {
  refuse_missing_values(app, arguments);
  refuse_unknown_options(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  app.parse(std::move(arguments));
  std::vector<std::string> extra = app.remaining(true);
  extra.erase(std::remove(extra.begin(), extra.end(), "--"), extra.end());
  if (!extra.empty()) refuse_extra(chosen(app), extra.front());
  for (const std::string& subject : options.subjects) {
    if (subject.empty()) throw RequestError(typed_name(chosen(app)) + ": a word is empty");
  }
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) {
    throw RequestError(
        fmt::format("a verb is missing: {}; see lacuna --help", fmt::join(verb_names(app), ", ")));
  }
  options.verb = verbs.front()->get_name();
  if (verb_names(*verbs.front()).empty()) return;
  const std::vector<CLI::App*> below = verbs.front()->get_subcommands();
  if (below.empty()) {
    throw RequestError(fmt::format("lacuna {}: a word is missing: {}", options.verb,
                                   fmt::join(verb_names(*verbs.front()), ", ")));
  }
  options.subverb = below.front()->get_name();
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.options.arguments = arguments;
  CLI::App app("Lacuna, a cycle-accurate simulator of hardware that profits from zeros.", "lacuna");
  app.allow_extras();  // we refuse them better; verbs inherit it
  app.set_version_flag("--version", std::string("lacuna ") + version());
  app.footer("Each verb has its own help: lacuna run --help");
  app.get_formatter()->column_width(32);
  add_verbs(app, line.options);
  try {
    parse(app, arguments, line.options);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& verb = chosen(app);
    refuse_misspelt_verb(verb, arguments);
    const CLI::App* const above = verb.get_parent();
    std::string before = above == nullptr ? "" : "lacuna";
    if (above != nullptr && above != &app) before += " " + above->get_name();
    line.text =
        verb_names(verb).empty() ? help_text(verb, typed_name(verb), arguments) : verb.help(before);
  } catch (const CLI::CallForAllHelp&) {
    line.text = app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion&) {
    line.text = fmt::format("lacuna {}, {}\n", build_version(), mpi_description());
  } catch (const CLI::ArgumentMismatch& error) {
    throw RequestError(plain_mismatch(error.what(), arguments));
  } catch (const CLI::ParseError& error) {
    throw RequestError(error.what());
  }
  return line;
}

}  // namespace lacuna
