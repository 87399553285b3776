// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layout.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

std::string layout_text(const Layout& layout) {
  std::string text;
  for (const auto& [key, value] : layout) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "as planned" : text;
}

Layout read_layout(std::istream& text) {
  Layout layout;
  for (std::string word; text >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;  // "as planned"
    layout.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return layout;
}

std::unique_ptr<Machine> laid_out(const Machine& machine, const Layout& layout, LayerOp& op,
                                  const std::string& origin) {
  std::unique_ptr<Machine> made = machine.clone();
  dynamic_cast<PlansLayouts&>(*made).begin_layout();
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
  dynamic_cast<PlansLayouts&>(*made).stand_for(op, mask);
  return made;
}

bool has_own_choice(const LayoutSpace& space) {
  return any_of(space.choices,
                [](const LayoutChoice& each) { return each.seen != LayoutChoice::Seen::same; });
}

Layout shared_words(const PlansLayouts& machine, const Layout& layout) {
  Layout shared = layout;
  erase_where(shared, [&](const auto& word) {
    return !any_of(machine.layouts(), [&](const LayoutSpace& space) {
      return any_of(space.choices, [&](const LayoutChoice& choice) {
        return choice.key == word.first && choice.seen == LayoutChoice::Seen::same;
      });
    });
  });
  return shared;
}

std::string lies_as(const Machine& machine, const LayoutSpace& space, const Layout& layout) {
  std::string text;
  for (const LayoutChoice& choice : space.choices) {
    if (choice.seen == LayoutChoice::Seen::no) continue;
    const std::string* const chosen = find_value(layout, choice.key);
    text += choice.key + "=" +
            (chosen != nullptr ? *chosen : machine.parameters().find(choice.key)->value_text()) +
            " ";
  }
  return text;
}

}  // namespace lacuna
