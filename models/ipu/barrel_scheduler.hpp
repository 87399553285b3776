// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/code_cursor.hpp"
#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// One of a tile's workers: a program, and how far it is.
class WorkerContext {
 public:
  bool live() const { return left_ > 0; }

  /// Takes up `worker`, which may be kNone.
  void launch(const Program& program, std::uint32_t worker);

  /// Uses a slot: issues the next bundle and returns its kind, or kNone if the slot is lost to a
  /// conflict of the bundle before.
  std::uint32_t serve() {
    std::uint32_t bundle = kNone;
    if (lost_ > 0) {
      --lost_;
    } else {
      bundle = cursor_.bundle();
      if (conflicts_ != nullptr) lost_ = conflicts_[bundle];
    }
    if (lost_ == 0 && --left_ == 0 && cursor_.next()) left_ = cursor_.count();
    return bundle;
  }

 private:
  CodeCursor cursor_;
  std::uint64_t left_ = 0;  // of the bundles at the cursor
  const std::uint32_t* conflicts_ = nullptr;
  std::uint32_t lost_ = 0;  // slots still to be lost to the last bundle
};

/// Serves the workers of a launched set in turn, one issue slot per clock, until all have exited
/// and what the supervisor does ahead of them is over.
class BarrelScheduler {
 public:
  explicit BarrelScheduler(std::uint32_t slots) : workers_(slots) {}

  enum class Slot : std::uint8_t { issued, conflict, empty, supervisor };

  /// Launches set `set` of `vertex`. The first slot is served in the clock that follows.
  void launch(const Program& program, const Vertex& vertex, std::uint32_t set, std::uint64_t ahead);

  bool live(std::uint32_t worker) const { return workers_[worker].live(); }

  /// True if nothing remains to be done: the step takes no further clock.
  bool over() const { return live_ == 0 && slot_ == 0 && clock_ >= until_; }

  /// Serves one slot, and counts the bundle in `issues`.
  Slot step(std::uint64_t* issues);

  /// The worker that exited in the last step, or kNone.
  std::uint32_t exited() const { return exited_; }

 private:
  std::vector<WorkerContext> workers_;
  std::uint32_t live_ = 0;
  std::uint32_t slot_ = 0;  // to be served next
  std::uint32_t exited_ = kNone;
  std::uint64_t clock_ = 0;  // since the launch
  std::uint64_t ahead_ = 0;
  std::uint64_t until_ = 0;  // work ahead lasts until then; meaningful once a worker is out
  bool all_live_ = false;
};

}  // namespace lacuna::ipu
