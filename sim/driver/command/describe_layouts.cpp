// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sim/base/refused.hpp"
#include "sim/driver/command/describe_pages.hpp"
#include "sim/driver/layout/layout.hpp"
#include "sim/machines/system/store_system.hpp"
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

void add_space(TextPage& page, const Machine& machine, const LayoutSpace& space) {
  TextTable table({"choice<", "as set<", "values<", "of rows that follow each other<",
                   "memory of a tile or core<"});
  for (const LayoutChoice& choice : space.choices) {
    const bool by_rule = choice.values.empty();
    table.row({choice.key, own_value(machine, choice),
               by_rule ? "of the rule" : fmt::format("{}", fmt::join(choice.values, " ")),
               seen_text(choice.seen), choice.memory});
  }
  page.heading_below(space.kind).table(std::move(table));
  if (!space.left_out.empty()) page.text("Left out: " + space.left_out);
}

}  // namespace

TextPage layouts_page(const MachineTable& kinds, const Options& options) {
  TextPage page(
      "Layouts",
      "What `--layout best` chooses from, for each kind of operation. 0 leaves a choice to "
      "the planner.");
  const auto add = [&](const Machine& machine, const std::string& title) {
    const StoreSystem* const system = as_store_system(machine);
    const Machine& chip = system == nullptr ? machine : system->chip();
    const auto* const plans = dynamic_cast<const PlansLayouts*>(&chip);
    if (plans == nullptr) return false;
    page.heading(title);
    for (const LayoutSpace& space : plans->layouts()) add_space(page, chip, space);
    return true;
  };
  for (const std::string& name : options.machines) {
    if (add(*make_machine(kinds, name), name)) continue;
    throw refused("--machine: {} has no layouts to choose from", name);
  }
  for (const MachineKind& kind : kinds) {
    if (options.machines.empty()) {
      add(*kind.make(kind.kind), fmt::format("Machines of kind {}", kind.kind));
    }
  }
  return page;
}

}  // namespace lacuna
