// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace lacuna {

// The algorithms of the standard library over all of a range.

template <class All, class Fits>
bool any_of(const All& all, const Fits& fits) {
  return std::any_of(std::begin(all), std::end(all), fits);
}

template <class All, class Fits>
bool all_of(const All& all, const Fits& fits) {
  return std::all_of(std::begin(all), std::end(all), fits);
}

template <class All, class Fits>
std::size_t count_where(const All& all, const Fits& fits) {
  return static_cast<std::size_t>(std::count_if(std::begin(all), std::end(all), fits));
}

/// The first that fits, or null.
template <class All, class Fits>
auto* find_where(All& all, const Fits& fits) {
  const auto found = std::find_if(std::begin(all), std::end(all), fits);
  return found == std::end(all) ? nullptr : &*found;
}

/// The first that fits; `fresh`, added at the end, if there is none.
template <class All, class Fits>
auto& find_or_add(All& all, const Fits& fits, typename All::value_type fresh) {
  auto* const found = find_where(all, fits);
  if (found != nullptr) return *found;
  all.push_back(std::move(fresh));
  return all.back();
}

/// The place of `value`, which is added at the end if it is new.
template <class All, class Value>
std::size_t place_or_add(All& all, const Value& value) {
  const auto found = std::find(all.begin(), all.end(), value);
  const auto place = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(value);
  return place;
}

/// Sorts; of equal ones the order stays.
template <class All, class... Less>
void sort_all(All& all, const Less&... less) {
  std::stable_sort(all.begin(), all.end(), less...);
}

template <class All, class More>
void append(All& all, const More& more) {
  all.insert(all.end(), std::begin(more), std::end(more));
}

template <class All, class Fits>
void erase_where(All& all, const Fits& fits) {
  all.erase(std::remove_if(all.begin(), all.end(), fits), all.end());
}

}  // namespace lacuna
