// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/code_cursor.hpp"
#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// Serves the workers of a launched set in turn, one issue slot per clock, until all have exited
/// and what the supervisor does ahead of them is over.
class BarrelScheduler {
 public:
  explicit BarrelScheduler(std::uint32_t slots) : workers_(slots), cursors_(slots) {}

  enum class Slot : std::uint8_t { issued, conflict, empty, supervisor };

  /// Launches set `set` of `vertex`. The first slot is served in the clock that follows. Bundles
  /// that take no time are counted in `passed`.
  void launch(const Program& program, const Vertex& vertex, std::uint32_t set, std::uint64_t ahead,
              std::uint64_t* passed);

  bool live(std::uint32_t worker) const { return workers_[worker].left > 0; }

  /// True if nothing remains to be done: the step takes no further clock.
  bool over() const { return live_ == 0 && slot_ == 0 && clock_ >= until_; }

  /// Serves one slot, and counts the bundle in `issues`.
  Slot step(std::uint64_t* issues) {
    exited_ = kNone;
    ++clock_;
    Worker& worker = workers_[slot_];
    if (worker.left == 0) return pass();
    const Slot result = worker.lost > 0 ? Slot::conflict : Slot::issued;
    if (result == Slot::issued) {
      ++issues[worker.bundle];
      if (conflicts_ != nullptr) worker.lost = conflicts_[worker.bundle] + 1;
    }
    if (worker.lost > 0) --worker.lost;
    if (worker.lost == 0 && --worker.left == 0) next_bundles(worker);
    next_slot();
    return result;
  }

  /// The worker that exited in the last step, or kNone.
  std::uint32_t exited() const { return exited_; }

 private:
  /// What a slot needs of a worker in most clocks, side by side for all of a tile.
  struct Worker {
    std::uint64_t left = 0;    // of its present bundles; 0: it is out
    std::uint32_t bundle = 0;  // their kind
    std::uint32_t lost = 0;    // slots still to be lost to the last one
  };

  /// A slot without a live worker.
  Slot pass() {
    if (live_ == 0 && slot_ == 0) return Slot::supervisor;
    next_slot();
    return Slot::empty;
  }

  /// Once all workers are out, slots are no longer told apart: the supervisor has them all.
  void next_slot() {
    if (++slot_ < workers_.size()) return;
    slot_ = 0;
    if (all_live_ && live_ < workers_.size()) {
      all_live_ = false;
      until_ = clock_ + ahead_;
    }
  }

  void next_bundles(Worker& worker);

  std::vector<Worker> workers_;
  const std::uint32_t* conflicts_ = nullptr;
  std::uint32_t live_ = 0;
  std::uint32_t slot_ = 0;  // to be served next
  std::uint32_t exited_ = kNone;
  bool all_live_ = false;
  std::uint64_t clock_ = 0;  // since the launch
  std::uint64_t ahead_ = 0;
  std::uint64_t until_ = 0;  // work ahead lasts until then; meaningful once a worker is out
  std::vector<CodeCursor> cursors_;
};

}  // namespace lacuna::ipu
