// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {

/// What a search makes small; several: no point of its front is beaten in all of them.
enum class Objective { time, energy, energy_delay, area, area_delay };

/// The objective of a word; nothing if it is none. Words of all, in their order.
std::optional<Objective> objective_of(const std::string& word);
const char* word(Objective objective);
const char* title_of(Objective objective);  // on an axis
const char* unit_of(Objective objective);
std::vector<std::string> objective_words();

/// What became of a point of the space.
/// `unmet`: simulated, but not as the search's conditions have it.
enum class Fate { open, excluded, pruned, simulated, unmet, failed, left_over };
const char* word(Fate fate);

/// A point of a space as a search sees it: by objective, what it cannot be below (0 where nothing
/// is known), and what it is.
struct SearchPoint {
  std::vector<double> bound;
  std::vector<double> value = {};  // once it is simulated
  Fate fate = Fate::open;
};

/// How far a search goes.
struct SearchTerms {
  std::size_t budget = 0;     // points that are simulated at most; 0: as many as it takes
  bool prunes = true;         // else all points are open whatever their bounds
  double gain = 0;            // a point has to be able to be better by more than this share
  std::size_t at_a_time = 8;  // points that are handed out before any of them is known
  bool descends = false;      // to neighbours of good points, not to all that bounds leave
  std::size_t restarts = 2;   // of a descent, after its first start,
  std::uint64_t seed = 1;     // and by which draws
};

/// Best first by lower bounds: which points are simulated next, and which need not be. A point need
/// not be if a simulated one is at least as good as its bound, but for the gain. The order does not
/// depend on how many points a computer simulates at a time: they come in batches of a fixed size.
///
/// A descent begins at the least bound and looks at neighbours alone, which differ in the value of
/// one axis. The first batch with a better point moves it there. Where none is better it starts
/// anew, at the least bound of some points that are drawn.
class SearchOrder {
 public:
  /// `axis_text`: of each point its values, for a descent.
  SearchOrder(std::vector<SearchPoint> points, const SearchTerms& terms,
              const std::vector<std::vector<std::string>>& axis_text = {});

  /// The next points, those with the lowest bounds first and of equal ones the first; empty at the
  /// end. What was simulated is to be told before.
  std::vector<std::size_t> next();

  void simulated(std::size_t point, std::vector<double> value);
  void failed(std::size_t point) { refused(point, Fate::failed); }
  void unmet(std::size_t point) { refused(point, Fate::unmet); }

  const std::vector<SearchPoint>& points() const { return points_; }

  /// The simulated points that none beats: with one objective the first best.
  std::vector<std::size_t> front() const;

  /// What no point of the space can be below, by objective, failed and excluded ones left out.
  std::vector<double> least() const;

  /// By how much of its own value the best point may be above the best of all, of one objective;
  /// from the bounds of those that were pruned or left over.
  double at_most_above() const;

  /// By how much of its value the bound of each simulated point is below it, sorted; of points with
  /// a bound of objective 0. Negative: above it.
  std::vector<double> slack() const;
  /// The same of those that are `wanted`.
  std::vector<double> slack(const std::function<bool(std::size_t point)>& wanted) const;

 private:
  using Place = std::vector<std::size_t>;  // the number of a value for each axis

  /// Points that no one looks at any more are left over; those that one already met, pruned.
  void leave_rest();
  bool is_beaten(const SearchPoint& point) const;
  std::vector<std::size_t> sorted(std::vector<std::size_t> points) const;
  std::vector<std::size_t> near() const;
  std::optional<std::size_t> at(const Place& place) const;
  bool start_anew();
  void refused(std::size_t point, Fate fate);

  std::vector<SearchPoint> points_;
  std::vector<std::size_t> order_;
  SearchTerms terms_;
  std::size_t used_ = 0;

  // of a descent
  std::vector<std::size_t> values_;  // of each axis, how many
  std::vector<Place> places_;        // of each point
  Random random_;
  std::size_t starts_ = 0;
  std::size_t at_ = 0;
  double at_value_ = std::numeric_limits<double>::infinity();
  bool surrounds_ = false;  // what is at `at_` is known
};

}  // namespace lacuna
