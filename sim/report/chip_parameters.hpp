// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The parameters of the chip of a run, as a chip alone has them: all of a machine; of a system
/// those that begin with chip., without that.
std::vector<ParameterValue> chip_parameters(const RunRecord& run);

}  // namespace lacuna
