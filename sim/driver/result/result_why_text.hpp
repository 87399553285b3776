// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/why.hpp"

namespace lacuna {

/// Why a run is not faster as JSON, for what has no record.
std::string why_json_text(const Why& why);

}  // namespace lacuna
