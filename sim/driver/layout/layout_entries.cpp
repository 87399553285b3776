// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layout_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "models/sparsity/mask.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

/// A row as a file of layouts names it.
std::map<std::string, std::string> names_of(const Machine& machine, const LayerOp& op) {
  return {{"machine", machine.name()},
          {"id", op.id},
          {"op", op.op},
          {"m", std::to_string(op.m)},
          {"k", std::to_string(op.k)},
          {"n", std::to_string(op.n)},
          {"batch", std::to_string(op.batch)},
          {"type", word(op.dtype)},
          {"pattern", pattern_label(op.pattern)},
          {"mode", word(op.mode)}};
}

/// Whether a layout of a file is of an operation of these names.
bool fits(const LayoutEntry& entry, const std::map<std::string, std::string>& names) {
  return all_of(entry.of, [&](const auto& word) { return names.at(word.first) == word.second; });
}

std::string row_text(const LayerOp& op) {
  return fmt::format("'{}' ({}, {} x {} x {}, {})", op.id, op.op, op.m, op.k, op.n,
                     pattern_label(op.pattern));
}

/// A row with one layout has no other by its name; what a file says of a shape may be of other
/// rows.
void check_one_layout(const std::vector<LayoutEntry>& entries, const Machine& machine,
                      const LayerOp& op) {
  for (const LayoutEntry& each : entries) {
    const auto named = [&](const auto& word) { return word.first == "id" && word.second == op.id; };
    if (each.layout.empty() || !any_of(each.of, named)) continue;
    throw RequestError(fmt::format("{}: {} has one layout on {}; allowed: `layout: {{}}`, or none",
                                   each.place, row_text(op), machine.name()));
  }
}

/// Of the entries with the name of a row that is otherwise the first, and what of it differs.
std::string of_that_name(const std::vector<LayoutEntry>& entries,
                         const std::map<std::string, std::string>& names) {
  for (const LayoutEntry& each : entries) {
    const auto id = each.of.find("id");
    const auto machine = each.of.find("machine");
    if (id == each.of.end() || id->second != names.at("id")) continue;
    if (machine != each.of.end() && machine->second != names.at("machine")) continue;
    std::string differs;
    for (const auto& [word, value] : each.of) {
      if (names.at(word) == value) continue;
      differs +=
          fmt::format("{}{} {}, not {}", differs.empty() ? "" : "; ", word, value, names.at(word));
    }
    return fmt::format(" (that of {} is of {})", each.place, differs);
  }
  return {};
}

}  // namespace

/// Null if the row has one layout only, or none that is its own.
const LayoutEntry* layout_entry(const std::vector<LayoutEntry>& entries, const std::string& file,
                                const Machine& machine, const LayerOp& op) {
  const Mask some;  // layout_space() asks whether there is one
  const bool dense = op.pattern.name == "dense";
  const auto& plans = dynamic_cast<const PlansLayouts&>(machine);
  const LayoutSpace* const space = plans.layout_space(op, dense ? nullptr : &some);
  if (space == nullptr) {
    check_one_layout(entries, machine, op);
    return nullptr;
  }
  const std::map<std::string, std::string> names = names_of(machine, op);
  const bool own = has_own_choice(*space);
  const LayoutEntry* found = nullptr;
  for (const LayoutEntry& each : entries) {
    if (!fits(each, names)) continue;
    if (!own && shared_words(plans, each.layout) != each.layout) continue;
    if (found != nullptr && found->layout != each.layout) {
      throw RequestError(fmt::format("{}: also has a layout for {} on {}, other than {}",
                                     each.place, row_text(op), machine.name(), found->place));
    }
    found = &each;
  }
  if (found == nullptr && own) {
    throw RequestError(fmt::format(
        "{}: has no layout for {} on {}{}; --layout best finds one, and `layout: {{}}` is as "
        "planned",
        file, row_text(op), machine.name(), of_that_name(entries, names)));
  }
  return found;
}

/// What a file says of a row are choices that it has.
void check_choices(const LayoutEntry& entry, const Machine& machine, const LayerOp& op,
                   const Mask* mask) {
  const LayoutSpace* const space =
      dynamic_cast<const PlansLayouts&>(machine).layout_space(op, mask);
  if (space == nullptr) return;
  std::vector<std::string> keys;
  for (const LayoutChoice& choice : space->choices) keys.push_back(choice.key);
  for (std::size_t i = 0; i < entry.layout.size(); ++i) {
    const std::string& key = entry.layout[i].first;
    if (contains(keys, key)) continue;
    throw RequestError(fmt::format("{}: '{}' is no choice of a {} of {}; allowed: {}{}",
                                   entry.places[i], key, space->kind, machine.name(),
                                   fmt::join(keys, ", "), hint_of(key, keys)));
  }
}

std::string unused_layouts(const std::vector<LayoutEntry>& entries, const std::string& file,
                           const std::vector<Point>& points) {
  std::vector<std::string> places;
  for (const LayoutEntry& each : entries) {
    const bool used = any_of(points, [&](const Point& point) {
      if (as_store_system(*point.machine) != nullptr) return true;
      const std::vector<LayerOp>& ops = point.workload.ops;
      return any_of(ops,
                    [&](const LayerOp& op) { return fits(each, names_of(*point.machine, op)); });
    });
    if (!used) places.push_back(each.place);
  }
  if (places.empty()) return "";
  const std::size_t shown = std::min<std::size_t>(places.size(), 3);
  return fmt::format("lacuna: {} of {} layouts of {} are of no row here: {}{}\n", places.size(),
                     entries.size(), file,
                     fmt::join(places.begin(), places.begin() + static_cast<int>(shown), ", "),
                     shown < places.size() ? ", ..." : "");
}

}  // namespace lacuna
