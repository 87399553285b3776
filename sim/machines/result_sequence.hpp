// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/report/result.hpp"

namespace lacuna {

/// Adds the cycles of `part` to those of its layer and kind.
void merge(std::vector<StackPart>& stack, const StackPart& part);

/// Puts what the same units did before an operation in front of its result: cycles, counters,
/// stacks, bytes, phases, events and intervals are those of both, one after the other. Peaks, notes
/// and the explanation stay those of `result`.
void put_before(OpResult before, OpResult& result);

/// Puts what the same units did after an operation behind its result, likewise.
void put_after(OpResult after, OpResult& result);

}  // namespace lacuna
