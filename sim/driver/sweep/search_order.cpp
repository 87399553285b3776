// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

struct Named {
  Objective objective;
  const char* word;
  const char* title;
  const char* unit;
};

constexpr std::array<Named, 5> kObjectives = {
    {{Objective::time, "time", "Time", "s"},
     {Objective::energy, "energy", "Energy", "J"},
     {Objective::energy_delay, "energy_delay", "Energy x time", "J s"},
     {Objective::area, "area", "Silicon", "mm2"},
     {Objective::area_delay, "area_delay", "Silicon x time", "mm2 s"}}};

/// True if `a`, each smaller by a share `gain`, is nowhere above `b`.
bool not_above(const std::vector<double>& a, const std::vector<double>& b, double gain = 0) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [gain](double x, double y) { return x * (1 - gain) <= y; });
}

}  // namespace

std::optional<Objective> objective_of(const std::string& word) {
  for (const Named& each : kObjectives) {
    if (word == each.word) return each.objective;
  }
  return std::nullopt;
}

const char* word(Objective objective) {
  return kObjectives.at(static_cast<std::size_t>(objective)).word;
}

const char* title_of(Objective objective) {
  return kObjectives.at(static_cast<std::size_t>(objective)).title;
}

const char* unit_of(Objective objective) {
  return kObjectives.at(static_cast<std::size_t>(objective)).unit;
}

std::vector<std::string> objective_words() {
  std::vector<std::string> words;
  words.reserve(kObjectives.size());
  for (const Named& each : kObjectives) words.emplace_back(each.word);
  return words;
}

const char* word(Fate fate) {
  constexpr std::array<const char*, 7> kWords = {"open",  "excluded", "pruned",   "simulated",
                                                 "unmet", "failed",   "left over"};
  return kWords.at(static_cast<std::size_t>(fate));
}

SearchOrder::SearchOrder(std::vector<SearchPoint> points, const SearchTerms& terms,
                         const std::vector<std::vector<std::string>>& axis_text)
    : points_(std::move(points)), order_(points_.size()), terms_(terms), random_(terms.seed) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  order_ = sorted(std::move(order_));
  if (!terms_.descends || points_.empty()) return;
  at_ = order_[0];
  std::vector<std::vector<std::string>> values(axis_text[0].size());  // of each axis, as they come
  for (const std::vector<std::string>& text : axis_text) {
    Place& place = places_.emplace_back();
    for (std::size_t a = 0; a < text.size(); ++a) {
      place.push_back(place_or_add(values[a], text[a]));
    }
  }
  for (const auto& each : values) values_.push_back(each.size());
}

bool SearchOrder::is_beaten(const SearchPoint& point) const {
  const auto beats = [&](const SearchPoint& other) {
    return other.fate == Fate::simulated && not_above(other.value, point.bound, terms_.gain);
  };
  return terms_.prunes && any_of(points_, beats);
}

std::vector<std::size_t> SearchOrder::sorted(std::vector<std::size_t> points) const {
  sort_all(points,
           [&](std::size_t a, std::size_t b) { return points_[a].bound < points_[b].bound; });
  return points;
}

std::optional<std::size_t> SearchOrder::at(const Place& place) const {
  const auto found = std::find(places_.begin(), places_.end(), place);
  if (found == places_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - places_.begin());
}

/// Where is looked next: a descent looks around where it is, once that is known.
std::vector<std::size_t> SearchOrder::near() const {
  if (!terms_.descends) return order_;
  if (!surrounds_) return {at_};
  std::vector<std::size_t> near;
  for (std::size_t axis = 0; axis < values_.size(); ++axis) {
    Place place = places_[at_];
    for (place[axis] = 0; place[axis] < values_[axis]; ++place[axis]) {
      if (const auto point = at(place)) near.push_back(*point);
    }
  }
  return sorted(std::move(near));
}

bool SearchOrder::start_anew() {
  constexpr std::size_t kDraws = 64;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < kDraws; ++i) {
    Place place;
    for (const std::size_t values : values_) place.push_back(random_.bounded(values));
    const std::optional<std::size_t> point = at(place);
    const auto is_no_better = [&](const SearchPoint& known) {
      return known.fate == Fate::simulated && known.value[0] <= points_[*point].bound[0];
    };
    if (!point || points_[*point].fate != Fate::open || any_of(points_, is_no_better)) continue;
    if (!first || points_[*point].bound < points_[*first].bound) first = point;
  }
  if (!first) return false;
  at_ = *first;
  at_value_ = std::numeric_limits<double>::infinity();
  surrounds_ = false;
  return true;
}

std::vector<std::size_t> SearchOrder::next() {
  std::vector<std::size_t> batch;
  const auto may_go_on = [&] { return terms_.budget == 0 || used_ < terms_.budget; };
  do {
    for (const std::size_t i : near()) {
      SearchPoint& point = points_[i];
      if (point.fate != Fate::open) continue;
      if (is_beaten(point)) {
        point.fate = Fate::pruned;
      } else if (batch.size() < terms_.at_a_time && may_go_on()) {
        batch.push_back(i);
        ++used_;
      }
    }
  } while (batch.empty() && terms_.descends && may_go_on() && starts_++ < terms_.restarts &&
           start_anew());
  if (batch.empty()) leave_rest();
  return batch;
}

void SearchOrder::leave_rest() {
  for (SearchPoint& point : points_) {
    if (point.fate != Fate::open) continue;
    point.fate = is_beaten(point) ? Fate::pruned : Fate::left_over;
  }
}

void SearchOrder::simulated(std::size_t point, std::vector<double> value) {
  if (value[0] < at_value_) {
    at_ = point;
    at_value_ = value[0];
    surrounds_ = true;
  }
  points_[point].value = std::move(value);
  points_[point].fate = Fate::simulated;
}

/// The budget of a descent is for what takes time, and a start that cannot be has neighbours that
/// may.
void SearchOrder::refused(std::size_t point, Fate fate) {
  points_[point].fate = fate;
  if (!terms_.descends) return;
  --used_;
  surrounds_ = surrounds_ || point == at_;
}

std::vector<std::size_t> SearchOrder::front() const {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].fate != Fate::simulated) continue;
    const auto beats = [&](std::size_t j) {
      return points_[j].fate == Fate::simulated && not_above(points_[j].value, points_[i].value) &&
             (j < i || points_[j].value != points_[i].value);
    };
    bool beaten = false;
    for (std::size_t j = 0; j < points_.size() && !beaten; ++j) beaten = j != i && beats(j);
    if (!beaten) front.push_back(i);
  }
  return front;
}

std::vector<double> SearchOrder::least() const {
  std::vector<double> least;
  for (const SearchPoint& point : points_) {
    const bool known = point.fate == Fate::failed || point.fate == Fate::unmet;
    if (known || point.fate == Fate::excluded) continue;
    least.resize(point.bound.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], point.bound[i]);
  }
  return least;
}

double SearchOrder::at_most_above() const {
  double best = std::numeric_limits<double>::infinity();
  double least = best;
  for (const SearchPoint& point : points_) {
    if (point.fate == Fate::simulated) best = std::min(best, point.value[0]);
    if (point.fate == Fate::pruned || point.fate == Fate::left_over)
      least = std::min(least, point.bound[0]);
  }
  return least < best ? 1 - least / best : 0;
}

std::vector<double> SearchOrder::slack() const {
  return slack([](std::size_t) { return true; });
}

std::vector<double> SearchOrder::slack(const std::function<bool(std::size_t point)>& wanted) const {
  std::vector<double> slack;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const SearchPoint& point = points_[i];
    if (point.fate != Fate::simulated || point.bound[0] <= 0 || !wanted(i)) continue;
    slack.push_back(1 - point.bound[0] / point.value[0]);
  }
  sort_all(slack);
  return slack;
}

}  // namespace lacuna
