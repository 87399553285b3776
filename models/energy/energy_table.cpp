// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

std::vector<std::string> events_of(const std::vector<EnergyRow>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const EnergyRow& row : rows) names.push_back(row.event);
  return names;
}

}  // namespace

EnergyTable::EnergyTable(std::string name, std::vector<EnergyRow> rows)
    : name_(std::move(name)), rows_(std::move(rows)) {}

const EnergyRow* EnergyTable::find(const std::string& event) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(),
                                [&](const EnergyRow& each) { return each.event == event; });
  return row == rows_.end() ? nullptr : &*row;
}

EnergyTable EnergyTable::read_over(const std::string& path, const EnergyTable& shipped) {
  const EnergyTable user = read(path);
  for (const EnergyRow& row : user.rows_) {
    const EnergyRow* const known = shipped.find(row.event);
    if (known == nullptr) {
      throw RequestError(fmt::format("{}: there is no energy event '{}'{}", path, row.event,
                                     hint_of(row.event, events_of(shipped.rows_))));
    }
    if (row.unit != known->unit) {
      throw RequestError(fmt::format("{}: event '{}': found the unit '{}'; allowed: {}", path,
                                     row.event, row.unit, known->unit));
    }
  }
  // the order of the shipped table is kept, because sums are made in table order
  EnergyTable merged(user.name_, shipped.rows_);
  for (EnergyRow& row : merged.rows_) {
    const EnergyRow* own = user.find(row.event);
    if (own == nullptr) {
      merged.taken_from_shipped_.push_back(row.event);
    } else {
      row = *own;
    }
  }
  return merged;
}

EnergyTable EnergyTable::with_fixed(const std::string& event, Corner corner) const {
  EnergyTable changed = *this;
  changed.members_.clear();
  for (EnergyRow& row : changed.rows_) {
    if (row.event != event) continue;
    for (EnergyRange& price : row.nodes) {
      const double value = price.at(corner);
      price = {value, value, value};
    }
  }
  return changed;
}

}  // namespace lacuna
