// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/event_log.hpp"
#include "tests/support/wse/oracle/queue.hpp"

namespace lacuna::wse::oracle {

/// A color that a core sends: its output queue, and the link from there to the router.
struct Output {
  Color color{};
  Queue* queue = nullptr;
  Queue* ramp = nullptr;
};

/// A color that comes down a core's ramp.
struct Input {
  Color color{};
  Queue* queue = nullptr;
};

/// What cores of streamed products and of gradients have in common.
class KernelCore {
 public:
  KernelCore(const CoreParams& params, std::uint32_t unit, std::uint32_t row, std::uint32_t column)
      : params_(params), unit_(unit), row_(row), column_(column) {}
  virtual ~KernelCore() = default;
  KernelCore(const KernelCore&) = delete;
  KernelCore& operator=(const KernelCore&) = delete;

  std::vector<Input> in;
  std::vector<Output> out;  // in the order of the routes
  Queue* weights = nullptr;
  CoreCounters counters;

  virtual void cycle(Cycle now, std::vector<Event>& log) = 0;
  virtual bool is_finished() const = 0;
  virtual std::vector<float> result() const { return {}; }
  /// Words of results that came from other groups of columns.
  virtual std::vector<std::uint32_t> taken() const { return {}; }

  /// Runs of beats that one context issued in one cycle after the other.
  void log_runs(std::vector<Event>& log) const;

 protected:
  /// One word that was in an output queue before this cycle goes up the ramp, the queues in turn.
  void send_word(Cycle now);

  /// Of contexts 0 (the main thread) to count - 1, the one that issues.
  template <class Can>
  std::optional<unsigned> choose(unsigned count, const Can& can) {
    unsigned first = 0;
    switch (params_.sched.value()) {
      case Sched::main_first:
        break;
      case Sched::ut_first:
        first = 1;
        break;
      case Sched::round_robin:
        first = turn_;
        break;
    }
    for (unsigned i = 0; i < count; ++i) {
      const unsigned context = (first + i) % count;
      if (!can(context)) continue;
      turn_ = context + 1;
      return context;
    }
    return std::nullopt;
  }

  Queue& input(Color color) const;
  Queue& output(Color color) const;

  const CoreParams& params_;
  const std::uint32_t unit_;
  const std::uint32_t row_;
  const std::uint32_t column_;
  std::vector<std::optional<unsigned>> issued_;  // by cycle

 private:
  std::size_t next_out_ = 0;
  unsigned turn_ = 0;
};

}  // namespace lacuna::wse::oracle
