// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/moves_operands.hpp"

namespace lacuna {
namespace {

std::string own_value(const Machine& machine, const LayerOp& op, const std::string& key) {
  if (key == kResidencyKey) return word(op.residency);
  const ParamBase* const parameter = machine.parameters().find(key);
  if (parameter == nullptr) {
    throw InternalError(
        fmt::format("{}: its layouts have '{}', which is no parameter of it", machine.name(), key));
  }
  return parameter->value_text();
}

/// Weights of a row that says where they live, or may not choose, stay there.
bool may_choose(const LayerOp& op, const std::string& key) {
  return key != kResidencyKey ||
         (op.residency == Residency::automatic && op.mode == Mode::automatic && op.share.may_stay);
}

}  // namespace

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

LayoutPoints::LayoutPoints(const Machine& machine, const LayerOp& op, const Mask* mask,
                           const LayoutSpace& space)
    : machine_(machine) {
  const double kept = mask == nullptr ? 1 : mask->density();
  facts_ = {{"m", std::to_string(op.m)},
            {"k", std::to_string(op.k)},
            {"n", std::to_string(op.n)},
            {"batch", std::to_string(op.batch)},
            {"density", fmt::format("{}", kept)}};
  for (const LayoutChoice& each : space.choices) {
    Choice choice;
    choice.key = each.key;
    choice.values = {own_value(machine, op, each.key)};
    for (const std::string& other : each.values) {
      if (other != choice.values[0] && may_choose(op, each.key)) {
        choice.values.push_back(other);
      }
    }
    if (!each.when.empty()) choice.when.emplace(each.when, "layouts, " + each.key);
    choice.tried_last = each.tried_last;
    choices_.push_back(std::move(choice));
  }
  for (const std::string& each : space.where) where_.emplace_back(each, "layouts, " + space.kind);
}

std::vector<std::uint32_t> LayoutPoints::values() const {
  std::vector<std::uint32_t> counts;
  for (const Choice& each : choices_)
    counts.push_back(static_cast<std::uint32_t>(each.values.size()));
  return counts;
}

std::optional<std::string> LayoutPoints::value(const SpacePlace& place,
                                               const std::string& name) const {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].key == name) return choices_[i].values[place[i]];
  }
  const auto fact = facts_.find(name);
  if (fact != facts_.end()) return fact->second;
  const ParamBase* const parameter = machine_.parameters().find(name);
  return parameter == nullptr ? std::nullopt : std::optional(parameter->value_text());
}

std::optional<SpacePlace> LayoutPoints::settle(const SpacePlace& place) const {
  SpacePlace settled = place;
  const auto lookup = [&](const std::string& name) { return value(settled, name); };
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    if (choice.when && settled[i] != 0 && !choice.when->holds(lookup)) settled[i] = 0;
  }
  const bool holds = std::all_of(where_.begin(), where_.end(),
                                 [&](const SweepCondition& each) { return each.holds(lookup); });
  return holds ? std::optional(settled) : std::nullopt;
}

Layout LayoutPoints::layout(const SpacePlace& place) const {
  Layout layout;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (place[i] != 0) layout.emplace_back(choices_[i].key, choices_[i].values[place[i]]);
  }
  return layout;
}

bool LayoutPoints::tried_last(const SpacePlace& place) const {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (place[i] != 0 && choices_[i].values[place[i]] == choices_[i].tried_last) return true;
  }
  return false;
}

std::string LayoutPoints::residency(const SpacePlace& place) const {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].key == kResidencyKey) return choices_[i].values[place[i]];
  }
  return "";
}

SpacePlace LayoutPoints::left_open(const SpacePlace& place) const {
  SpacePlace open = place;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].key == kResidencyKey) open[i] = 0;
  }
  return open;
}

SpacePlace LayoutPoints::place(const Layout& layout) const {
  SpacePlace place(choices_.size(), 0);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    for (const auto& [key, value] : layout) {
      if (key != choices_[i].key) continue;
      const auto found = std::find(choices_[i].values.begin(), choices_[i].values.end(), value);
      if (found == choices_[i].values.end()) continue;
      place[i] = static_cast<std::uint32_t>(found - choices_[i].values.begin());
    }
  }
  return place;
}

std::string lies_as(const Machine& machine, const LayoutSpace& space, const Layout& layout) {
  std::string text;
  for (const LayoutChoice& choice : space.choices) {
    if (choice.seen_as.empty()) continue;
    std::string value = machine.parameters().find(choice.key)->value_text();
    for (const auto& [key, chosen] : layout) {
      if (key == choice.key) value = chosen;
    }
    text += choice.key + "=" + value + " ";
  }
  return text;
}

}  // namespace lacuna
