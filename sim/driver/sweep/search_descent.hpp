// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/sweep/local_search.hpp"

namespace lacuna {

/// The points of an experiment as a space to descend in: points that differ in the value of one
/// axis are neighbours.
class SearchDescent {
 public:
  /// `axis_text`: of each point its values; `bound`: what it cannot be below. Begins at the point
  /// of the least bound. Points are handed out as SearchOrder does, a fixed batch at a time.
  SearchDescent(const std::vector<std::vector<std::string>>& axis_text,
                const std::vector<double>& bound, const SearchEffort& effort);
  SearchDescent(const SearchDescent&) = delete;  // the search asks it
  SearchDescent& operator=(const SearchDescent&) = delete;

  /// The next points to be simulated; none at the end.
  std::vector<std::size_t> next();

  /// What a point is; nothing: it cannot be.
  void take(std::size_t point, std::optional<double> value);

 private:
  std::vector<SpacePlace> places_;  // of each point
  std::map<SpacePlace, std::size_t> points_;
  std::optional<LocalSearch> search_;
};

}  // namespace lacuna
