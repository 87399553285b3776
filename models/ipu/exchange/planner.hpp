// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/exchange/plan.hpp"

namespace lacuna::ipu {

/// Schedules `list` on the chip's tiles. Deterministic; the order of transfers in the list is a
/// hint only.
ExchangePlan plan_exchange(const ChipParams& chip, const TransferList& list);

}  // namespace lacuna::ipu
