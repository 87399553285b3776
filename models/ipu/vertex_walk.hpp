// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/ipu/barrel_scheduler.hpp"
#include "models/ipu/chip_stats.hpp"
#include "models/ipu/code_cursor.hpp"
#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// Executes a vertex clock by clock: its supervisor's code, and the workers that this launches.
class VertexWalk {
 public:
  explicit VertexWalk(std::uint32_t slots) : barrel_(slots) {}

  /// Begins `vertex`; `launched()` is called whenever a set of workers starts. False if the vertex
  /// takes no time. Bundles that take none are counted in `passed`, by bundle.
  template <class Launched>
  bool start(const Program& program, const Vertex& vertex, std::uint64_t* passed,
             const Launched& launched) {
    program_ = &program;
    vertex_ = &vertex;
    passed_ = passed;
    lost_ = 0;
    supervisor_.start(program, vertex.supervisor, passed);
    return advance(launched);
  }

  /// Performs one clock and adds what it issues to `issues`, by bundle. What it was spent on.
  Spend step(std::uint64_t* issues) { return running_ ? barrel_step(issues) : own_step(issues); }

  /// After a step: goes on to what takes the next clock. False if the vertex has ended.
  template <class Launched>
  bool go_on(const Launched& launched) {
    if (running_ ? !barrel_.over() : left_ > 0) return true;
    return advance(launched);
  }

  bool live(std::uint32_t worker) const { return barrel_.live(worker); }

  /// The worker that exited in the last step, or kNone.
  std::uint32_t exited() const { return running_ ? barrel_.exited() : kNone; }

 private:
  /// Brings the supervisor to the next thing that takes time.
  template <class Launched>
  bool advance(const Launched& launched) {
    while (supervisor_.next()) {
      running_ = supervisor_.is_run();
      if (!running_) {
        left_ = supervisor_.count();
        return true;
      }
      barrel_.launch(*program_, *vertex_, supervisor_.set(), supervisor_.ahead(), passed_);
      if (barrel_.over()) continue;
      launched();
      return true;
    }
    return false;
  }

  /// Issues one bundle of the supervisor, or loses a clock to the one before.
  Spend own_step(std::uint64_t* issues) {
    Spend spent = Spend::conflict;
    if (lost_ > 0) {
      --lost_;
    } else {
      spent = Spend::supervisor;
      ++issues[supervisor_.bundle()];
      lost_ = conflicts_of(*program_, supervisor_.bundle());
    }
    if (lost_ == 0) --left_;
    return spent;
  }

  Spend barrel_step(std::uint64_t* issues) {
    switch (barrel_.step(issues)) {
      case BarrelScheduler::Slot::issued:
        return Spend::worker;
      case BarrelScheduler::Slot::conflict:
        return Spend::conflict;
      case BarrelScheduler::Slot::empty:
        return Spend::slot;
      case BarrelScheduler::Slot::supervisor:
        break;
    }
    return Spend::supervisor;
  }

  const Program* program_ = nullptr;
  const Vertex* vertex_ = nullptr;
  std::uint64_t* passed_ = nullptr;
  BarrelScheduler barrel_;
  CodeCursor supervisor_;
  bool running_ = false;    // workers are running
  std::uint64_t left_ = 0;  // clocks of the supervisor's instruction
  std::uint32_t lost_ = 0;  // clocks still to be lost to the supervisor's last bundle
};

}  // namespace lacuna::ipu
