// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/result_sequence.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {
namespace {

/// The place of a counter (or part of a stack) among `known`, at the end if it is new there.
std::size_t place_of(const StatEntry& entry, std::vector<StatEntry>& known) {
  const auto same = [&](const StatEntry& other) {
    return other.path == entry.path && other.name == entry.name;
  };
  StatEntry fresh = entry;
  fresh.value = 0;
  return static_cast<std::size_t>(&find_or_add(known, same, fresh) - known.data());
}

std::size_t place_of(const StackPart& part, std::vector<StackPart>& known) {
  const auto same = [&](const StackPart& other) {
    return other.layer == part.layer && other.kind == part.kind;
  };
  const StackPart fresh = {part.layer, part.kind, 0};
  return static_cast<std::size_t>(&find_or_add(known, same, fresh) - known.data());
}

/// Adds the sums of `after` to those of `all`; where each of its counters has its place.
template <class Entry, class Add>
std::vector<std::size_t> join(const std::vector<Entry>& after, std::vector<Entry>& all,
                              const Add& add) {
  std::vector<std::size_t> places;
  for (const Entry& entry : after) {
    places.push_back(place_of(entry, all));
    add(all[places.back()], entry);
  }
  return places;
}

std::vector<std::uint64_t> spread(const std::vector<std::uint64_t>& values,
                                  const std::vector<std::size_t>& places, std::size_t size) {
  std::vector<std::uint64_t> made(size, 0);
  for (std::size_t i = 0; i < values.size(); ++i) made[places[i]] = values[i];
  return made;
}

void join_intervals(Intervals before, Cycle cycles, Intervals& after) {
  const auto counters = join(after.counters, before.counters,
                             [](StatEntry& all, const StatEntry& e) { all.value += e.value; });
  const auto stack = join(after.stack, before.stack,
                          [](StackPart& all, const StackPart& p) { all.cycles += p.cycles; });
  for (Interval& interval : before.each) {
    interval.counters.resize(before.counters.size(), 0);
    interval.stack.resize(before.stack.size(), 0);
  }
  for (Interval interval : after.each) {
    interval.from += cycles;
    interval.to += cycles;
    interval.counters = spread(interval.counters, counters, before.counters.size());
    interval.stack = spread(interval.stack, stack, before.stack.size());
    before.each.push_back(std::move(interval));
  }
  after = std::move(before);
}

}  // namespace

namespace {

/// What does not depend on which was first.
void add_counts(OpResult& other, OpResult& result) {
  if (result.units_in_time) {
    result.units_in_time->loss += " What the same units did before or after it is not shown.";
  }
  result.cycles += other.cycles;
  result.sram_read_bytes += other.sram_read_bytes;
  result.sram_write_bytes += other.sram_write_bytes;
  result.fabric_bytes += other.fabric_bytes;
  result.io_bytes += other.io_bytes;
  for (StatEntry& entry : other.statistics) merge(result.statistics, std::move(entry));
  for (const StackPart& part : other.stack) merge(result.stack, part);
}

}  // namespace

void merge(std::vector<StackPart>& stack, const StackPart& part) {
  stack[place_of(part, stack)].cycles += part.cycles;
}

void put_after(OpResult after, OpResult& result) {
  for (Event& event : after.events) event.cycle += result.cycles;
  result.events.insert(result.events.end(), after.events.begin(), after.events.end());
  if (!result.intervals.each.empty()) {
    join_intervals(std::move(result.intervals), result.cycles, after.intervals);
    result.intervals = std::move(after.intervals);
  }
  add_counts(after, result);
  result.phases.insert(result.phases.end(), after.phases.begin(), after.phases.end());
}

void put_before(OpResult before, OpResult& result) {
  for (Event& event : result.events) event.cycle += before.cycles;
  result.events.insert(result.events.begin(), before.events.begin(), before.events.end());
  if (!result.intervals.each.empty()) {
    join_intervals(std::move(before.intervals), before.cycles, result.intervals);
  }
  add_counts(before, result);
  result.phases.insert(result.phases.begin(), before.phases.begin(), before.phases.end());
}

}  // namespace lacuna
