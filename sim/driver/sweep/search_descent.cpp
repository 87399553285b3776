// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_descent.hpp"

#include <algorithm>

namespace lacuna {

SearchDescent::SearchDescent(const std::vector<std::vector<std::string>>& axis_text,
                             const std::vector<double>& bound, const SearchEffort& effort) {
  std::vector<std::vector<std::string>> values;  // of each axis, as they come
  for (std::size_t i = 0; i < axis_text.size(); ++i) {
    SpacePlace place;
    values.resize(std::max(values.size(), axis_text[i].size()));
    for (std::size_t a = 0; a < axis_text[i].size(); ++a) {
      const auto found = std::find(values[a].begin(), values[a].end(), axis_text[i][a]);
      place.push_back(static_cast<std::uint32_t>(found - values[a].begin()));
      if (found == values[a].end()) values[a].push_back(axis_text[i][a]);
    }
    points_.emplace(place, i);
    places_.push_back(std::move(place));
  }
  SearchedSpace space;
  for (const auto& each : values) space.values.push_back(static_cast<std::uint32_t>(each.size()));
  space.settle = [this](const SpacePlace& place) {
    return points_.count(place) == 0 ? std::nullopt : std::optional(place);
  };
  space.bound = [this, bound](const SpacePlace& place) { return bound[points_.at(place)]; };
  space.guess = space.bound;
  const auto first = std::min_element(bound.begin(), bound.end()) - bound.begin();
  search_.emplace(std::move(space), places_[static_cast<std::size_t>(first)], effort);
}

std::vector<std::size_t> SearchDescent::next() {
  std::vector<std::size_t> points;
  for (const SpacePlace& place : search_->next()) points.push_back(points_.at(place));
  return points;
}

void SearchDescent::take(std::size_t point, std::optional<double> value) {
  search_->take(places_[point], value);
}

}  // namespace lacuna
