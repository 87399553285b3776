// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_stats.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kIssuesPerFetch = 4;  // a loop body is fetched once for four issues
constexpr std::uint64_t kAccessBytes = 8;
constexpr std::uint64_t kWordBytes = 4;

/// The counter that was declared with the word of this number.
template <std::size_t kCount>
Counter& counter_of(const std::array<Counter*, kCount>& counters, std::size_t word) {
  if (counters[word] == nullptr) throw InternalError("a tile counts what no statistic sums");
  return *counters[word];
}

}  // namespace

std::uint64_t CycleAccount::total() const {
  return std::accumulate(cycles_.begin(), cycles_.end(), std::uint64_t{0});
}

void TileCycleStats::add(const CycleAccount& account) {
  for (std::size_t i = 0; i < kSpends; ++i) counter_of(spent_, i) += account[static_cast<Spend>(i)];
}

void TileWorkStats::add(const Bundle& bundle, std::uint64_t times) {
  for (std::size_t i = 0; i < kTallies; ++i) counter_of(tallied_, i) += bundle.tallies[i] * times;
}

void TileWorkStats::derive() {
  mac_actual += amp_macs_fp16.value() + amp_macs_fp32.value() + amp_macs_fp8.value() +
                vec_macs_fp16.value() + vec_macs_fp32.value();
  const std::uint64_t inside = mac_actual.value() - mac_edge.value();
  // before a vertex ends it is not known which of its products are outside
  mac_skipped += mac_algorithmic.value() - std::min(inside, mac_algorithmic.value());
  ifetches += issues.value() / kIssuesPerFetch;
  sram_reads_instruction += ifetches.value();
  sram_reads_transfer += (exch_sent.value() + port_sent.value() + 1) / 2;
  sram_writes_transfer += (exch_received.value() + port_received.value() + 1) / 2;
  sram_reads += sram_reads_weight.value() + sram_reads_input.value() + sram_reads_output.value() +
                sram_reads_partial.value() + sram_reads_metadata.value() +
                sram_reads_transfer.value() + sram_reads_instruction.value();
  sram_writes += sram_writes_weight.value() + sram_writes_input.value() +
                 sram_writes_output.value() + sram_writes_partial.value() +
                 sram_writes_metadata.value() + sram_writes_transfer.value();
  exch_word_distance += exch_sent.value();
  bytes_sram_read += kAccessBytes * (sram_reads.value() - sram_reads_instruction.value());
  bytes_sram_written += kAccessBytes * sram_writes.value();
  bytes_exchanged += kWordBytes * exch_received.value();
}

}  // namespace lacuna::ipu
