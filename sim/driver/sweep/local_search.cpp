// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/local_search.hpp"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

constexpr std::size_t kDraws = 64;  // places of which the most promising begins anew

}  // namespace

LocalSearch::LocalSearch(SearchedSpace space, SpacePlace start, const SearchEffort& effort)
    : space_(std::move(space)), effort_(effort), random_(effort.seed), at_(std::move(start)) {
  left_.push_back({at_, 0});
  fates_[at_] = Fate::open;
}

void LocalSearch::consider(const SpacePlace& place, std::vector<Candidate>& into) {
  const std::optional<SpacePlace> settled = space_.settle(place);
  if (!settled || !fates_.emplace(*settled, Fate::open).second) return;
  const bool is_last = space_.is_last && space_.is_last(*settled);
  into.push_back({*settled, space_.guess(*settled), is_last});
}

template <class Action>
void LocalSearch::for_each_neighbour(const SpacePlace& place, const Action& action) const {
  for (std::size_t choice = 0; choice < place.size(); ++choice) {
    for (std::uint32_t value = 0; value < space_.values[choice]; ++value) {
      if (value == place[choice]) continue;
      SpacePlace other = place;
      other[choice] = value;
      action(other);
    }
  }
}

/// The neighbours of a place that are not known yet.
void LocalSearch::surround(const SpacePlace& place) {
  left_.clear();
  for_each_neighbour(place, [&](const SpacePlace& other) { consider(other, left_); });
  std::stable_sort(left_.begin(), left_.end());
  std::reverse(left_.begin(), left_.end());
}

bool LocalSearch::start_anew() {
  if (starts_ >= effort_.restarts) return false;
  ++starts_;
  std::vector<Candidate> drawn;
  for (std::size_t i = 0; i < kDraws; ++i) {
    SpacePlace place;
    for (const std::uint32_t values : space_.values) {
      place.push_back(static_cast<std::uint32_t>(random_.bounded(values)));
    }
    consider(place, drawn);
  }
  for (const Candidate& each : drawn) fates_.erase(each.place);
  const auto below = [&](const Candidate& each) { return space_.bound(each.place) < best_value_; };
  drawn.erase(std::remove_if(drawn.begin(), drawn.end(),
                             [&](const Candidate& each) { return !below(each); }),
              drawn.end());
  if (drawn.empty()) return false;
  const auto first = std::min_element(drawn.begin(), drawn.end());
  left_ = {*first};
  fates_[first->place] = Fate::open;
  at_ = first->place;
  at_value_ = std::numeric_limits<double>::infinity();
  last_gain_ = at_value_;
  in_vain_ = 0;
  return true;
}

double LocalSearch::least_left() {
  double least = std::numeric_limits<double>::infinity();
  if (!best_) return least;
  for_each_neighbour(*best_, [&](const SpacePlace& other) {
    const std::optional<SpacePlace> settled = space_.settle(other);
    if (!settled) return;
    const auto fate = fates_.find(*settled);
    if (fate != fates_.end() && fate->second == Fate::known) return;
    if (space_.guess(*settled) == std::numeric_limits<double>::infinity()) return;
    least = std::min(least, space_.bound(*settled));
  });
  return least;
}

/// What the start has left over is not looked at any more, but for one that is tried last.
void LocalSearch::lose_patience() {
  for (const Candidate& each : left_) fates_.erase(each.place);
  left_.clear();
  moved_ = false;
  cut_off_ = true;
  if (std::exchange(tried_last_, true)) return;
  surround(at_);
  const auto first = std::find_if(left_.rbegin(), left_.rend(),
                                  [](const Candidate& each) { return each.is_last; });
  std::vector<Candidate> last;
  if (first != left_.rend()) last.push_back(*first);
  for (const Candidate& each : left_) fates_.erase(each.place);
  left_ = std::move(last);
  if (!left_.empty()) fates_[left_[0].place] = Fate::open;
}

std::vector<SpacePlace> LocalSearch::next() {
  std::vector<SpacePlace> batch;
  while (batch.empty()) {
    if (std::exchange(moved_, false)) {
      // what the last round left is as good as unseen: it may surround another place
      for (const Candidate& each : left_) fates_.erase(each.place);
      surround(at_);
    }
    while (!left_.empty() && batch.size() < effort_.batch) {
      if (handed_out_ == effort_.budget) {
        cut_off_ = true;
        return batch;
      }
      const SpacePlace place = std::move(left_.back().place);
      left_.pop_back();
      if (space_.bound(place) >= best_value_ * (1 - effort_.gain)) {
        fates_[place] = Fate::pruned;
        ++pruned_;
        continue;
      }
      fates_[place] = Fate::handed_out;
      ++handed_out_;
      batch.push_back(place);
    }
    if (batch.empty() && !start_anew()) return batch;
  }
  return batch;
}

void LocalSearch::take(const SpacePlace& place, std::optional<double> value) {
  if (!value) {
    give_back(place);  // refused at once: the budget is for what takes time
    fates_[place] = Fate::known;
    ++impossible_;
    // a start that cannot be has neighbours that may
    if (place == at_) moved_ = true;
    return;
  }
  fates_[place] = Fate::known;
  ++simulated_;
  if (*value < at_value_) {
    at_ = place;
    at_value_ = *value;
    moved_ = true;
  }
  if (*value < best_value_) {
    best_ = place;
    best_value_ = *value;
  }
  if (*value < last_gain_ * (1 - effort_.gain)) {
    last_gain_ = *value;
    in_vain_ = 0;
  } else {
    count_in_vain();
  }
}

void LocalSearch::count_in_vain() {
  ++in_vain_;
  if (effort_.patience != 0 && in_vain_ >= effort_.patience) lose_patience();
}

void LocalSearch::give_up(const SpacePlace& place, bool unknown) {
  fates_[place] = unknown ? Fate::pruned : Fate::known;
  cut_off_ = cut_off_ || unknown;
  ++simulated_;
  count_in_vain();
}

void LocalSearch::leave(const SpacePlace& place) {
  give_back(place);
  fates_[place] = Fate::pruned;
  ++pruned_;
}

/// What was tried without being handed out took nothing of the budget.
void LocalSearch::give_back(const SpacePlace& place) {
  const auto fate = fates_.find(place);
  if (fate != fates_.end() && fate->second == Fate::handed_out) --handed_out_;
}

}  // namespace lacuna
