// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"

namespace lacuna {

class Counter;
class CycleCounter;

/// The layers of a cycle stack, from the bottom. A cycle in which a block does several things
/// belongs to the lowest of them.
enum class Layer { compute, exchange, sync, stall, imbalance, idle };

/// The word for a layer in results.
const char* layer_name(Layer layer);

/// One statistic of a finished run, as results carry it.
struct StatEntry {
  std::string path;  // of the group, such as "tile.amp"; units of an array are summed
  std::string name;
  std::string unit;
  std::string doc;
  std::string action;  // the row of the energy table that prices it; empty: costs nothing
  std::uint64_t value = 0;
};

/// Adds `entry` to the one of the same path and name, or puts it at the end.
void merge(std::vector<StatEntry>& entries, StatEntry entry);

/// One part of a cycle stack: unit-cycles spent in one way, summed over the units.
struct StackPart {
  Layer layer = Layer::compute;
  std::string kind;
  std::uint64_t cycles = 0;
};

inline bool operator==(const StackPart& a, const StackPart& b) {
  return a.layer == b.layer && a.kind == b.kind && a.cycles == b.cycles;
}

/// Throws an AccountingError that calls the machine `what`, unless the parts sum to units * cycles.
void check_stack(const std::string& what, const std::vector<StackPart>& parts, std::uint64_t units,
                 Cycle cycles);

/// The statistics of one block. They enrol themselves by being declared.
class StatGroup {
 public:
  explicit StatGroup(std::string path) : path_(std::move(path)) {}
  StatGroup(const StatGroup&) = delete;
  StatGroup& operator=(const StatGroup&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<const Counter*>& counters() const { return counters_; }
  const std::vector<const CycleCounter*>& cycle_stack() const { return cycle_stack_; }

  std::map<std::string, std::uint64_t> snapshot() const;

  /// Adds this group's counters to `entries`, in the order of declaration: to the entry of the same
  /// path and name, or as a new entry.
  void add_to(std::vector<StatEntry>& entries) const;

  /// Adds this group's cycle counters to `stack`, likewise.
  void add_to(std::vector<StackPart>& stack) const;

 private:
  friend class Counter;
  friend class CycleCounter;

  std::string path_;
  std::vector<const Counter*> counters_;
  std::vector<const CycleCounter*> cycle_stack_;
};

/// Counts one kind of event. `action` names the row of the energy table that prices it.
class Counter {
 public:
  Counter(StatGroup* group, const char* name, const char* unit, const char* doc,
          const char* action = nullptr);
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  Counter& operator++() { return *this += 1; }
  Counter& operator+=(std::uint64_t n) {
    value_ += n;
    return *this;
  }

  std::uint64_t value() const { return value_; }
  const char* name() const { return name_; }
  const char* unit() const { return unit_; }
  const char* doc() const { return doc_; }
  const char* action() const { return action_; }

 private:
  std::uint64_t value_ = 0;
  const char* name_;
  const char* unit_;
  const char* doc_;
  const char* action_;
};

/// Counts the cycles a block spends in one way. Each cycle of a block is booked in exactly one
/// of its CycleCounters.
class CycleCounter : public Counter {
 public:
  CycleCounter(StatGroup* group, const char* name, Layer layer, const char* doc,
               const char* action = nullptr);

  Layer layer() const { return layer_; }

 private:
  Layer layer_;
};

}  // namespace lacuna
