// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"
#include "sim/base/statistics.hpp"
#include "sim/report/explanation.hpp"

namespace lacuna {

struct UnitSeries;

/// What became of an operation; `interrupted`: it was not simulated, as the run was ended before.
enum class Status { ok, out_of_memory, unsupported, failed, interrupted };
const char* status_name(Status status);

/// What the units could at most have done, idle ones too, per clock cycle, all of them together.
struct Peaks {
  double flop_per_cycle = 0;  // of the operation's type, dense
  double sram_bytes_per_cycle = 0;
  double fabric_bytes_per_cycle = 0;
  double io_bytes_per_cycle = 0;
};

/// What a run with values found when it compared the product with the reference product.
struct ValueCheck {
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  double largest_error = 0;  // absolute
  double rms_error = 0;
  double sigma = 0;              // of the operands; 0: small integers
  std::uint64_t overflows = 0;   // finite results that became infinite
  std::uint64_t underflows = 0;  // results below the least normal number that lost bits
  std::uint64_t not_finite = 0;  // elements of the product that are infinite or NaN

  /// Elements that have an error.
  std::uint64_t finite() const { return compared - not_finite; }
};

/// What happened in one interval of an operation.
struct Interval {
  Cycle from = 0;
  Cycle to = 0;
  std::vector<std::uint64_t> counters;  // by Intervals::counters
  std::vector<std::uint64_t> stack;     // by Intervals::stack
  std::uint64_t sram_bytes = 0;
  std::uint64_t fabric_bytes = 0;
  std::uint64_t io_bytes = 0;
};

/// The priced counters, the cycle stack and the bytes of one execution of an operation, interval by
/// interval. Added up they are those of the whole execution.
struct Intervals {
  std::vector<StatEntry> counters;  // their values: the sums
  std::vector<StackPart> stack;     // likewise
  std::vector<Interval> each;
};

/// What a phase of one execution of an operation took and moved. Phases of one name are one.
struct PhaseTraffic {
  std::string name;
  Cycle cycles = 0;
  std::uint64_t sram_bytes = 0;  // read and written
  std::uint64_t fabric_bytes = 0;
  std::uint64_t io_bytes = 0;
};

/// What a machine says of one executed operation. Counts are for all simulated units together
/// and for one execution (not multiplied by `repeat`).
struct OpResult {
  // defined in its source: inline they were half of what every file with one took to compile
  OpResult();
  OpResult(const OpResult& other);
  OpResult(OpResult&& other) noexcept;
  OpResult& operator=(const OpResult& other);
  OpResult& operator=(OpResult&& other) noexcept;
  ~OpResult();

  Status status = Status::ok;
  std::string reason;  // if the status is not ok

  std::string mode;                  // the kernel that multiplied; empty: no product
  std::string residency;             // where the weights lived; empty: there are none
  std::optional<double> x_density;   // kept elements of X over all; empty: X is dense
  std::vector<std::string> remarks;  // a sentence each, for below the table

  Cycle cycles = 0;         // from the start to the last result
  double clock_ghz = 0;     // to turn cycles into seconds
  std::uint64_t units = 0;  // tiles or cores simulated: the cycle stack sums to units * cycles
  /// Of the chip, beside these: they do nothing and draw power. They are in no cycle stack.
  std::uint64_t idle_units = 0;
  bool exact = true;
  std::vector<std::string> approximations;  // why not

  std::uint64_t mac_algorithmic = 0;  // m * k * n * batch
  std::uint64_t mac_useful = 0;       // nnz * n * batch
  std::uint64_t sram_read_bytes = 0;
  std::uint64_t sram_write_bytes = 0;
  std::uint64_t fabric_bytes = 0;  // words put on the exchange, or link traversals
  std::uint64_t io_bytes = 0;      // through the edge of chip or wafer
  Peaks peaks;

  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;

  /// Facts for the reader, such as the plan and the simulated rectangle, in order.
  std::vector<std::pair<std::string, std::string>> notes;

  /// In the order of their first times; their bytes are those of the operation. Of an IPU only if
  /// an explanation was asked for.
  std::vector<PhaseTraffic> phases;

  // filled on request only
  std::vector<Event> events;             // sorted
  std::vector<std::string> event_units;  // name by Event::unit
  std::vector<std::string> event_kinds;  // name by Event::kind
  std::optional<ValueCheck> values;
  Intervals intervals;                        // of one execution, however often it is repeated
  std::shared_ptr<UnitSeries> units_in_time;  // likewise; until it is priced
  Explanation explanation;
};

/// Whether it is of a machine without a cost that all hardware has, as a remark then says.
bool is_idealised(const OpResult& result);

}  // namespace lacuna
