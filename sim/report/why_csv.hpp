// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/answer/answer.hpp"

namespace lacuna {

/// A row for each step of each run that was asked why it is not faster, and for each cause by
/// itself; empty if none was.
std::string why_csv(const Answer& answer);

/// The same of one that has no record, such as a language model.
std::string why_csv(const std::string& machine, const std::string& pattern, const Why& why);

}  // namespace lacuna
