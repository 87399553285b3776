// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/sweep_study.hpp"

namespace lacuna {

/// The most lines of a first screen.
inline constexpr std::size_t kScreenLines = 24;

/// How a first screen is laid out. Nothing but rows is left out where there is no room, and how
/// many is said.
struct ScreenWords {
  std::string title;   // a line
  bool whole = false;  // all rows, however many lines
  std::string below;   // whole lines, after the table
  std::string more;    // the last line: where the rest is
};

/// The first screen of one run: the answer, its longest operations, where its units were.
std::string run_screen(const Answer& answer, const ScreenWords& words);

/// The same of several runs, a row for each point with means over seeds; of more than there is room
/// for, the fastest. `axes`: the values of a study's axes stand in place of machine and pattern.
std::string points_screen(const Answer& answer, const ScreenWords& words,
                          const SweepAxes* axes = nullptr);

/// Puts the parts of a screen below each other; `table_of(n)` is the table with n of its `rows`
/// rows. Those for which no room is left are counted as what they are.
std::string fitted_screen(const std::string& head, std::size_t rows,
                          const std::function<std::string(std::size_t n)>& table_of,
                          const std::string& what, const std::string& foot, bool whole);

/// The `count` of all places that are first by `before`, in the order of the places.
template <class Before>
std::vector<std::size_t> first_by(std::size_t all, std::size_t count, const Before& before) {
  std::vector<std::size_t> places(all);
  std::iota(places.begin(), places.end(), 0);
  sort_all(places, before);
  places.resize(std::min(all, count));
  sort_all(places);
  return places;
}

/// The lines of a text, likewise.
std::string first_lines(const std::string& text, bool whole);

/// "512x512x512 on bow (1472 tiles), seeds 1 to 3, exact".
std::string screen_title(const Runs& records);

/// A line for each kind of remark, with the number of operations it was made of.
std::string note_lines(const Answer& answer);

/// All that a run says beside its numbers, a line each after `before`: its layouts and remarks; of
/// operations of which it is the same, one line.
std::string remarks_text(const RunRecord& record, const std::string& before = "");

}  // namespace lacuna
