// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "tests/support/wse/draw.hpp"

namespace lacuna::wse {

/// Draws every parameter of a set from what its declaration allows: one of its words, or a number
/// of its range, mostly near the lower end, where mechanisms meet. Text is left alone. What is
/// declared later is drawn like the rest.
void draw_parameters(ParameterSet& set, Draw& draw);

/// Hardware of cores that run tasks, with random depths of queues.
TaskParams random_task_hardware(Draw& draw);

/// Draws what tasks cost, aside from all else of a case.
void draw_task_costs(TaskParams& params, std::uint64_t seed);

/// Every parameter that is not as declared, as `path=value`, for the report of a failed case.
std::string changed_parameters(const TaskParams& params);

}  // namespace lacuna::wse
