// SPDX-License-Identifier: Apache-2.0
#include "models/system/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

/// One memory while a program is replayed.
class Level {
 public:
  /// The entry of each of so many chips.
  void apply(const Holding& entry, std::uint64_t chips, MemoryUse& most) {
    std::uint64_t& bytes = now_.bytes[entry.what];
    if (entry.bytes < 0 && bytes < static_cast<std::uint64_t>(-entry.bytes) * chips) {
      throw InternalError(fmt::format("place {} gives back {} B of {} and has {}", entry.place,
                                      -entry.bytes, kHeldNames[entry.what], bytes));
    }
    add(entry, chips);
    if (entry.bytes > 0) look(most);
  }

  /// The same many times over; what is there in between is not looked at.
  void add(const Holding& entry, std::uint64_t times) {
    now_.bytes[entry.what] += static_cast<std::uint64_t>(entry.bytes) * times;
  }

  void look(MemoryUse& most) const {
    if (now_.total() > most.total()) most = now_;
  }

 private:
  MemoryUse now_;
};

/// The memories of all places, and those of banks behind them.
class Replay {
 public:
  Replay(std::size_t places, const std::vector<StreamingBank>& banks)
      : places_(places), banks_(banks), levels_(places + banks.size()) {}

  /// A segment that is run many times over takes or gives the same each time: it is fullest in the
  /// first of them or in the last.
  std::vector<MemoryUse> run(const std::vector<Holding>& entries, const Repeat& times) {
    std::vector<MemoryUse> most(levels_.size());
    apply(times.before, most);
    for (std::size_t i = 0; i < most.size(); ++i) levels_[i].look(most[i]);
    apply(entries, most);
    if (times.times < 2) return most;
    for (const Holding& entry : entries) {
      for_each_level(entry, [&](std::size_t level, std::uint64_t chips) {
        levels_.at(level).add(entry, chips * (times.times - 2));
      });
    }
    apply(entries, most);
    return most;
  }

 private:
  /// The levels that an entry changes, and how many chips have it there.
  template <typename Visit>
  void for_each_level(const Holding& entry, const Visit& visit) const {
    if (entry.space == Holding::Space::chip) return visit(entry.place, 1);
    for (std::size_t bank = 0; bank < banks_.size(); ++bank) {
      const std::uint64_t chips = banks_[bank].at(entry.place);
      if (chips != 0) visit(places_ + bank, chips);
    }
  }

  void apply(const std::vector<Holding>& entries, std::vector<MemoryUse>& most) {
    for (const Holding& entry : entries) {
      for_each_level(entry, [&](std::size_t level, std::uint64_t chips) {
        levels_.at(level).apply(entry, chips, most[level]);
      });
    }
  }

  std::size_t places_;
  const std::vector<StreamingBank>& banks_;
  std::vector<Level> levels_;
};

void keep_larger(const MemoryUse& use, MemoryUse& most) {
  if (use.total() > most.total()) most = use;
}

}  // namespace

std::uint64_t MemoryUse::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::string MemoryAccount::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kHeld; ++i) {
    if (use.bytes[i] != 0) parts.push_back(fmt::format("{} {}", kHeldNames[i], use.bytes[i]));
  }
  return fmt::format("needs {} B and has {} B: {}", use.total(), capacity, fmt::join(parts, ", "));
}

std::vector<StreamingBank> machine_banks(const SystemParams& params, std::size_t places,
                                         unsigned tensor, unsigned replicas) {
  std::set<StreamingBank> banks;
  StreamingBank bank(places);
  const std::uint64_t chips = places * tensor * replicas;
  for (std::uint64_t chip = 0; chip < chips;) {
    ++bank[chip / tensor % places];
    if (++chip % params.machine_chips != 0 && chip != chips) continue;
    banks.insert(std::exchange(bank, StreamingBank(places)));
  }
  return {banks.begin(), banks.end()};
}

std::string StreamingAccount::text() const {
  return fmt::format("the streaming memory of a machine needs {} B and has {} B", bytes, capacity);
}

StreamingAccount streaming_of(const SystemParams& params, const ProgramMemory& memory) {
  return {memory.streaming.total(),
          static_cast<std::uint64_t>(std::llround(params.gateway.ddr_gb * 1e9))};
}

std::vector<std::vector<MemoryUse>> memory_over(const Program& program, std::size_t places,
                                                const std::vector<StreamingBank>& banks) {
  Replay replay(places, banks);
  std::vector<std::vector<MemoryUse>> all;
  for (const Repeat& repeat : program.order) {
    all.push_back(replay.run(program.segments[repeat.segment].memory, repeat));
  }
  return all;
}

ProgramMemory memory_of(const Program& program, std::size_t places, std::uint64_t capacity,
                        const std::vector<StreamingBank>& banks) {
  const std::vector<std::vector<MemoryUse>> all = memory_over(program, places, banks);
  ProgramMemory memory;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t phase = program.order[i].phase;
    while (memory.chips.size() < (phase + 1) * places) {
      const std::size_t next = memory.chips.size();
      memory.chips.push_back({next / places, static_cast<unsigned>(next % places), {}, capacity});
    }
    for (std::size_t place = 0; place < places; ++place) {
      keep_larger(all[i][place], memory.chips[phase * places + place].use);
    }
    for (std::size_t bank = places; bank < all[i].size(); ++bank) {
      keep_larger(all[i][bank], memory.streaming);
    }
  }
  return memory;
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

EnergyRange EnergyAccount::total() const {
  EnergyRange sum;
  for (const SystemEnergyPart& part : parts) sum.add(part.joules);
  return sum;
}

EnergyAccount energy_of(const CommonSystemParams& params, const RunResult& run,
                        const EnergyRange& operations, const StandingWatts& watts, double steps) {
  EnergyRange idle;
  const auto ns = static_cast<double>(run.ns);
  const double seconds = ns * 1e-9;
  for (const TimeStack& chip : run.chips) {
    double waits = ns;
    for (std::size_t use = 0; use < kUses; ++use) {
      const bool at_work = text_of(static_cast<Use>(use)).layer == Layer::compute;
      if (at_work || static_cast<Use>(use) == Use::exchange)
        waits -= static_cast<double>(chip[use]);
    }
    idle.add(watts.waiting, waits * 1e-9);
    idle.add(watts.always, seconds);
  }
  EnergyRange idle_of_step;
  idle_of_step.add(idle, 1 / steps);
  EnergyAccount account{
      {{"chips", "operations on chips", operations}, {"idle", "chips that wait", idle_of_step}}};
  const auto add = [&](const char* key, const char* text, double joules) {
    const double each = joules / steps;
    account.parts.push_back({key, text, {each, each, each}});
  };
  add("links", "links and gateways", 8 * run.carried.links * params.link_pj_bit * 1e-12);
  add("streaming", "streaming memory", 8 * run.carried.memory * params.memory_pj_bit * 1e-12);
  add("machines", "machines", params.machines_watts() * seconds);
  add("hosts", "hosts", params.hosts_watts() * seconds);
  return account;
}

std::vector<double> watts_over(const SystemParams& params, const Program& program,
                               const ProgramResult& run, const StandingWatts& watts) {
  std::vector<double> all;
  for (const Repeat& repeat : program.order) {
    const SegmentResult& segment = run.segments[repeat.segment];
    const EnergyAccount energy =
        energy_of(params, segment, program.segments[repeat.segment].joules, watts);
    all.push_back(energy.total().nominal / (static_cast<double>(segment.ns) * 1e-9));
  }
  return all;
}

}  // namespace lacuna::system
