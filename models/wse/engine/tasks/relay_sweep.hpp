// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/engine/tasks/relay_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// Runs cores that hand words from neighbour to neighbour as Engine::event runs them unit by unit,
/// with the same counters, but word by word: when each word leaves each queue on its way follows
/// from when it came, when the word before it left and when the queue ahead had room. nullopt if
/// the program is of another kind, or does not come to its end.
std::optional<TaskOutcome> sweep_relays(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
