// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna {

/// How long a descent may take, and by which draws it starts anew.
struct DescentEffort {
  std::uint64_t seed = 1;
  std::size_t budget = 48;   // points that are simulated at most
  std::size_t restarts = 2;  // after the first start
  std::size_t batch = 1;     // points that are handed out before any of them is known
  double gain = 0;           // a bound has to be below the best by such a share of it
};

/// Descent with restarts over the points of an experiment for the smallest value. Points that
/// differ in the value of one axis are neighbours. From a point, its neighbours with a bound below
/// the best so far are tried in the order of their bounds. The first batch with a better point
/// moves the search there. Where none is better the search starts anew, at the least bound of some
/// points that are drawn. The same seed gives the same points.
class SearchDescent {
 public:
  /// `axis_text`: of each point its values; `bound`: what it cannot be below. Begins at the point
  /// of the least bound. Points are handed out as SearchOrder does, a fixed batch at a time.
  SearchDescent(const std::vector<std::vector<std::string>>& axis_text, std::vector<double> bound,
                const DescentEffort& effort);

  /// The next points to be simulated; none at the end.
  std::vector<std::size_t> next();

  /// Tells the value of a point; nothing if the point is impossible.
  void take(std::size_t point, std::optional<double> value);

 private:
  using Place = std::vector<std::uint32_t>;  // the number of a value for each axis

  void surround();
  bool start_anew();

  DescentEffort effort_;
  Random random_;
  std::vector<std::uint32_t> values_;  // of each axis, how many
  std::vector<Place> places_;          // of each point
  std::map<Place, std::size_t> points_;
  std::vector<double> bound_;
  std::vector<bool> done_;         // handed out, or ruled out by its bound
  std::vector<std::size_t> left_;  // of the round, the most promising last
  std::size_t at_ = 0;
  double at_value_ = std::numeric_limits<double>::infinity();
  double best_ = std::numeric_limits<double>::infinity();
  bool moved_ = false;  // a point of this round is better than the one it surrounds
  std::size_t starts_ = 0;
  std::size_t handed_out_ = 0;
};

}  // namespace lacuna
