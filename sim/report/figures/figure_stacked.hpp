// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// A part that every bar has, in the order of stacking, and its colour.
using StackedPart = std::pair<std::string, std::string>;

/// A bar: how much of it each part is, and a note to the right of it.
struct StackedBar {
  std::string label;
  std::string group;  // bars of different groups stand apart
  std::vector<double> values;
  std::string note;
  std::optional<double> time_us = {};        // how long it all took
  std::optional<double> dense_time_us = {};  // and the dense run that it is compared with
  bool is_gap = false;  // nothing to stack: an empty marker, and the note says why
};

/// A figure of horizontal stacked bars, all 100 % long or as long as their sum.
struct StackedFigure {
  std::string name;
  std::vector<std::string> title;
  std::string x_label;
  std::string note_label;
  bool percent = false;
  bool has_times = false;  // bars may be drawn as long as their times
  std::vector<StackedPart> parts;
  std::vector<StackedBar> bars;
};

/// As many pages as the bars need; those after the first are called name_2 and so on.
void add_stacked(const StackedFigure& figure, Figures& figures);

}  // namespace lacuna
