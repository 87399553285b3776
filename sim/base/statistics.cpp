// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna {

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

}  // namespace lacuna
