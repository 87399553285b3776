// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/result_builder.hpp"

#include <iterator>
#include <utility>

#include "sim/base/ranges.hpp"

namespace lacuna {

CountsSoFar counts_of(std::initializer_list<const StatGroup*> groups) {
  CountsSoFar counts;
  for (const StatGroup* const group : groups) {
    group->add_to(counts.statistics);
    group->add_to(counts.stack);
  }
  return counts;
}

std::vector<DeclaredStatistic> declared(std::initializer_list<const StatGroup*> groups) {
  std::vector<DeclaredStatistic> all;
  for (const StatGroup* const group : groups) {
    std::vector<StatEntry> entries;
    group->add_to(entries);
    for (StatEntry& entry : entries) {
      const auto same = [&](const DeclaredStatistic& known) {
        return known.entry.path == entry.path && known.entry.name == entry.name;
      };
      if (any_of(all, same)) continue;
      DeclaredStatistic& next = all.emplace_back();
      for (const CycleCounter* const part : group->cycle_stack()) {
        if (part->name() == entry.name) next.layer = layer_name(part->layer());
      }
      next.entry = std::move(entry);
    }
  }
  return all;
}

ResultBuilder::ResultBuilder(const Execution& execution, double clock_ghz, std::uint64_t units)
    : execution_(execution) {
  result.clock_ghz = clock_ghz;
  result.units = units;
}

void ResultBuilder::products(std::uint64_t algorithmic, std::uint64_t useful) {
  result.mac_algorithmic = algorithmic;
  result.mac_useful = useful;
}

void ResultBuilder::counted(CountsSoFar counts, std::uint64_t sram_read_bytes,
                            std::uint64_t sram_write_bytes) {
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(result.statistics, counts.statistics);
  append(result.stack, counts.stack);
  result.sram_read_bytes = sram_read_bytes;
  result.sram_write_bytes = sram_write_bytes;
  result.fabric_bytes = counts.fabric_bytes;
  result.io_bytes = counts.io_bytes;
}

void ResultBuilder::group(const StatGroup& group) {
  group.add_to(result.statistics);
  group.add_to(result.stack);
}

void ResultBuilder::events(const std::vector<Event>& events, Cycle begin) {
  for (Event event : events) {
    event.cycle += begin;
    result.events.push_back(event);
  }
}

void ResultBuilder::event_names(std::vector<std::string> units, std::vector<std::string> kinds) {
  result.event_units = std::move(units);
  result.event_kinds = std::move(kinds);
}

void ResultBuilder::one_phase(const std::string& name) {
  result.phases = {{name, result.cycles, result.sram_read_bytes + result.sram_write_bytes,
                    result.fabric_bytes, result.io_bytes}};
}

OpResult ResultBuilder::take() {
  // a look may have been due at the end, or after it
  while (!borders_.empty() && borders_.back().first >= result.cycles) borders_.pop_back();
  if (execution_.interval != 0) result.intervals = intervals_of(borders_, result);
  return std::move(result);
}

}  // namespace lacuna
