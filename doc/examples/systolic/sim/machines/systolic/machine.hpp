// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machines/machine_kind.hpp"

namespace lacuna {

MachineKind systolic_kind();

}  // namespace lacuna
