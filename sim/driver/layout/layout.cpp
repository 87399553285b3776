// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layout.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/moves_operands.hpp"
#include "sim/machines/plans_layouts.hpp"

namespace lacuna {

std::string layout_text(const Layout& layout) {
  std::string text;
  for (const auto& [key, value] : layout) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "as planned" : text;
}

const LayoutSpace* layout_space(const Machine& machine, const std::string& kind) {
  for (const LayoutSpace& space : machine.layouts()) {
    if (space.kind == kind) return &space;
  }
  return nullptr;
}

std::unique_ptr<Machine> laid_out(const Machine& machine, const Layout& layout, LayerOp& op,
                                  const std::string& origin) {
  std::unique_ptr<Machine> made = machine.clone();
  if (made == nullptr) throw InternalError(machine.name() + " has layouts, and no copy of it");
  if (auto* const plans = dynamic_cast<PlansLayouts*>(made.get())) plans->begin_layout();
  for (const auto& [key, value] : layout) {
    if (key != kResidencyKey) {
      made->set(key, value, origin);
      continue;
    }
    for (const Residency each : {Residency::automatic, Residency::streamed, Residency::resident}) {
      if (value == word(each)) op.residency = each;
    }
    if (value != word(op.residency)) {
      throw ParameterError(fmt::format(
          "{}: residency: found '{}'; allowed: auto, streamed, resident", origin, value));
    }
  }
  made->check();
  return made;
}

std::unique_ptr<Machine> laid_out_row(const Machine& machine, const Layout& layout, LayerOp& op,
                                      const Mask* mask, const std::string& origin) {
  std::unique_ptr<Machine> made = laid_out(machine, layout, op, origin);
  if (auto* const moves = dynamic_cast<MovesOperands*>(made.get())) moves->stand_for(op, mask);
  return made;
}

bool has_own_choice(const LayoutSpace& space) {
  return any_of(space.choices,
                [](const LayoutChoice& each) { return each.seen != LayoutChoice::Seen::same; });
}

Layout shared_words(const Machine& machine, const Layout& layout) {
  const auto is_shared = [&](const std::string& key) {
    for (const LayoutSpace& space : machine.layouts()) {
      for (const LayoutChoice& choice : space.choices) {
        if (choice.key == key) return choice.seen == LayoutChoice::Seen::same;
      }
    }
    return false;
  };
  Layout shared;
  for (const auto& word : layout) {
    if (is_shared(word.first)) shared.push_back(word);
  }
  return shared;
}

std::string lies_as(const Machine& machine, const LayoutSpace& space, const Layout& layout) {
  std::string text;
  for (const LayoutChoice& choice : space.choices) {
    if (choice.seen == LayoutChoice::Seen::no) continue;
    std::string value = machine.parameters().find(choice.key)->value_text();
    for (const auto& [key, chosen] : layout) {
      if (key == choice.key) value = chosen;
    }
    text += choice.key + "=" + value + " ";
  }
  return text;
}

}  // namespace lacuna
