// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

  /// The next word of the stream goes into the task register, unless that is full or the main
  /// thread is `active` and may not be overlapped. Returns whether it does.
  bool take_wavelet(Cycle now, bool active, Color stream, std::vector<Event>& log);

  /// Of contexts 0 (the main thread) to count - 1, those that issue: one for both slots, or one of
  /// the main thread and one of the others. A slot is nobody's before it is `free`.
  template <class Can>
  std::array<std::optional<unsigned>, 2> choose(Cycle now, unsigned count,
                                                std::array<Cycle, 2> free, const Can& can) {
    const bool two = params_.slots == 2U;
    std::array<std::optional<unsigned>, 2> chosen;
    if (two && free[0] <= now && can(0U)) chosen[0] = 0;
    if (free[two ? 1 : 0] > now) return chosen;
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
      if ((two && context == 0) || !can(context)) continue;
      turn_ = context + 1;
      chosen[two ? 1 : 0] = context;
      break;
    }
    return chosen;
  }

  /// Books a cycle in which `chosen` issue, the main thread's if it does or its last beat keeps its
  /// slot, or else for why(). Returns the microthread that issues.
  template <class Why>
  std::optional<unsigned> book(const std::array<std::optional<unsigned>, 2>& chosen, bool main_kept,
                               const Why& why) {
    for (std::size_t slot = 0; slot < 2; ++slot) issued_.at(slot).push_back(chosen.at(slot));
    const bool main = chosen[0] == 0U;
    const std::optional<unsigned> other = main ? chosen[1] : chosen[0] ? chosen[0] : chosen[1];
    if (main) {
      ++counters.cycles[kFma];
    } else if (other && !main_kept) {
      ++counters.cycles[kReduce];
    } else {
      ++counters.cycles.at(why());
    }
    if (other && (main || main_kept)) ++counters.beside;
    return other;
  }

  Queue& input(Color color) const;
  Queue& output(Color color) const;

  const CoreParams& params_;
  const std::uint32_t unit_;
  const std::uint32_t row_;
  const std::uint32_t column_;
  std::array<std::vector<std::optional<unsigned>>, 2> issued_;  // by slot and cycle

  bool full_ = false;  // the task register,
  Wavelet task_;       // and what is in it,
  Cycle ready_ = 0;    // which begins then

 private:
  std::size_t next_out_ = 0;
  unsigned turn_ = 0;
};

}  // namespace lacuna::wse::oracle
