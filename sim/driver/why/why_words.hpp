// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/why.hpp"

namespace lacuna {

inline constexpr double kTie = 1.02;     // causes that differ by less are named together
inline constexpr double kMostDense = 3;  // times the run, up to which dense runs are run again

/// The last step of a ladder.
inline constexpr const char* kAllAway = "all costs that can be switched off";

/// What was found, in at most five sentences: the answer first.
std::vector<std::string> why_sentences(const Why& why, std::optional<double> density);

}  // namespace lacuna
