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

SearchOrder::SearchOrder(std::vector<SearchPoint> points, const SearchTerms& terms)
    : points_(std::move(points)), order_(points_.size()), terms_(terms) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  sort_all(order_,
           [&](std::size_t a, std::size_t b) { return points_[a].bound < points_[b].bound; });
}

bool SearchOrder::is_beaten(const SearchPoint& point) const {
  const auto beats = [&](const SearchPoint& other) {
    return other.fate == Fate::simulated && not_above(other.value, point.bound, terms_.gain);
  };
  return terms_.prunes && any_of(points_, beats);
}

std::vector<std::size_t> SearchOrder::next() {
  std::vector<std::size_t> batch;
  for (const std::size_t i : order_) {
    SearchPoint& point = points_[i];
    if (point.fate != Fate::open) continue;
    if (is_beaten(point)) {
      point.fate = Fate::pruned;
    } else if (batch.size() < terms_.at_a_time && (terms_.budget == 0 || used_ < terms_.budget)) {
      batch.push_back(i);
      ++used_;
    }
  }
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
  points_[point].value = std::move(value);
  points_[point].fate = Fate::simulated;
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
