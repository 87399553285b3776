// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/engine/tasks/shift_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// Runs a program that shifts blocks around rings as Engine::event runs it unit by unit, with the
/// same counters, but all cores and routers at once, as lanes of small integers. nullopt if the
/// program is of another kind, or does not come to its end.
std::optional<TaskOutcome> sweep_shifts(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
