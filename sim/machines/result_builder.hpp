// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/event_log.hpp"
#include "sim/base/statistics.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/interval_series.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

/// What the groups have counted: each of them in statistics and in the cycle stack, in this order.
CountsSoFar counts_of(std::initializer_list<const StatGroup*> groups);

/// The statistics of these groups, each once, for Machine::statistics().
std::vector<DeclaredStatistic> declared(std::initializer_list<const StatGroup*> groups);

/// Puts what a machine did in one operation into its result. What all adapters say in the same way
/// is said here; the members of `result` that have no method are theirs to fill.
class ResultBuilder {
 public:
  ResultBuilder(const Execution& execution, double clock_ghz, std::uint64_t units);

  OpResult result;

  void products(std::uint64_t algorithmic, std::uint64_t useful);

  /// Adds statistics and stack, and sets the bytes.
  void counted(CountsSoFar counts, std::uint64_t sram_read_bytes, std::uint64_t sram_write_bytes);

  /// A further group that no interval has.
  void group(const StatGroup& group);

  void note(std::string key, std::string text) {
    result.notes.emplace_back(std::move(key), std::move(text));
  }

  /// What had been counted at cycle `at`, a border of intervals.
  void border(Cycle at, CountsSoFar counts) { borders_.emplace_back(at, std::move(counts)); }

  /// Events as they were logged, `begin` cycles after the begin of the operation.
  void events(const std::vector<Event>& events, Cycle begin = 0);
  void event_names(std::vector<std::string> units, std::vector<std::string> kinds);

  /// All is one phase of this name.
  void one_phase(const std::string& name);

  /// When all has been said.
  OpResult take();

 private:
  const Execution& execution_;
  std::vector<std::pair<Cycle, CountsSoFar>> borders_;
};

}  // namespace lacuna
