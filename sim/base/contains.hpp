// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

/// True if `value` is one of `values`.
template <class Values, class Value>
bool contains(const Values& values, const Value& value) {
  return std::find(std::begin(values), std::end(values), value) != std::end(values);
}

/// The place of `value` among `values`; nothing if it is none of them.
template <class Values, class Value>
std::optional<std::size_t> place_in(const Values& values, const Value& value) {
  const auto found = std::find(std::begin(values), std::end(values), value);
  if (found == std::end(values)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(values));
}

/// The value of a key in a map, or null.
template <class Map, class Key>
auto value_in(Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// The row of a table that has this name, or null.
template <class Rows>
const typename Rows::value_type* find_named(const Rows& rows, const std::string& name) {
  for (const auto& row : rows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

/// The names of a table's rows.
template <class Rows>
std::vector<std::string> names_in(const Rows& rows) {
  std::vector<std::string> names;
  names.reserve(std::size(rows));
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace lacuna
