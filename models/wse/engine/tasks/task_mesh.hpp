// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/router.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/task_core.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// The routers and cores of a TaskProgram, joined by links; by core, row-major.
struct TaskMeshPlan {
  std::vector<std::vector<RouterInput>> inputs;
  std::vector<TaskPorts> ports;
};

/// Makes the links of `program` in `links`. InternalError if a route leads where nothing takes
/// it, or a program names a queue that the cores do not have.
TaskMeshPlan build_task_mesh(const TaskParams& params, const TaskProgram& program,
                             LinkArray& links);

/// ParameterError if an instruction takes or sends more words in an issue slot than the queue that
/// its core uses for them can hold.
void require_queues(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
