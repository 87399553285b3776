// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/run/experiment.hpp"

namespace lacuna {

/// A line for each of `settings` ("path=value") of kernels that none of the points' rows runs, on a
/// machine that has the parameter; and one if rows have a stage, which no machine heeds.
std::string idle_for_rows(const std::vector<Point>& points,
                          const std::vector<std::string>& settings);

/// True of a setting that acts on nothing but rows whose weights stream in from a wafer's edge.
bool acts_on_streams_alone(const std::string& setting);

}  // namespace lacuna
