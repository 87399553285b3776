// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {

/// A point of a space: the number of a value for each choice.
using SpacePlace = std::vector<std::uint32_t>;

/// A space too large to be looked at whole.
struct SearchedSpace {
  std::vector<std::uint32_t> values;  // of each choice, how many

  /// The place that a combination comes to, as choices may make others meaningless; nothing if it
  /// cannot be.
  std::function<std::optional<SpacePlace>(const SpacePlace&)> settle;

  /// What a place cannot be below; 0 if nothing is known.
  std::function<double(const SpacePlace&)> bound;

  /// What it is expected to be: decides in which order places are tried, and nothing else.
  /// Infinite: it cannot be.
  std::function<double(const SpacePlace&)> guess;

  /// Which places are tried after all others of a round; null: none.
  std::function<bool(const SpacePlace&)> is_last = {};
};

/// How long a search may take, and by which draws it starts anew.
struct SearchEffort {
  std::uint64_t seed = 1;
  std::size_t budget = 48;   // places that are simulated at most
  std::size_t restarts = 2;  // after the first start
  std::size_t batch = 1;     // places that are handed out before any of them is known
  double gain = 0;           // a bound has to be below the best by such a share of it

  /// A start ends when so many places after each other have not brought the gain; 0: it goes on.
  std::size_t patience = 0;
};

/// Descent with restarts for the smallest value: of the neighbours of a place, which differ from it
/// in one choice, those whose bound is below the best so far are tried in the order of their
/// guesses, and the first batch with a better one becomes the place. Where none is better it starts
/// anew, at the most promising of some places that are drawn; likewise where its patience ends,
/// once the most promising neighbour of those that are tried last has had a try. The same seed
/// gives the same places.
class LocalSearch {
 public:
  LocalSearch(SearchedSpace space, SpacePlace start, const SearchEffort& effort);

  /// The next places to be simulated, at most a batch; none at the end.
  std::vector<SpacePlace> next();

  /// What a place that was handed out is; nothing: it cannot be.
  void take(const SpacePlace& place, std::optional<double> value);

  /// A place that was handed out is not simulated after all: it cannot be below the best so far, as
  /// its bound had not yet said.
  void leave(const SpacePlace& place);

  /// A place that was handed out was simulated until it was known to be above the best so far, or,
  /// if that is `unknown`, for as long as it was worth.
  void give_up(const SpacePlace& place, bool unknown = false);

  /// The best place, of equal ones the first; nothing if none can be.
  const std::optional<SpacePlace>& best() const { return best_; }
  double best_value() const { return best_value_; }

  std::size_t simulated() const { return simulated_; }
  std::size_t pruned() const { return pruned_; }
  std::size_t impossible() const { return impossible_; }

  /// True if places were left that the budget did not reach, that patience did not wait for, or of
  /// which it is unknown how good they are.
  bool cut_off() const { return cut_off_; }

  /// Below what no single change of the best place can be, of those that were not simulated, from
  /// their bounds alone; infinite if there are none.
  double least_left();

 private:
  enum class Fate { open, handed_out, known, pruned };
  struct Candidate {
    SpacePlace place;
    double guess = 0;
    bool is_last = false;

    bool operator<(const Candidate& other) const {
      return std::pair(is_last, guess) < std::pair(other.is_last, other.guess);
    }
  };

  void surround(const SpacePlace& place);
  void consider(const SpacePlace& place, std::vector<Candidate>& into);
  bool start_anew();
  void give_back(const SpacePlace& place);
  void lose_patience();
  void count_in_vain();
  template <class Action>
  void for_each_neighbour(const SpacePlace& place, const Action& action) const;

  SearchedSpace space_;
  SearchEffort effort_;
  Random random_;
  std::map<SpacePlace, Fate> fates_;
  std::vector<Candidate> left_;  // of the round, the most promising last
  std::size_t starts_ = 0;
  bool moved_ = false;  // a place of this round is better than the one it surrounds
  SpacePlace at_;
  double at_value_ = std::numeric_limits<double>::infinity();
  std::optional<SpacePlace> best_;
  double best_value_ = std::numeric_limits<double>::infinity();
  double last_gain_ = std::numeric_limits<double>::infinity();  // the best when it last was one
  std::size_t in_vain_ = 0;                                     // places since
  bool tried_last_ = false;  // of those that are, one had its try as patience ended
  std::size_t handed_out_ = 0;
  std::size_t simulated_ = 0;
  std::size_t pruned_ = 0;
  std::size_t impossible_ = 0;
  bool cut_off_ = false;
};

}  // namespace lacuna
