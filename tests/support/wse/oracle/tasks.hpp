// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse::oracle {

/// What `program` does by the documents, with values if it has memories, and all events. Nothing
/// if it is not over after `patience` cycles: it waits for ever, or takes long.
std::optional<TaskOutcome> run_tasks(const TaskParams& params, const TaskProgram& program,
                                     Cycle patience);

}  // namespace lacuna::wse::oracle
