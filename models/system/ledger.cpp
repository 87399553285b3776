// SPDX-License-Identifier: Apache-2.0
#include "models/system/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

/// One memory while a program is replayed.
class Level {
 public:
  void apply(const Holding& entry, MemoryUse& most) {
    std::uint64_t& bytes = now_.bytes[static_cast<std::size_t>(entry.what)];
    if (entry.bytes < 0 && bytes < static_cast<std::uint64_t>(-entry.bytes)) {
      throw InternalError(fmt::format("place {} gives back {} B of {} and has {}", entry.place,
                                      -entry.bytes, held_name(entry.what), bytes));
    }
    bytes += static_cast<std::uint64_t>(entry.bytes);
    if (entry.bytes > 0) look(most);
  }

  /// The same many times over; what is there in between is not looked at.
  void shift(const Holding& entry, std::uint64_t times) {
    now_.bytes[static_cast<std::size_t>(entry.what)] +=
        static_cast<std::uint64_t>(entry.bytes) * times;
  }

  void look(MemoryUse& most) const {
    if (now_.total() > most.total()) most = now_;
  }

 private:
  MemoryUse now_;
};

class Replay {
 public:
  Replay(std::size_t phases, std::size_t places)
      : levels_(places), memory_{std::vector(phases, std::vector<MemoryUse>(places)), {}} {}

  void apply(const std::vector<Holding>& entries, std::size_t phase) {
    for (const Holding& entry : entries) {
      if (entry.space == Holding::Space::streaming) {
        streaming_.apply(entry, memory_.streaming);
      } else {
        levels_.at(entry.place).apply(entry, memory_.chips[phase].at(entry.place));
      }
    }
  }

  /// A segment that is run many times over takes or gives the same each time: it is fullest in the
  /// first of them or in the last.
  void repeat(const std::vector<Holding>& entries, const Repeat& times) {
    apply(entries, times.phase);
    if (times.times < 2) return;
    for (const Holding& entry : entries) {
      const bool outside = entry.space == Holding::Space::streaming;
      (outside ? streaming_ : levels_.at(entry.place)).shift(entry, times.times - 2);
    }
    apply(entries, times.phase);
  }

  void look(std::size_t phase) {
    for (std::size_t place = 0; place < levels_.size(); ++place) {
      levels_[place].look(memory_.chips[phase][place]);
    }
  }

  ProgramMemory& memory() { return memory_; }

 private:
  std::vector<Level> levels_;
  Level streaming_;
  ProgramMemory memory_;
};

}  // namespace

std::uint64_t MemoryUse::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

ProgramMemory memory_of(const Program& program, std::size_t places) {
  std::size_t phases = 0;
  for (const Repeat& repeat : program.order) phases = std::max(phases, repeat.phase + 1);
  Replay replay(phases, places);
  for (const Repeat& repeat : program.order) {
    replay.apply(repeat.before, repeat.phase);
    replay.look(repeat.phase);
    replay.repeat(program.segments[repeat.segment].memory, repeat);
  }
  return std::move(replay.memory());
}

ProgramWork work_of(const Program& program) {
  ProgramWork work;
  for (const Repeat& repeat : program.order) {
    const double times = static_cast<double>(repeat.times) / static_cast<double>(repeat.every);
    const Segment& segment = program.segments[repeat.segment];
    work.joules.add(segment.joules, times);
    work.flop += static_cast<double>(segment.flop) * times;
  }
  return work;
}

double seconds_of(const Program& program, const ProgramResult& run, const char* name) {
  double seconds = 0;
  for (const Repeat& repeat : program.order) {
    if (program.segments[repeat.segment].name != name) continue;
    seconds += 1e-9 * static_cast<double>(run.segments[repeat.segment].ns * repeat.times) /
               static_cast<double>(repeat.every);
  }
  return seconds;
}

DrawnBeside drawn_beside(const SystemParams& params, const Fabric& fabric, const ProgramResult& run,
                         const StandingWatts& watts) {
  DrawnBeside drawn;
  const double seconds = static_cast<double>(run.ns) * 1e-9;
  for (const TimeStack& chip : run.chips) {
    std::uint64_t busy = 0;
    for (const Use use :
         {Use::forward, Use::recompute, Use::backward, Use::optimizer, Use::exchange}) {
      busy += chip[static_cast<std::size_t>(use)];
    }
    drawn.idle.add(watts.waiting, static_cast<double>(run.ns - busy) * 1e-9);
    drawn.idle.add(watts.always, seconds);
  }
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    const double bits = 8 * static_cast<double>(run.bytes[i]);
    const bool memory = fabric.resources()[i].kind == ResourceKind::ddr;
    const double price = memory ? params.memory_pj_bit : params.link_pj_bit;
    (memory ? drawn.streaming : drawn.links) += bits * price * 1e-12;
  }
  drawn.machines = params.machine_w * params.machines * seconds;
  drawn.hosts = params.hosts_w * seconds;
  return drawn;
}

}  // namespace lacuna::system
