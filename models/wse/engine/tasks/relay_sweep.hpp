// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/engine/tasks/relay_program.hpp"
#include "models/wse/task_outcome.hpp"

namespace lacuna::wse {

/// A closed form: cores that hand words from neighbour to neighbour, with the counters of the
/// definition, word by word instead of cycle by cycle. When a word leaves a queue on its way
/// follows from when it came, when the word before it left, when the queue ahead had room and when
/// the link opens; latencies, capacities and links are those of QueueShapes and LinkRule, beats
/// those of BeatCost. It applies to any program
/// - whose routers pass the words of at most one color from the ramp to one neighbour, and those of
///   at most one color from a neighbour to the ramp: nothing competes for a port, nothing is
///   copied, no switch moves, nothing is filtered;
/// - whose cores run at most one task, active from the start, of moves and scalar code of the main
///   thread, a word in a beat, and no two send to the same core;
/// on hardware whose links are alike and whose slots, ramps and links lanes know (lanes_can.hpp);
/// and that comes to its end with no word left. All else is refused with nullopt.
std::optional<TaskOutcome> sweep_relays(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
