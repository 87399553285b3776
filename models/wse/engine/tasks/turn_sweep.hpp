// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/engine/tasks/turn_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// Runs a program whose cores send along their lines in turn as Engine::event runs it unit by
/// unit, with the same counters, but all cores and routers at once, as lanes of small integers.
/// nullopt if the program is of another kind, or does not come to its end.
std::optional<TaskOutcome> sweep_turns(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
