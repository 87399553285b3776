// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/answer/answer.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// Of each run that was asked why it is not faster, a waterfall: what remains as causes are taken
/// away one after the other, and what each took.
Figures why_figures(const Answer& answer);

/// The same of one that has no record, such as a language model.
void add_why_figure(const std::string& name, const std::string& title, const Why& why,
                    Figures& figures);

}  // namespace lacuna
