// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

/// Nothing over nothing is nothing.
double quotient(std::uint64_t value, std::uint64_t over) {
  return over == 0 ? 0.0 : static_cast<double>(value) / static_cast<double>(over);
}

std::uint64_t sum_of(const Formula::Counters& counters) {
  std::uint64_t sum = 0;
  for (const Counter* counter : counters) sum += counter->value();
  return sum;
}

}  // namespace

Counter::Counter(StatGroup* group, const char* name, const char* unit, const char* doc,
                 const char* action)
    : name_(name), unit_(unit), doc_(doc), action_(action) {
  group->counters_.push_back(this);
}

CycleCounter::CycleCounter(StatGroup* group, const char* name, Layer layer, const char* doc,
                           const char* action)
    : Counter(group, name, "cycles", doc, action), layer_(layer) {
  group->cycle_stack_.push_back(this);
}

Cycle StatGroup::cycles() const {
  Cycle height = 0;
  for (const CycleCounter* counter : cycle_stack_) height += counter->value();
  return height;
}

std::map<std::string, std::uint64_t> StatGroup::snapshot() const {
  std::map<std::string, std::uint64_t> values;
  for (const Counter* counter : counters_) values[counter->name()] = counter->value();
  return values;
}

const char* layer_name(Layer layer) {
  switch (layer) {
    case Layer::compute:
      return "compute";
    case Layer::exchange:
      return "exchange";
    case Layer::sync:
      return "sync";
    case Layer::stall:
      return "stall";
    case Layer::imbalance:
      return "imbalance";
    case Layer::idle:
      return "idle";
  }
  return "?";
}

void merge(std::vector<StatEntry>& entries, StatEntry entry) {
  const auto same = std::find_if(entries.begin(), entries.end(), [&](const StatEntry& other) {
    return other.name == entry.name && other.path == entry.path;
  });
  if (same == entries.end()) {
    entries.push_back(std::move(entry));
    return;
  }
  same->value += entry.value;
  same->over += entry.over;
  if (same->is_real) same->real = quotient(same->value, same->over);
}

void check_stack(const std::string& what, const std::vector<StackPart>& parts, std::uint64_t units,
                 Cycle cycles) {
  std::uint64_t sum = 0;
  for (const StackPart& part : parts) sum += part.cycles;
  if (sum == units * cycles) return;
  std::string list;
  for (const StackPart& part : parts) {
    list += fmt::format("{}{}.{} {}", list.empty() ? "" : ", ", layer_name(part.layer), part.kind,
                        part.cycles);
  }
  throw AccountingError(fmt::format(
      "the cycle stack of {} sums to {}, but {} units lived {} cycles, which is {} ({})", what, sum,
      units, cycles, units * cycles, list));
}

void StatGroup::settle(Cycle end) {
  for (Statistic* statistic : others_) statistic->settle(end);
}

void StatGroup::add_to(std::vector<StatEntry>& entries) const {
  for (const Counter* counter : counters_) {
    StatEntry entry;
    entry.path = path_;
    entry.name = counter->name();
    entry.unit = counter->unit();
    entry.doc = counter->doc();
    entry.action = counter->action() == nullptr ? "" : counter->action();
    entry.value = counter->value();
    merge(entries, std::move(entry));
  }
  for (const Statistic* statistic : others_) statistic->add_to(entries, path_);
}

void StatGroup::add_to(std::vector<StackPart>& stack) const {
  for (const CycleCounter* counter : cycle_stack_) {
    const auto same = std::find_if(stack.begin(), stack.end(), [&](const StackPart& part) {
      return part.layer == counter->layer() && part.kind == counter->name();
    });
    if (same != stack.end()) {
      same->cycles += counter->value();
    } else {
      stack.push_back({counter->layer(), counter->name(), counter->value()});
    }
  }
}

Statistic::Statistic(StatGroup* group, const char* name, const char* unit, const char* doc)
    : name_(name), unit_(unit), doc_(doc) {
  group->others_.push_back(this);
}

StatEntry Statistic::entry(const std::string& path, const std::string& suffix) const {
  StatEntry entry;
  entry.path = path;
  entry.name = name_ + suffix;
  entry.unit = unit_;
  entry.doc = doc_;
  return entry;
}

void TimeAverage::add_to(std::vector<StatEntry>& entries, const std::string& path) const {
  StatEntry mean = entry(path);
  mean.is_real = true;
  mean.value = integral_;
  mean.over = since_;
  mean.real = quotient(mean.value, mean.over);
  merge(entries, std::move(mean));
}

void Formula::add_to(std::vector<StatEntry>& entries, const std::string& path) const {
  StatEntry ratio = entry(path);
  ratio.is_real = true;
  ratio.value = sum_of(above_);
  ratio.over = sum_of(below_);
  ratio.real = quotient(ratio.value, ratio.over);
  merge(entries, std::move(ratio));
}

void StatsRegistry::attach(StatGroup& group, std::string unit) {
  groups_.emplace_back(&group, std::move(unit));
}

void StatsRegistry::settle(Cycle end) {
  for (const auto& [group, unit] : groups_) group->settle(end);
}

std::vector<StatEntry> StatsRegistry::summed() const {
  std::vector<StatEntry> entries;
  for (const auto& [group, unit] : groups_) group->add_to(entries);
  return entries;
}

std::vector<StatEntry> StatsRegistry::per_unit() const {
  std::vector<StatEntry> all;
  for (const auto& [group, unit] : groups_) {
    std::vector<StatEntry> entries;
    group->add_to(entries);
    for (StatEntry& entry : entries) {
      if (!unit.empty()) entry.path = unit + "." + entry.path;
      all.push_back(std::move(entry));
    }
  }
  return all;
}

std::vector<StackPart> StatsRegistry::stack() const {
  std::vector<StackPart> parts;
  for (const auto& [group, unit] : groups_) group->add_to(parts);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const StackPart& a, const StackPart& b) { return a.layer < b.layer; });
  return parts;
}

void StatsRegistry::check(Cycle cycles) const {
  for (const auto& [group, unit] : groups_) {
    if (group->cycle_stack().empty() || group->cycles() == cycles) continue;
    std::vector<StackPart> parts;
    group->add_to(parts);
    check_stack(unit.empty() ? group->path() : unit, parts, 1, cycles);
  }
}

}  // namespace lacuna
