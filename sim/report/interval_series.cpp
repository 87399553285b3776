// SPDX-License-Identifier: Apache-2.0
#include "sim/report/interval_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/report/layers.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostIntervals = 100000;

/// The counts of a border under the names of `schema`.
std::vector<std::uint64_t> priced(const std::vector<StatEntry>& statistics) {
  std::vector<std::uint64_t> values;
  for (const StatEntry& entry : statistics) {
    if (!entry.action.empty()) values.push_back(entry.value);
  }
  return values;
}

std::uint64_t step(const std::string& name, std::uint64_t before, std::uint64_t now) {
  if (now >= before) return now - before;
  throw InternalError(
      fmt::format("{} goes back from {} to {} between two intervals", name, before, now));
}

void check_sum(const std::string& name, std::uint64_t sum, std::uint64_t repeat,
               std::uint64_t whole) {
  if (sum * repeat == whole) return;
  throw InternalError(
      fmt::format("{}: its intervals add up to {} x {} of {}", name, sum, repeat, whole));
}

}  // namespace

void add(CountsSoFar& sum, const CountsSoFar& what, std::uint64_t times) {
  if (sum.stack.empty()) {
    sum.statistics = what.statistics;
    sum.stack = what.stack;
    for (StatEntry& entry : sum.statistics) entry.value = 0;
    for (StackPart& part : sum.stack) part.cycles = 0;
  }
  for (std::size_t i = 0; i < sum.statistics.size(); ++i) {
    sum.statistics[i].value += what.statistics.at(i).value * times;
  }
  for (std::size_t i = 0; i < sum.stack.size(); ++i) {
    sum.stack[i].cycles += what.stack.at(i).cycles * times;
  }
  sum.sram_bytes += what.sram_bytes * times;
  sum.fabric_bytes += what.fabric_bytes * times;
  sum.io_bytes += what.io_bytes * times;
}

void IntervalSeries::border(Cycle at, const CountsSoFar& so_far) {
  if (result_.each.size() == kMostIntervals) {
    throw refused(
        "--interval: found '{}'; allowed: at most {} intervals of an operation, and cycle {} is "
        "not its last",
        result_.each.front().to, kMostIntervals, before_.to);
  }
  if (result_.each.empty()) {
    std::copy_if(so_far.statistics.begin(), so_far.statistics.end(),
                 std::back_inserter(result_.counters),
                 [](const StatEntry& entry) { return !entry.action.empty(); });
    result_.stack = so_far.stack;
    before_.counters.assign(result_.counters.size(), 0);
    before_.stack.assign(result_.stack.size(), 0);
  }
  Interval now{
      before_.to,     at, priced(so_far.statistics), {}, so_far.sram_bytes, so_far.fabric_bytes,
      so_far.io_bytes};
  for (const StackPart& part : so_far.stack) now.stack.push_back(part.cycles);
  if (now.counters.size() != result_.counters.size() || now.stack.size() != result_.stack.size()) {
    throw InternalError("two intervals of a run have not the same statistics");
  }
  Interval change = now;
  for (std::size_t i = 0; i < now.counters.size(); ++i) {
    change.counters[i] = step(result_.counters[i].name, before_.counters[i], now.counters[i]);
    result_.counters[i].value = now.counters[i];
  }
  for (std::size_t i = 0; i < now.stack.size(); ++i) {
    change.stack[i] = step(result_.stack[i].kind, before_.stack[i], now.stack[i]);
    result_.stack[i].cycles = now.stack[i];
  }
  change.sram_bytes = step("sram_bytes", before_.sram_bytes, now.sram_bytes);
  change.fabric_bytes = step("fabric_bytes", before_.fabric_bytes, now.fabric_bytes);
  change.io_bytes = step("io_bytes", before_.io_bytes, now.io_bytes);
  result_.each.push_back(std::move(change));
  before_ = std::move(now);
}

CountsSoFar counts_of(const OpResult& result) {
  return {result.statistics, result.stack, result.sram_read_bytes + result.sram_write_bytes,
          result.fabric_bytes, result.io_bytes};
}

Intervals intervals_of(const std::vector<std::pair<Cycle, CountsSoFar>>& borders,
                       const OpResult& result) {
  IntervalSeries series;
  for (const auto& [at, counts] : borders) series.border(at, counts);
  if (result.cycles > 0) series.border(result.cycles, counts_of(result));
  return series.take();
}

void check_intervals(const OpResult& result) {
  const Intervals& intervals = result.intervals;
  if (intervals.each.empty()) return;
  const std::uint64_t repeat = result.cycles / intervals.each.back().to;
  check_sum("cycles", intervals.each.back().to, repeat, result.cycles);
  for (const StatEntry& counter : intervals.counters) {
    const auto* const same = find_where(result.statistics, [&](const StatEntry& entry) {
      return entry.path == counter.path && entry.name == counter.name;
    });
    check_sum(counter.name, counter.value, repeat, same == nullptr ? 0 : same->value);
  }
  for (const StackPart& part : intervals.stack) {
    const auto* const same = find_where(result.stack, is_like(part));
    check_sum(part.kind, part.cycles, repeat, same == nullptr ? 0 : same->cycles);
  }
  for (const Interval& each : intervals.each) {
    std::uint64_t sum = 0;
    for (const std::uint64_t cycles : each.stack) sum += cycles;
    if (sum == (each.to - each.from) * result.units) continue;
    throw AccountingError(fmt::format("cycles [{}, {}) of {} units sum to {}", each.from, each.to,
                                      result.units, sum));
  }
}

}  // namespace lacuna
