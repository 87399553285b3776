// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/typed_verbs.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/schedule/workload_schedule.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/schedule.hpp"
#include "workloads/import/import_table.hpp"

namespace lacuna {

namespace {

const TypedOption kHelp{"help", "", "Print this help message and exit", "Options"};
const TypedOption kVersion{"version", "", "Display program version information and exit",
                           "Options"};

/// What generators, importers and schedules take beside the options of the table.
void add_keys(Verb verb, std::vector<TypedOption>& options) {
  const auto add = [&](const std::string& name, std::string meaning, const std::string& allowed,
                       const char* group, bool is_flag, bool repeated) {
    if (!is_flag && !allowed.empty()) meaning += fmt::format(" ({})", allowed);
    options.push_back({name, "", std::move(meaning), group, !is_flag, repeated});
  };
  if (verb == kOfImport) {
    for (const ImportKey& each : import_keys()) {
      add(each.name, each.meaning, each.allowed, "Files", each.allowed == "0, 1",
          each.name == "dim");
    }
  }
  if (verb == kOfMake || verb == kOfImport) {
    for (const GeneratorKey& each : generator_keys()) {
      if (verb == kOfImport && (!each.of_models || each.name == "size")) continue;
      add(each.name, each.meaning, each.allowed, each.of_models ? "Models" : "Other workloads",
          each.is_flag, each.name == "sparse");
    }
  }
  if (verb == kOfSchedule) {
    for (const auto& [name, meaning] : schedule_keys()) {
      add(name, meaning, "", "Schedule", false, false);
    }
  }
}

std::vector<TypedOption> options_of(const VerbDeclaration& verb) {
  std::vector<TypedOption> options = {kHelp};
  add_keys(verb.verb, options);
  for (const OptionDeclaration& each : option_table()) {
    if ((each.verbs & verb.verb) == 0) continue;
    options.push_back({each.name, each.value, each.meaning, each.group, each.value[0] != '\0',
                       (each.repeated & verb.verb) != 0, &each});
  }
  return options;
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

TypedVerb made_program() {
  TypedVerb program{"lacuna",
                    "lacuna",
                    "Lacuna, a cycle-accurate simulator of hardware that profits from zeros.",
                    "Each verb has its own help: lacuna run --help",
                    {kHelp, kVersion}};
  const TypedVerb trace{"trace",
                        "lacuna trace",
                        "Makes, imports, shows or checks a workload trace.",
                        "Example:\n  lacuna trace show traces/bert_base_layer.csv",
                        {kHelp}};
  for (const VerbDeclaration& each : verb_table()) {
    const std::string name = each.name;
    const auto is_trace = [&](const TypedVerb& verb) { return verb.name == trace.name; };
    TypedVerb& above =
        starts_with(name, "trace ") ? find_or_add(program.below, is_trace, trace) : program;
    above.below.push_back({name.substr(name.find(' ') + 1), "lacuna " + name, each.what,
                           std::string("Example:\n  ") + each.example, options_of(each), &each,
                           meaning_of_word(each)});
  }
  return program;
}

}  // namespace

const TypedVerb& typed_program() {
  static const TypedVerb program = made_program();
  return program;
}

void for_each_verb(const TypedVerb& verb, const std::function<void(const TypedVerb&)>& visit) {
  visit(verb);
  for (const TypedVerb& below : verb.below) for_each_verb(below, visit);
}

std::vector<std::string> option_names(const TypedVerb& verb) {
  std::vector<std::string> names;
  for (const TypedOption& option : verb.options) names.push_back(option.dashed());
  return names;
}

}  // namespace lacuna
