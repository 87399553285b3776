// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/report/result.hpp"

namespace lacuna {

/// Throws InternalError, naming the counter and what it contradicts, if `result` holds a number
/// that cannot be: more useful FLOP or bytes than the peaks allow, a cycle stack that does not
/// sum to units x cycles, words received that were not sent, products that were neither formed,
/// gated nor skipped, busy and idle cycles that are not all cycles.
void check_possible(const OpResult& result);

}  // namespace lacuna
