// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// Of points with chosen layouts: how many times as fast as planned each product is, over its
/// planned cycles, by block. With measurements also simulated over published, as planned and at the
/// layout. None where there is nothing to show.
Figures layout_figures(const Outcomes& outcomes);

}  // namespace lacuna
