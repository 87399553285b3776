// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/barrel_scheduler.hpp"

namespace lacuna::ipu {

void WorkerContext::launch(const Program& program, std::uint32_t worker) {
  left_ = lost_ = 0;
  conflicts_ = program.conflicts.empty() ? nullptr : program.conflicts.data();
  if (worker == kNone) return;
  cursor_.start(program, program.workers[worker]);
  if (cursor_.next()) left_ = cursor_.count();
}

void BarrelScheduler::launch(const Program& program, const Vertex& vertex, std::uint32_t set,
                             std::uint64_t ahead) {
  live_ = 0;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    workers_[w].launch(program, worker_of(program, vertex, set, w));
    if (workers_[w].live()) ++live_;
  }
  slot_ = 0;
  clock_ = 0;
  exited_ = kNone;
  ahead_ = ahead;
  // A worker that has nothing to do leaves its slot to the supervisor at once.
  all_live_ = live_ == workers_.size();
  until_ = all_live_ ? 0 : ahead;
}

BarrelScheduler::Slot BarrelScheduler::step(std::uint64_t* issues) {
  exited_ = kNone;
  const bool running = live_ > 0 || slot_ > 0;
  Slot result = running ? Slot::empty : Slot::supervisor;
  WorkerContext& worker = workers_[slot_];
  if (worker.live()) {
    const std::uint32_t bundle = worker.serve();
    result = bundle == kNone ? Slot::conflict : Slot::issued;
    if (bundle != kNone) ++issues[bundle];
    if (!worker.live()) {
      exited_ = slot_;
      --live_;
    }
  }
  ++clock_;
  // Once all workers are out, slots are no longer told apart: the supervisor has them all.
  if (running && ++slot_ == workers_.size()) {
    slot_ = 0;
    if (all_live_ && live_ < workers_.size()) {
      all_live_ = false;
      until_ = clock_ + ahead_;
    }
  }
  return result;
}

}  // namespace lacuna::ipu
