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
class Statistic;

/// The layers of a cycle stack, from the bottom. A cycle in which a block does several things
/// belongs to the lowest of them.
enum class Layer { compute, exchange, sync, stall, imbalance, idle };

/// The word for a layer in results.
const char* layer_name(Layer layer);

/// One statistic of a finished run, as results carry it. `value` is exact. A quotient or a mean
/// (`is_real`) is value / over, kept apart so that entries of many units add up exactly; `real`
/// is their quotient.
struct StatEntry {
  std::string path;  // of the group, such as "tile.amp"; units of an array are summed
  std::string name;
  std::string unit;
  std::string doc;
  std::string action;  // the row of the energy table that prices it; empty: costs nothing
  std::uint64_t value = 0;
  double real = 0;
  bool is_real = false;
  std::uint64_t over = 0;
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

  /// The height of the cycle stack: how many cycles the block has lived.
  Cycle cycles() const;

  std::map<std::string, std::uint64_t> snapshot() const;

  /// Closes the accounts of statistics that depend on time, at the end of a run of `end` cycles.
  void settle(Cycle end);

  /// Adds this group's statistics to `entries`, counters first, each in the order of declaration:
  /// to the entry of the same path and name, or as a new entry.
  void add_to(std::vector<StatEntry>& entries) const;

  /// Adds this group's cycle counters to `stack`, likewise.
  void add_to(std::vector<StackPart>& stack) const;

 private:
  friend class Counter;
  friend class CycleCounter;
  friend class Statistic;

  std::string path_;
  std::vector<const Counter*> counters_;
  std::vector<const CycleCounter*> cycle_stack_;
  std::vector<Statistic*> others_;
};

/// What is not a plain count: a Histogram, a TimeAverage, a Formula.
class Statistic {
 public:
  Statistic(StatGroup* group, const char* name, const char* unit, const char* doc);
  Statistic(const Statistic&) = delete;
  Statistic& operator=(const Statistic&) = delete;
  virtual ~Statistic() = default;

  const char* name() const { return name_; }
  const char* unit() const { return unit_; }
  const char* doc() const { return doc_; }

  /// Merges what it has to say into `entries`, under the group's `path`.
  virtual void add_to(std::vector<StatEntry>& entries, const std::string& path) const = 0;

  virtual void settle(Cycle /*end*/) {}

 protected:
  /// An entry of this statistic, to be completed. `suffix` follows the name.
  StatEntry entry(const std::string& path, const std::string& suffix = "") const;

 private:
  const char* name_;
  const char* unit_;
  const char* doc_;
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

/// The mean over time of a level, such as the words in a queue. The level is set when it changes.
class TimeAverage final : public Statistic {
 public:
  using Statistic::Statistic;

  /// From cycle `now` on the level is `level`; calls are in the order of cycles.
  void set(Cycle now, std::uint64_t level) {
    settle(now);
    level_ = level;
  }

  void settle(Cycle end) override {
    integral_ += level_ * (end - since_);
    since_ = end;
  }
  void add_to(std::vector<StatEntry>& entries, const std::string& path) const override;

 private:
  std::uint64_t level_ = 0;
  Cycle since_ = 0;
  std::uint64_t integral_ = 0;  // of level * cycles
};

/// A quotient of sums of counters of the same group, such as macs_useful / macs_issued. It is
/// taken after the run and after units have been summed.
class Formula final : public Statistic {
 public:
  using Counters = std::vector<const Counter*>;

  Formula(StatGroup* group, const char* name, const char* unit, const char* doc, Counters above,
          Counters below)
      : Statistic(group, name, unit, doc), above_(std::move(above)), below_(std::move(below)) {}

  void add_to(std::vector<StatEntry>& entries, const std::string& path) const override;

 private:
  Counters above_;
  Counters below_;
};

/// The groups of a run. It refers to them and must not outlive them.
class StatsRegistry {
 public:
  /// `unit` tells the groups of one path apart, such as "tile17"; it may be empty if there is one.
  void attach(StatGroup& group, std::string unit = "");

  std::size_t size() const { return groups_.size(); }

  /// Closes every account at the end of a run of `end` cycles.
  void settle(Cycle end);

  /// The statistics, groups of the same path summed, in the order of attachment.
  std::vector<StatEntry> summed() const;

  /// The statistics of every group, under the path "unit.path" where the unit has a name.
  std::vector<StatEntry> per_unit() const;

  /// The cycle stacks of all groups that have one, summed, lowest layer first.
  std::vector<StackPart> stack() const;

  /// Throws an AccountingError that names the first group whose cycle stack is not `cycles` high.
  void check(Cycle cycles) const;

 private:
  std::vector<std::pair<StatGroup*, std::string>> groups_;
};

}  // namespace lacuna
