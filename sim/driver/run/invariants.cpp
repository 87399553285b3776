// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna {

namespace {

/// The sum of the counters `name` over all paths; nothing if there is none. A name ending in '_'
/// takes all counters that begin so.
std::optional<std::uint64_t> counted(const OpResult& result, const std::string& name) {
  std::optional<std::uint64_t> sum;
  for (const StatEntry& entry : result.statistics) {
    const bool family = name.back() == '_' && entry.name.compare(0, name.size(), name) == 0;
    if (family || entry.name == name) sum = sum.value_or(0) + entry.value;
  }
  return sum;
}

std::uint64_t counted_or_0(const OpResult& result, const std::string& name) {
  return counted(result, name).value_or(0);
}

/// `count` of something of which a cycle can have `per_cycle` at most.
void check_rate(const OpResult& result, const char* counter, std::uint64_t count,
                double per_cycle) {
  const double most = per_cycle * static_cast<double>(result.cycles);
  // the peaks are quotients of small integers: half a count absorbs their rounding
  if (static_cast<double>(count) <= most + 0.5) return;
  throw InternalError(
      fmt::format("{} = {}, but {} cycles at the peak of {} per cycle give {} at "
                  "most",
                  counter, count, result.cycles, per_cycle, most));
}

void check_rates(const OpResult& result) {
  const Peaks& peaks = result.peaks;
  check_rate(result, "useful_flop", 2 * result.mac_useful, peaks.flop_per_cycle);
  check_rate(result, "sram_read_bytes + sram_write_bytes",
             result.sram_read_bytes + result.sram_write_bytes, peaks.sram_bytes_per_cycle);
  check_rate(result, "fabric_bytes", result.fabric_bytes, peaks.fabric_bytes_per_cycle);
  check_rate(result, "io_bytes", result.io_bytes, peaks.io_bytes_per_cycle);
}

/// What arrives must have been sent there: `arrived` adds up to `promised`, if it is counted.
struct Conservation {
  std::vector<std::string> arrived;
  const char* promised;
};

void check_words(const OpResult& result) {
  static const std::vector<Conservation> laws = {
      {{"exch_received"}, "exch_deliveries"},
      {{"wavelet_deliveries", "filter_drops"}, "wavelets_ejected"}};
  for (const Conservation& law : laws) {
    const std::optional<std::uint64_t> promised = counted(result, law.promised);
    std::uint64_t arrived = 0;
    for (const std::string& name : law.arrived) arrived += counted_or_0(result, name);
    if (!promised || arrived == *promised) continue;
    throw InternalError(fmt::format(
        "{} = {}, but {} = {}: words were {}", law.arrived.front(), arrived, law.promised,
        *promised,
        arrived > *promised ? "received that were not sent" : "sent that were not received"));
  }
}

/// A word sent reaches each other unit once at most; a class of accesses is a part of all.
void check_parts(const OpResult& result) {
  const std::uint64_t most = counted_or_0(result, "exch_sent") * result.units;
  const std::uint64_t received = counted_or_0(result, "exch_received");
  if (received > most) {
    throw InternalError(
        fmt::format("exch_received = {}, but {} words were sent to {} units: words "
                    "were received that were not sent",
                    received, counted_or_0(result, "exch_sent"), result.units));
  }
  for (const char* const name : {"sram_reads", "sram_writes"}) {
    const std::optional<std::uint64_t> all = counted(result, name);
    const std::uint64_t parts = counted_or_0(result, std::string(name) + "_");
    if (!all || *all == parts) continue;
    throw InternalError(fmt::format("{} = {}, but its classes sum to {}", name, *all, parts));
  }
}

/// Every product of the dense operation is formed, gated or skipped, and nothing else.
void check_products(const OpResult& result) {
  if (!counted(result, "mac_actual_") && !counted(result, "mac_actual")) return;
  const std::uint64_t actual =
      counted_or_0(result, "mac_actual_") + counted_or_0(result, "mac_actual");
  const std::uint64_t edge = counted_or_0(result, "mac_edge");
  const std::uint64_t zero = counted_or_0(result, "mac_zero");
  const std::uint64_t gated = counted_or_0(result, "mac_gated");
  const std::uint64_t skipped = counted_or_0(result, "mac_skipped");
  if (actual + gated + skipped != result.mac_algorithmic + edge) {
    throw InternalError(
        fmt::format("mac_actual {} - mac_edge {} + mac_gated {} + mac_skipped {} "
                    "is not mac_algorithmic = {}",
                    actual, edge, gated, skipped, result.mac_algorithmic));
  }
  const std::uint64_t most = std::max({gated, skipped, zero});  // a difference below 0 is above
  if (most > result.mac_algorithmic) {
    throw InternalError(
        fmt::format("mac_gated {}, mac_skipped {} or mac_zero {} is more than "
                    "mac_algorithmic = {}",
                    gated, skipped, zero, result.mac_algorithmic));
  }
  if (gated == 0 && actual != result.mac_useful + edge + zero) {
    throw InternalError(
        fmt::format("mac_actual {} - mac_edge {} - mac_zero {} is not the useful {}", actual, edge,
                    zero, result.mac_useful));
  }
}

void check_busy(const OpResult& result) {
  const std::optional<std::uint64_t> busy = counted(result, "busy_cycles");
  const std::optional<std::uint64_t> idle = counted(result, "idle_cycles");
  if (!busy || !idle || *busy + *idle == result.units * result.cycles) return;
  throw AccountingError(fmt::format("busy_cycles {} + idle_cycles {} are not {} units x {} cycles",
                                    *busy, *idle, result.units, result.cycles));
}

}  // namespace

void check_possible(const OpResult& result) {
  if (result.status != Status::ok) return;
  if (!(result.clock_ghz > 0)) throw InternalError("clock = 0 GHz in a finished run");
  check_stack("the machine", result.stack, result.units, result.cycles);
  if (!is_idealised(result)) check_rates(result);
  check_words(result);
  check_parts(result);
  check_products(result);
  check_busy(result);
}

}  // namespace lacuna
