// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/barrel_scheduler.hpp"

namespace lacuna::ipu {

void BarrelScheduler::launch(const Program& program, const Vertex& vertex, std::uint32_t set,
                             std::uint64_t ahead, std::uint64_t* passed) {
  conflicts_ = program.conflicts.empty() ? nullptr : program.conflicts.data();
  live_ = 0;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    workers_[w] = {};
    const std::uint32_t code = worker_of(program, vertex, set, w);
    if (code == kNone) continue;
    cursors_[w].start(program, program.workers[code], passed);
    if (!cursors_[w].next()) continue;
    workers_[w] = {cursors_[w].count(), cursors_[w].bundle(), 0};
    ++live_;
  }
  slot_ = 0;
  clock_ = 0;
  exited_ = kNone;
  ahead_ = ahead;
  // A worker that has nothing to do leaves its slot to the supervisor at once.
  all_live_ = live_ == workers_.size();
  until_ = all_live_ ? 0 : ahead;
}

/// The worker at the present slot goes on in its code, or exits.
void BarrelScheduler::next_bundles(Worker& worker) {
  CodeCursor& cursor = cursors_[slot_];
  if (cursor.next()) {
    worker.left = cursor.count();
    worker.bundle = cursor.bundle();
    return;
  }
  exited_ = slot_;
  --live_;
}

}  // namespace lacuna::ipu
