// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

inline unsigned queue_of(const std::vector<QueueUse>& uses, Color color, unsigned otherwise) {
  for (const QueueUse& use : uses) {
    if (use.color == color) return use.queue;
  }
  return otherwise;
}

/// The queues, by their numbers, in which words of a color wait for a core, and to be sent by it.
inline unsigned in_queue(const CoreProgram& core, Color color) {
  return queue_of(core.in, color, 0);
}
inline unsigned out_queue(const CoreProgram& core, Color color) {
  return queue_of(core.out, color, 2);
}

/// ParameterError if an instruction takes or sends more words in an issue slot than the queue that
/// its core uses for them can hold.
void require_queues(const TaskParams& params, const TaskProgram& program);

}  // namespace lacuna::wse
