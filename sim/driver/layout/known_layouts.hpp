// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/layout/climb.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

struct Point;

/// What the layout of one operation is called in a cache, and what it depends on: the machine, how
/// long was searched, and what it is of.
inline constexpr const char* kLayoutKind = "layout";
std::string layout_key(const Machine& machine, const ClimbEffort& effort, const std::string& what);

/// A line for each operation of a chip of which an earlier `best` has found a faster layout than
/// that of `records`, the runs of `points`; empty if none is known.
std::string known_layouts(const std::vector<Point>& points, const Runs& records);

}  // namespace lacuna
