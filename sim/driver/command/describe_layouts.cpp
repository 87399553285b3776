// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sim/base/error.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/layout/layout.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

/// What the machine itself takes where no one chooses.
std::string own_value(const Machine& machine, const LayoutChoice& choice) {
  const ParamBase* const parameter = machine.parameters().find(choice.key);
  return parameter == nullptr ? "auto" : parameter->value_text();
}

const char* seen_text(LayoutChoice::Seen seen) {
  if (seen == LayoutChoice::Seen::no) return "each its own";
  return seen == LayoutChoice::Seen::same ? "all the same" : "where they differ, operands move";
}

std::string space_text(const Machine& machine, const LayoutSpace& space, const Options& options) {
  TextTable table({"choice<", "as set<", "values<", "of rows that follow each other<",
                   "memory of a tile or core<"});
  for (const LayoutChoice& choice : space.choices) {
    const bool by_rule = choice.values.empty();
    table.row({choice.key, own_value(machine, choice),
               by_rule ? "of the rule" : fmt::format("{}", fmt::join(choice.values, " ")),
               seen_text(choice.seen), choice.memory});
  }
  std::string text = fmt::format(options.markdown ? "\n### {}\n\n" : "\n{}\n\n", space.kind);
  text += shown(table, options);
  for (const LayoutSpace::LeftOut& each : space.left_out) {
    text += fmt::format("\nLeft out: {}: {}\n", each.what, each.why);
  }
  return text;
}

}  // namespace

std::string layouts_text(const MachineTable& kinds, const Options& options) {
  std::string text;
  if (options.markdown) {
    text +=
        "# Layouts\n\nMade by `lacuna describe layouts --markdown`; do not edit.\n\nWhat "
        "`--layout best` chooses from, for each kind of operation. 0 leaves a choice to the "
        "planner.\n";
  }
  const auto add = [&](const Machine& machine, const std::string& title) {
    if (machine.layouts().empty()) return;
    text += fmt::format(options.markdown ? "\n## {}\n" : "\n{}\n", title);
    for (const LayoutSpace& space : machine.layouts()) text += space_text(machine, space, options);
  };
  for (const std::string& name : options.machines) {
    const std::unique_ptr<Machine> machine = make_machine(kinds, name);
    if (machine->layouts().empty()) {
      throw RequestError(fmt::format("--machine: {} has no layouts to choose from", name));
    }
    add(*machine, name);
  }
  for (const MachineKind& kind : kinds) {
    if (options.machines.empty()) {
      add(*kind.make(kind.kind), fmt::format("Machines of kind {}", kind.kind));
    }
  }
  return text;
}

}  // namespace lacuna
