// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/energy/energy_table.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/command/system_run.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/mapping/system/inference_params.hpp"

namespace lacuna {

namespace {

/// One machine of each kind, with the defaults of its declaration.
std::vector<std::unique_ptr<Machine>> bare_machines(const MachineTable& table) {
  std::vector<std::unique_ptr<Machine>> machines;
  machines.reserve(table.size());
  for (const MachineKind& kind : table) machines.push_back(kind.make(kind.kind));
  return machines;
}

/// Machines that are named, or one of each kind. Systems of chips joined by links are none.
std::vector<std::unique_ptr<Machine>> chosen_machines(const MachineTable& table,
                                                      const Options& options) {
  if (options.machines.empty()) return bare_machines(table);
  std::vector<std::unique_ptr<Machine>> machines;
  for (const std::string& name : options.machines) {
    if (!is_linked_system(name)) machines.push_back(make_machine(table, name));
  }
  return machines;
}

/// Those of the names that are of systems of chips joined by links.
std::vector<std::string> linked_systems(const std::vector<std::string>& names) {
  std::vector<std::string> linked;
  std::copy_if(names.begin(), names.end(), std::back_inserter(linked), is_linked_system);
  return linked;
}

/// The sets of parameters that are no machine's.
const std::vector<NamedSet>& sets_beside() {
  static const system::SystemParams linked;
  static const system::WaferSystemParams tree;
  static const system::TrainingParams training;
  static const system::InferenceParams inference;
  static const std::vector<NamedSet> sets = {
      {"system of chips", "", &linked, "systems of chips joined by links",
       "Systems of chips; those of a chip are set as chip.PATH", "systems of chips"},
      {"system with a store of weights", "", &tree,
       "systems of chips that share a store of weights",
       "Systems of chips that share a store of weights (network: tree); likewise",
       "systems that share a store of weights"},
      {"training", "training.", &training, "training steps (--system-config)",
       "Training steps (--system-config); set as training.PATH", "training steps"},
      {"inference", "inference.", &inference, "language models on IPUs (--model)",
       "Language models on IPUs (--model); set as inference.PATH",
       "language models on IPUs, inference.PATH"}};
  return sets;
}

void visit_parameters(const ParameterSet& set, const ParameterSet::Visitor& visit) {
  set.for_each(visit);
}

void visit_parameters(const Machine& machine, const ParameterSet::Visitor& visit) {
  for_each_parameter(machine, visit);
}

/// Parameters of a machine or a set, or of a group of them; the values are its own if it was asked
/// for by name.
template <class Of>
TextTable parameter_table(const Of& of, bool with_values, const std::string& group = "") {
  TextTable table({"parameter<"});
  if (with_values) table.column("value", "");
  table.column("default", "");
  for (const char* const title : {"unit", "allowed", "meaning"}) {
    table.column(title, "", TextTable::Align::left);
  }
  visit_parameters(of, [&](const std::string& path, const ParamBase& parameter) {
    if (!is_in_group(path.substr(0, path.rfind('.')), group)) return;
    std::vector<std::string> cells = {path};
    if (with_values) cells.push_back(parameter.value_text());
    cells.insert(cells.end(), {parameter.initial_text(), parameter.unit(), parameter.limits_text(),
                               parameter.doc()});
    table.row(std::move(cells));
  });
  return table;
}

/// Calls `visit` with the machine or the parameters of the system of this name.
template <class Visit>
auto with_named(const MachineTable& table, const std::string& name, const Visit& visit) {
  return is_linked_system(name) ? visit(make_system(name, {}).params)
                                : visit(*make_machine(table, name));
}

TextPage parameters_page(const MachineTable& table, const Options& options) {
  TextPage page(
      "Parameters",
      "A path is a key of a machine file and the left side of `--set`. Defaults are those of "
      "the declaration; a preset may differ.");
  for (const std::string& name : options.machines) {
    with_named(table, name,
               [&](const auto& of) { page.heading(name).table(parameter_table(of, true)); });
  }
  if (!options.machines.empty()) return page;
  for (const std::unique_ptr<Machine>& machine : bare_machines(table)) {
    page.heading(fmt::format("Machines of kind {}", machine->kind()));
    page.table(parameter_table(*machine, false));
  }
  for (const NamedSet& set : sets_beside()) {
    page.heading(set.heading).table(parameter_table(*set.parameters, false));
  }
  return page;
}

TextPage statistics_page(const MachineTable& table, const Options& options) {
  if (const std::vector<std::string> linked = linked_systems(options.machines); !linked.empty()) {
    throw refused("--machine: {} is a system, and statistics are of its chips: --machine {}",
                  linked.front(), make_system(linked.front(), {}).params.chip.value());
  }
  TextPage page(
      "Statistics",
      "The counters of `statistics.csv`, summed over the units of a path. A layer makes the "
      "counter part of the cycle stack; an action is what the energy tables price.");
  for (const std::unique_ptr<Machine>& machine : chosen_machines(table, options)) {
    page.heading(options.machines.empty() ? fmt::format("Machines of kind {}", machine->kind())
                                          : machine->name());
    page.table(statistics_table(*machine));
  }
  return page;
}

const char* density_rule(PatternKind::Density density) {
  switch (density) {
    case PatternKind::Density::required:
      return "required";
    case PatternKind::Density::implied:
      return "implied";
    case PatternKind::Density::none:
      return "none";
  }
  return "?";
}

TextPage patterns_page() {
  TextTable table({"pattern<", "density<", "block<", "keys<", "meaning<"});
  for (const PatternKind& kind : pattern_kinds()) {
    table.row({kind.name, density_rule(kind.density), kind.blocks ? "yes" : "",
               fmt::format("{}", fmt::join(kind.keys, " ")), kind.meaning});
  }
  table.row({"own", "", "", "", "the pattern of each row of the workload itself"});
  TextPage page("Patterns", "Written NAME[BLOCK][:DENSITY][:key=value], such as `block16:0.1`.");
  return page.table(std::move(table));
}

TextPage formats_page() {
  TextTable table({"file<", "read or written<", "content<"});
  std::vector<std::vector<std::string>> rows = {
      {"*.csv", "read by --trace", "a workload, one operation a row (traces/README.md)"},
      {"*.smtx", "read by --matrix and traces", "a pattern: sizes, row offsets, columns"},
      {"*.mtx", "read by --matrix and traces", "Matrix Market, coordinate or array"}};
  for (const ImportFormat& format : import_formats()) {
    rows.push_back({format.name, "read by trace import", format.meaning});
  }
  append(rows,
         std::vector<std::vector<std::string>>{
             {"*.yaml", "read by --machine", "a machine: `base:` or `machine:`, and parameters"},
             {"summary.csv", "written to --out", "a row for each operation and run, and TOTAL"},
             {"result.json", "written to --out", "everything, with what runs it again"},
             {"statistics.csv", "written to --out", "run,op_id,path,name,unit,value"},
             {"cycle_stack.csv", "written to --out",
              "run,op_id,units,cycles,layer,kind,unit_cycles; sums exactly"},
             {"events.csv", "written with --event-log", "run,op_id,cycle,unit,kind,argument"},
             {"host.json", "written to --out", "date, host, time and memory of the run"},
             {"figures/", "written to --out", "svg, pdf and png, with script and data"},
             {"csr", "host.format of an IPU",
              "rows: offsets of 4 B, columns of 2 B (4 B above 65536)"},
             {"coo", "host.format of an IPU", "elements: row and column, sorted by the host"},
             {"bsr", "host.format of an IPU", "rows of dense blocks, row-major"},
             {"device, static", "made of these for an IPU",
              "values in the order of the tiles; the pattern is compiled in"},
             {"device, dynamic", "made of these for an IPU",
              "buckets: 16-bit words of sub-groups, rows and columns, then values"}});
  for (std::vector<std::string>& row : rows) table.row(std::move(row));
  return TextPage("Formats", "Files that are read and written.").table(std::move(table));
}

/// All that a name could be, so that a wrong one finds its neighbour.
class Names {
 public:
  void add(const std::string& name, const TextPage& page = {}) {
    const auto [found, is_new] = pages_.emplace(name, page);
    if (is_new) names_.push_back(name);
    if (!is_new && found->second.text().find(page.text()) == std::string::npos) {
      found->second.append(page);
    }
  }

  /// The page of a name, or null.
  const TextPage* find(const std::string& name) const {
    const auto found = pages_.find(name);
    return found == pages_.end() ? nullptr : &found->second;
  }

  const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, TextPage> pages_;
  std::vector<std::string> names_;
};

std::string parameter_text(const std::string& path, const ParamBase& parameter) {
  return fmt::format("{}: {}\n  default {} {}, allowed {}", path, parameter.doc(),
                     parameter.initial_text(), parameter.unit(), parameter.limits_text());
}

void add_parameters(Names& names, const MachineTable& table, const Options& options) {
  std::vector<std::string> presets = options.machines;
  if (presets.empty()) presets = preset_names();
  std::map<std::string, std::string> values;
  for (const std::string& preset : presets) {
    with_named(table, preset, [&](const auto& of) {
      visit_parameters(of, [&](const std::string& path, const ParamBase& parameter) {
        values[path] += fmt::format("\n  {:<8} {}", preset, parameter.value_text());
      });
    });
  }
  const auto add = [&](const std::string& path, const ParamBase& parameter) {
    names.add(path, TextPage().text(parameter_text(path, parameter) + values[path]));
  };
  for (const std::unique_ptr<Machine>& machine : chosen_machines(table, options)) {
    for_each_parameter(*machine, add);
  }
  for (const std::string& name : linked_systems(options.machines)) {
    make_system(name, {}).params.for_each(add);
  }
  if (!options.machines.empty()) return;
  for (const NamedSet& set : sets_beside()) {
    set.parameters->for_each([&](const std::string& path, const ParamBase& parameter) {
      const std::string full = set.prefix + path;
      names.add(full, TextPage().text(parameter_text(full, parameter) + "\n  of " + set.owners));
    });
  }
}

/// What events cost, with the source of each price.
TextTable energy_table() {
  TextTable list({"event<", "unit<", "16 nm", "7 nm", "5 nm", "source<"});
  const EnergyTable table = shipped_prices(config_folder());
  for (const EnergyRow& row : table.rows()) {
    std::vector<std::string> cells = {row.event, row.unit};
    for (const EnergyRange& price : row.nodes) {
      cells.push_back(
          fmt::format("{:.4g} ({:.4g} to {:.4g})", price.nominal, price.low, price.high));
    }
    cells.push_back(row.source);
    list.row(std::move(cells));
  }
  return list;
}

/// Parameters and statistics of a group such as tile, router or imbalance; empty if it is none.
TextPage group_page(const MachineTable& table, const Options& options) {
  const std::string& group = options.subjects.front();
  const bool values = !options.machines.empty();
  TextPage page;
  const auto section = [&](const std::string& title, TextTable content) {
    if (!content.empty()) page.heading(title).table(std::move(content));
  };
  for (const std::unique_ptr<Machine>& machine : chosen_machines(table, options)) {
    const std::string of =
        values ? machine->name() : std::string("machines of kind ") + machine->kind();
    section(fmt::format("Parameters {} of {}", group, of),
            parameter_table(*machine, values, group));
    section(fmt::format("Statistics {} of {}", group, of), statistics_table(*machine, group));
  }
  for (const std::string& name : linked_systems(options.machines)) {
    section(fmt::format("Parameters {} of {}", group, name),
            parameter_table(make_system(name, {}).params, true, group));
  }
  if (!values) {
    for (const NamedSet& set : sets_beside()) {
      section("Parameters of " + set.section, parameter_table(*set.parameters, false, group));
    }
  }
  if (group == "energy") {
    section(
        "Prices of events, nominal (low to high) as published power leaves them; --energy-table "
        "has one's own",
        energy_table());
  }
  return page;
}

/// The dotted parts of `path`, so that a misspelt group finds its name.
void add_groups(Names& names, const std::string& path) {
  for (const std::string& part : split(path, '.')) names.add(part);
}

[[noreturn]] void refuse_name(Names names, const MachineTable& table, const Options& options) {
  const std::string& name = options.subjects.front();
  names.add("energy");
  for (const std::unique_ptr<Machine>& machine : chosen_machines(table, options)) {
    for_each_parameter(*machine, [&](const std::string& path, const ParamBase&) {
      if (path.find('.') != std::string::npos) add_groups(names, path.substr(0, path.rfind('.')));
    });
    for (const DeclaredStatistic& listed : machine->statistics()) {
      add_groups(names, listed.entry.path);
    }
  }
  if (!options.machines.empty()) {
    throw refused("{} has nothing called '{}'{}", fmt::join(options.machines, " and "), name,
                  hint_of(name, names.all()));
  }
  throw refused(
      "there is nothing called '{}' to describe{}\nThere are machines, parameters, statistics, "
      "patterns, formats, models, energy and fit; a machine or its file; groups such as tile or "
      "router; and the names in them: lacuna describe index",
      name, hint_of(name, names.all()));
}

/// A machine by name or file.
TextPage machine_page(const Machine& machine) {
  TextPage page;
  page.text(fmt::format("{}: a machine of kind {}, {}", machine.name(), machine.kind(),
                        machine.extent()));
  return page.table(parameter_table(machine, true));
}

TextPage name_page(const MachineTable& table, const Options& options) {
  const std::string& name = options.subjects.front();
  std::string unit;  // such as a core, of each machine that is named, else of one of each kind
  for (const std::unique_ptr<Machine>& machine : chosen_machines(table, options)) {
    unit += machine->describe_unit(name);
  }
  if (!unit.empty()) return TextPage().text(unit);
  if (name.find('/') != std::string::npos || ends_with(name, ".yaml")) {
    const std::unique_ptr<Machine> machine = make_machine(table, name);
    machine->check();
    return machine_page(*machine);
  }
  Names names;
  for (const std::string& subject : subjects()) names.add(subject);
  for (const std::string& preset : machine_names()) {
    names.add(preset, machine_page(*make_machine(table, preset)));
  }
  for (const std::string& preset : system_names()) {
    if (!is_linked_system(preset)) continue;
    const system::SystemParams params = make_system(preset, {}).params;
    TextPage page;
    page.text(fmt::format("{}: a system of {} chips {} in {} machines", preset, params.chips(),
                          params.chip.value(), params.machines.value()));
    names.add(preset, page.table(parameter_table(params, true)));
  }
  for (const ModelShape& model : model_shapes()) names.add(model.name, model_page(model));
  add_parameters(names, table, options);
  for (const PatternKind& kind : pattern_kinds()) {
    names.add(kind.name,
              TextPage().text(fmt::format("{}: {}\n  density {}, source: {}", kind.name,
                                          kind.meaning, density_rule(kind.density), kind.source)));
  }
  for (const std::unique_ptr<Machine>& machine : bare_machines(table)) {
    for (const DeclaredStatistic& listed : machine->statistics()) {
      const StatEntry& entry = listed.entry;
      TextPage page;
      page.text(fmt::format("{}.{} of a machine of kind {}, in {}: {}", entry.path, entry.name,
                            machine->kind(), entry.unit, entry.doc));
      const std::string layer = listed.layer.empty() ? "" : listed.layer + ".";
      for (const std::string& before : {std::string(), entry.path + ".", layer}) {
        names.add(before + entry.name, page);  // as in the stack, a result and a comparison
      }
    }
  }
  TextPage page;
  if (const TextPage* const found = names.find(name)) page = *found;
  page.append(group_page(table, options));
  if (page.empty()) refuse_name(std::move(names), table, options);
  return page;
}

TextPage page_of(const Options& options, const MachineTable& kinds) {
  const std::string& subject = options.subjects.front();
  if (subject == "machines") return machines_page(kinds);
  if (subject == "systems") return systems_page(kinds);
  if (subject == "layouts") return layouts_page(kinds, options);
  if (subject == "parameters") return parameters_page(kinds, options);
  if (subject == "statistics") return statistics_page(kinds, options);
  if (subject == "patterns") return patterns_page();
  if (subject == "formats") return formats_page();
  if (subject == "models") return models_page();
  if (subject == "index") return index_page(kinds);
  if (subject == "groups" || subject == "words") return index_page(kinds, subject + " of");
  if (subject == "area") return area_page(kinds, options);
  if (subject == "trust") return trust_page(kinds, options);
  return name_page(kinds, options);
}

/// What another program reads of this program's declarations; empty of any other subject.
std::string text_of_program(const Options& options, const MachineTable& kinds) {
  const std::string& subject = options.subjects.front();
  if (subject == "schema") return experiment_schema(chosen_machines(kinds, options));
  if (subject == "machine-schema") return machine_schema(chosen_machines(kinds, options));
  const bool is_manual = subject == "manual";
  const bool is_completion = starts_with(subject, "completion") && contains(subjects(), subject);
  if (!is_manual && !is_completion) return "";
  if (options.json) {
    throw refused("--json: describe {} is a text for {}", subject, is_manual ? "man" : "shells");
  }
  if (is_manual) return manual_text();
  if (subject == "completion-zsh") return zsh_completion_text();
  return subject == "completion" ? completion_text() : fish_completion_text();
}

/// Parameters and statistics as JSON, of all machines or of a group; nothing of a page.
std::optional<std::string> lists_of(const Options& options, const MachineTable& kinds) {
  const std::string& subject = options.subjects.front();
  const bool named = !options.machines.empty();
  std::vector<SystemMachine> systems;
  for (const std::string& name : linked_systems(options.machines)) {
    systems.push_back(make_system(name, {}));
  }
  // a group may be called as a page is, such as machines
  const std::vector<std::string> lists = {"parameters", "patterns"};
  const bool is_page = contains(subjects(), subject) && !contains(lists, subject) &&
                       (subject != "statistics" || !systems.empty());
  if (is_page) return std::nullopt;
  std::vector<NamedSet> sets;
  if (!named && subject != "statistics") sets = sets_beside();  // which have parameters alone
  for (const SystemMachine& each : systems) sets.push_back({each.name, "", &each.params});
  return described_json(chosen_machines(kinds, options), named, subject, sets);
}

/// What describes the subject, in the form that `options` ask for.
std::string described(const Options& options, const MachineTable& kinds) {
  if (options.json) {
    if (std::optional<std::string> lists = lists_of(options, kinds)) return *std::move(lists);
  }
  return printed(page_of(options, kinds), options);
}

}  // namespace

std::string printed(const TextPage& page, const Options& options) {
  const std::string& subject = options.subjects.front();
  if (options.json) return page.json(subject);
  return options.markdown ? page.markdown(subject) : page.text();
}

int describe_verb(const Options& given, const MachineTable& kinds, const Streams& streams) {
  Options options = given;
  if (options.subjects.empty()) options.subjects.emplace_back("index");
  const std::string& subject = options.subjects.front();
  if (options.json && options.markdown) throw RequestError("--json and --markdown: give one");
  if (subject == "fit") return describe_fit(options, kinds, streams);
  if (options.system_config) throw RequestError("--system-config: goes with fit alone");
  if (!options.settings.empty()) throw RequestError("--set: goes with fit alone");
  for (const char* const whole : {"machines", "systems", "patterns", "formats"}) {
    if (subject != whole || options.machines.empty()) continue;
    throw refused("--machine: {} are the same for every machine", subject);
  }
  std::string text = text_of_program(options, kinds);
  const bool whole = options.wide || options.json || options.markdown || !text.empty();
  if (text.empty()) text = described(options, kinds);
  streams.out << first_lines(text, whole || !streams.out_is_terminal);
  return kDone;
}

}  // namespace lacuna
