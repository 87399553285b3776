// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/answer/answer.hpp"

namespace lacuna {

/// The answer in front of all else: its sentences, `figure`, then for each point time, speed-up,
/// where its cycles went, and energy.
std::string answer_html(const Answer& answer, const std::string& figure);

}  // namespace lacuna
