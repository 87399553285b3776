// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/replaced.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/command/system_run.hpp"
#include "sim/driver/command/typed_verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/schedule.hpp"
#include "workloads/import/import_table.hpp"

namespace lacuna {

std::vector<std::string> subjects() {
  return {"machines", "systems", "parameters",    "layouts",    "statistics",     "patterns",
          "formats",  "models",  "energy",        "area",       "trust",          "fit",
          "index",    "groups",  "words",         "completion", "completion-zsh", "completion-fish",
          "manual",   "schema",  "machine-schema"};
}

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// A line of roff as it is: a dash is a minus, and no line begins with a command.
std::string roff(const std::string& text) {
  std::string result = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (!result.empty() && (result[0] == '.' || result[0] == '\'')) result.insert(0, "\\&");
  return result;
}

std::string manual_of(const TypedVerb& verb) {
  std::string text = fmt::format(".SS {}\n{}\n", roff(verb.typed), roff(verb.what));
  const auto add = [&](const std::string& head, const std::string& meaning) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(head), roff(meaning));
  };
  for (const TypedOption& option : verb.options) {
    add(option.dashed() + (option.valued ? " " + option.value : ""), option.meaning);
    const bool first = &option == &verb.options.front();
    if (first && !verb.word_meaning.empty()) add(verb.declared->word, verb.word_meaning);
  }
  for (const std::string& line : split(verb.footer, '\n')) {
    if (starts_with(line, "  lacuna")) {
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(line.substr(2)));
    }
  }
  for (const TypedVerb& below : verb.below) text += manual_of(below);
  return text;
}

/// What may stand behind a verb that is no option.
Words words_behind(const std::string& path) {
  Words words;
  if (path == " trace make") {
    append(words, names_in(generators()));
    append(words, names_in(model_shapes()));
  }
  if (path == " trace schedule") words = names_in(schedule_kinds());
  if (path == " describe") {
    words = subjects();
    for (const Words& more : {preset_names(), system_names()}) {
      append(words, more);
    }
    append(words, names_in(model_shapes()));
    append(words, names_in(pattern_kinds()));
  }
  std::set<std::string> known;  // a name of a model may be that of a generator too
  erase_where(words, [&](const std::string& word) { return !known.insert(word).second; });
  return words;
}

/// Values of options that are words; of one that means something else behind each verb, with the
/// verb before its name.
std::map<std::string, Words> words_of_options() {
  std::map<std::string, Words> all = {{"--machine", preset_names()},
                                      {"--pattern", names_in(pattern_kinds())},
                                      {"--model", names_in(model_shapes())},
                                      {"--system-config", training_names()},
                                      {"plot--format", figure_formats()},
                                      {"trace--format", names_in(import_formats())},
                                      {"--part", {"weights", "forward", "training", "decode"}}};
  for (const OptionDeclaration& each : option_table()) {
    if (each.choices[0] != '\0') all[each.dashed()] = split(each.choices, ' ');
  }
  return all;
}

/// A verb as it is typed behind `lacuna`; with a blank before it.
std::string path_of(const TypedVerb& verb) {
  return verb.typed.substr(std::string("lacuna").size());
}

/// Options that want a value wherever they are declared: files are offered, not other options.
Words options_with_values() {
  std::set<std::string> valued;
  std::set<std::string> flags;
  for_each_verb(typed_program(), [&](const TypedVerb& verb) {
    for (const TypedOption& option : verb.options) {
      (option.valued ? valued : flags).insert(option.dashed());
    }
  });
  Words all;
  std::set_difference(valued.begin(), valued.end(), flags.begin(), flags.end(),
                      std::back_inserter(all));
  return all;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): most of it is the text of a script
std::string completion_text() {
  std::string cases;
  std::string without_files = "''";  // verbs behind which no file may stand
  for_each_verb(typed_program(), [&](const TypedVerb& verb) {
    const std::string path = path_of(verb);
    Words words = words_behind(path);
    const bool files = verb.below.empty() && (words.empty() || path == " describe");
    if (!files && !path.empty()) without_files += fmt::format("|'{}'", path);
    append(words, names_in(verb.below));
    append(words, option_names(verb));
    cases += fmt::format("    '{}') words='{}' ;;\n", path, joined(words));
  });
  std::string values;
  for (const auto& [option, words] : words_of_options()) {
    const bool files = option == "--machine" || option == "--model" || option == "--layout" ||
                       option == "--style" || option == "--system-config";
    values += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$now\"){}); return ;;\n",
                          option, fmt::join(words, " "), files ? " $(compgen -f -- \"$now\")" : "");
  }
  return fmt::format(
      R"bash(# Completion of lacuna for bash, made by `lacuna describe completion`; to use it:
#   source <(lacuna describe completion)
_lacuna_parameters() {{
  lacuna describe parameters --json 2>/dev/null | sed -n 's/.*"path": "\(.*\)".*/\1/p'
}}
_lacuna() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" path='' words i
  COMPREPLY=()
  # bash splits --machine=w into three words
  if [[ "$now" == '=' ]]; then
    now=''
  elif [[ "$before" == '=' ]]; then
    before="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  [[ "$before" == --format ]] && before="${{COMP_WORDS[1]}}$before"
  case "$before" in
{values}    --set)
      COMPREPLY=($(compgen -S = -W "$(_lacuna_parameters)" -- "$now"))
      compopt -o nospace 2>/dev/null
      return ;;
    {valued}) COMPREPLY=($(compgen -f -- "$now")); return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ "${{COMP_WORDS[i]}}" == -* ]] && break
    path="$path ${{COMP_WORDS[i]}}"
  done
  while :; do
    case "$path" in
{cases}    *) path="${{path% *}}"; continue ;;  # words after the verb
    esac
    break
  done
  [[ "$path" == ' describe' && "$now" == *.* ]] && words="$(_lacuna_parameters)"
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  [[ "$now" == -* ]] && return
  case "$path" in
    {without_files}) ;;
    *) COMPREPLY+=($(compgen -f -- "$now")) ;;
  esac
}}
complete -o filenames -F _lacuna lacuna
)bash",
      fmt::arg("values", values), fmt::arg("valued", fmt::join(options_with_values(), "|")),
      fmt::arg("cases", cases), fmt::arg("without_files", without_files));
}

namespace {

/// Text of a shell's single quotes, with brackets and colons as zsh wants them.
std::string quoted(const std::string& text, bool zsh) {
  std::string result = replaced(text, "'", "'\\''");
  for (const char* const sign : {"[", "]", ":"}) {
    if (zsh) result = replaced(std::move(result), sign, fmt::format("\\{}", sign));
  }
  return result;
}

/// The first clause of a meaning.
std::string brief(const std::string& meaning) {
  return meaning.substr(0, std::min(meaning.find("; "), meaning.find(": ")));
}

/// Words that an option may have behind it; empty if they are not a list.
Words words_of(const std::string& option) {
  static const std::map<std::string, Words> all = words_of_options();
  const auto found = all.find(option);
  return found == all.end() ? Words{} : found->second;
}

}  // namespace

std::string zsh_completion_text() {
  std::string cases;
  for_each_verb(typed_program(), [&](const TypedVerb& verb) {
    if (!verb.below.empty()) return;
    std::string lines;
    for (const TypedOption& option : verb.options) {
      const Words words = words_of(option.dashed());
      const std::string values = words.empty() ? "_files" : fmt::format("({})", joined(words));
      lines +=
          fmt::format(" \\\n      '*{}{}[{}]{}'", option.dashed(), option.valued ? "=" : "",
                      quoted(brief(option.meaning), true), option.valued ? ":value:" + values : "");
    }
    const std::string path = path_of(verb);
    const Words words = words_behind(path);
    cases += fmt::format("    '{}') _arguments{} \\\n      '*:word:{}' ;;\n", path.substr(1), lines,
                         words.empty() ? "_files" : fmt::format("({})", joined(words)));
  });
  return fmt::format(
      "#compdef lacuna\n# Completion of lacuna for zsh, made by `lacuna describe completion-zsh`: "
      "write it to a file _lacuna of $fpath.\n_lacuna() {{\n"
      "  local verb=\"$words[2]\" skip=1\n"
      "  if (( CURRENT == 2 )); then _values verb {}; return; fi\n"
      "  if [[ \"$verb\" == trace ]]; then\n"
      "    if (( CURRENT == 3 )); then _values verb {}; return; fi\n"
      "    verb=\"trace $words[3]\" skip=2\n  fi\n"
      "  shift $skip words; (( CURRENT -= skip ))\n"
      "  case \"$verb\" in\n{}  esac\n}}\n_lacuna \"$@\"\n",
      joined(names_in(typed_program().below)),
      joined(names_in(find_named(typed_program().below, "trace")->below)), cases);
}

std::string fish_completion_text() {
  std::string text =
      "# Completion of lacuna for fish, made by `lacuna describe completion-fish`: write it to\n"
      "# ~/.config/fish/completions/lacuna.fish.\n";
  for (const TypedVerb& verb : typed_program().below) {
    text += fmt::format("complete -c lacuna -n __fish_use_subcommand -f -a {} -d '{}'\n", verb.name,
                        quoted(verb.what, false));
  }
  for_each_verb(typed_program(), [&](const TypedVerb& verb) {
    if (!verb.below.empty()) return;
    const std::string path = path_of(verb);
    const std::string above = split(path, ' ').at(1);
    std::string where = "__fish_seen_subcommand_from " + above;
    if (above != verb.name) {
      text += fmt::format("complete -c lacuna -n '{}' -f -a {} -d '{}'\n", where, verb.name,
                          quoted(verb.what, false));
      where += "; and __fish_seen_subcommand_from " + verb.name;
    }
    const Words behind = words_behind(path);
    if (!behind.empty()) {
      text += fmt::format("complete -c lacuna -n '{}' -a '{}'\n", where, joined(behind));
    }
    for (const TypedOption& option : verb.options) {
      const Words words = words_of(option.dashed());
      text += fmt::format("complete -c lacuna -n '{}' -l {}{}{} -d '{}'\n", where, option.name,
                          option.valued ? " -r" : "",
                          words.empty() ? "" : fmt::format(" -a '{}'", joined(words)),
                          quoted(brief(option.meaning), false));
    }
  });
  return text;
}

std::string manual_text() {
  std::string text = fmt::format(
      ".\\\" made by `lacuna describe manual`\n.TH LACUNA 1 \"\" \"lacuna {}\" \"Lacuna\"\n"
      ".SH NAME\nlacuna \\- simulates hardware that profits from zeros, cycle by cycle\n"
      ".SH SYNOPSIS\n.B lacuna\n.I VERB\n[options]\n.SH DESCRIPTION\n"
      "Runs a sparse workload on a bulk\\-synchronous chip or on a dataflow wafer and says where "
      "every cycle and every joule went.\n"
      "Parameters of machines: lacuna describe parameters.\n.SH VERBS\n",
      version());
  for (const TypedVerb& verb : typed_program().below) text += manual_of(verb);
  text +=
      ".SH EXIT STATUS\n0 done; 1 the simulation could not be completed; 2 the request was "
      "wrong; "
      "3 a check failed; 4 an internal inconsistency.\n"
      ".SH ENVIRONMENT\n.TP\n.B LACUNA_CONFIG\nthe folder of the presets\n"
      ".SH FILES\nA result folder holds summary.csv, result.json, statistics.csv, "
      "cycle_stack.csv, "
      "host.json, report.html and figures.\n";
  return text;
}

TextPage index_page(const MachineTable& kinds, const std::string& part) {
  TextTable table({"kind<", "names<"});
  const auto row = [&](const std::string& kind, const std::vector<std::string>& names) {
    if (kind.find(part) == std::string::npos) return;
    table.row({kind, joined(names)});
  };
  row("subjects", subjects());
  row("machines", preset_names());
  row("systems", system_names());
  row("trace make", names_in(generators()));
  row("models", names_in(model_shapes()));
  row("patterns", names_in(pattern_kinds()));
  row("trace import", names_in(import_formats()));
  for (const MachineKind& kind : kinds) {
    std::set<std::string> groups;
    const std::unique_ptr<Machine> machine = kind.make(kind.kind);
    machine->parameters().for_each([&](const std::string& path, const ParamBase&) {
      const std::size_t dot = path.find('.');
      if (dot != std::string::npos) groups.insert(path.substr(0, dot));
    });
    row(fmt::format("groups of {}", kind.kind), {groups.begin(), groups.end()});
  }
  row("words of experiments", experiment_words(kOfRows));
  row("words of experiments on models", experiment_words(kOfModel));
  for (const TypedVerb& verb : typed_program().below) {
    row("words of lacuna " + verb.name, option_names(verb));
  }
  return TextPage().table(std::move(table));
}

}  // namespace lacuna
