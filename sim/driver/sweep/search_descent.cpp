// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_descent.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/ranges.hpp"

namespace lacuna {

SearchDescent::SearchDescent(const std::vector<std::vector<std::string>>& axis_text,
                             std::vector<double> bound, const DescentEffort& effort)
    : effort_(effort), random_(effort.seed), bound_(std::move(bound)), done_(bound_.size()) {
  std::vector<std::vector<std::string>> values;  // of each axis, as they come
  for (std::size_t i = 0; i < axis_text.size(); ++i) {
    Place place;
    values.resize(std::max(values.size(), axis_text[i].size()));
    for (std::size_t a = 0; a < axis_text[i].size(); ++a) {
      const auto found = std::find(values[a].begin(), values[a].end(), axis_text[i][a]);
      place.push_back(static_cast<std::uint32_t>(found - values[a].begin()));
      if (found == values[a].end()) values[a].push_back(axis_text[i][a]);
    }
    points_.emplace(place, i);
    places_.push_back(std::move(place));
  }
  for (const auto& each : values) values_.push_back(static_cast<std::uint32_t>(each.size()));
  at_ = static_cast<std::size_t>(std::min_element(bound_.begin(), bound_.end()) - bound_.begin());
  left_ = {at_};
}

/// The neighbours that are not known yet.
void SearchDescent::surround() {
  left_.clear();
  Place place = places_[at_];
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    const std::uint32_t own = place[axis];
    for (place[axis] = 0; place[axis] < values_[axis]; ++place[axis]) {
      const auto point = points_.find(place);
      if (point != points_.end() && !done_[point->second]) left_.push_back(point->second);
    }
    place[axis] = own;
  }
  sort_all(left_, [&](std::size_t a, std::size_t b) { return bound_[a] < bound_[b]; });
  std::reverse(left_.begin(), left_.end());
}

bool SearchDescent::start_anew() {
  constexpr std::size_t kDraws = 64;
  if (starts_ >= effort_.restarts) return false;
  ++starts_;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < kDraws; ++i) {
    Place place;
    for (const std::uint32_t values : values_) {
      place.push_back(static_cast<std::uint32_t>(random_.bounded(values)));
    }
    const auto point = points_.find(place);
    if (point == points_.end() || done_[point->second] || bound_[point->second] >= best_) continue;
    if (!first || bound_[point->second] < bound_[*first]) first = point->second;
  }
  if (!first) return false;
  left_ = {*first};
  at_ = *first;
  at_value_ = std::numeric_limits<double>::infinity();
  return true;
}

std::vector<std::size_t> SearchDescent::next() {
  std::vector<std::size_t> batch;
  while (batch.empty()) {
    if (std::exchange(moved_, false)) surround();
    while (!left_.empty() && batch.size() < effort_.batch) {
      if (handed_out_ == effort_.budget) return batch;
      const std::size_t point = left_.back();
      left_.pop_back();
      done_[point] = true;
      if (bound_[point] >= best_ * (1 - effort_.gain)) continue;
      ++handed_out_;
      batch.push_back(point);
    }
    if (batch.empty() && !start_anew()) return batch;
  }
  return batch;
}

void SearchDescent::take(std::size_t point, std::optional<double> value) {
  if (!value) {
    --handed_out_;                    // refused at once: the budget is for what takes time
    if (point == at_) moved_ = true;  // a start that cannot be has neighbours that may
    return;
  }
  best_ = std::min(best_, *value);
  if (*value >= at_value_) return;
  at_ = point;
  at_value_ = *value;
  moved_ = true;
}

}  // namespace lacuna
