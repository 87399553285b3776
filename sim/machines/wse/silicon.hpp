// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/silicon.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// What a wafer is made of, all its cores.
Silicon wafer_silicon(const WseParams& params);

}  // namespace lacuna
