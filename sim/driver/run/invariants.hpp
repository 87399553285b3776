// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/report/result.hpp"

namespace lacuna {

/// Throws InternalError if `result` holds a number that cannot be, and names the counter and what
/// it contradicts. These are: more useful FLOP or bytes than the peaks allow; a cycle stack that is
/// not units x cycles; words received that were not sent; products neither formed, gated nor
/// skipped; busy and idle cycles that are not all cycles.
void check_possible(const OpResult& result);

}  // namespace lacuna
