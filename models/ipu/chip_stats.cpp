// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_stats.hpp"

#include <algorithm>
#include <numeric>

namespace lacuna::ipu {
namespace {

/// The counter of a Tally, in the order of the enumeration.
std::array<Counter*, kTallies> counters_of(TileWorkStats& s) {
  return {&s.sram_reads_weight,
          &s.sram_reads_input,
          &s.sram_reads_output,
          &s.sram_reads_partial,
          &s.sram_reads_metadata,
          &s.sram_writes_weight,
          &s.sram_writes_input,
          &s.sram_writes_output,
          &s.sram_writes_partial,
          &s.sram_writes_metadata,
          &s.amp_macs_fp16,
          &s.amp_macs_fp32,
          &s.amp_macs_fp8,
          &s.vec_macs_fp16,
          &s.vec_macs_fp32,
          &s.vec_add_fp16,
          &s.vec_add_fp32,
          &s.vec_mul_fp16,
          &s.vec_mul_fp32,
          &s.vec_int,
          &s.vec_cvt,
          &s.sfu_fp16,
          &s.sfu_fp32,
          &s.meta_words,
          &s.rounded_fp16};
}

constexpr std::uint64_t kIssuesPerFetch = 4;  // a loop body is fetched once for four issues
constexpr std::uint64_t kAccessBytes = 8;
constexpr std::uint64_t kWordBytes = 4;

}  // namespace

std::uint64_t CycleAccount::total() const {
  return std::accumulate(cycles_.begin(), cycles_.end(), std::uint64_t{0});
}

void TileCycleStats::add(const CycleAccount& account) {
  worker += account[Spend::worker];
  supervisor += account[Spend::supervisor];
  exchange += account[Spend::exchange];
  port += account[Spend::port];
  sync += account[Spend::sync];
  slot += account[Spend::slot];
  conflict += account[Spend::conflict];
  port_wait += account[Spend::port_wait];
  exchange_gap += account[Spend::exchange_gap];
  barrier += account[Spend::barrier];
  exchange_tail += account[Spend::exchange_tail];
  idle += account[Spend::idle];
}

void TileWorkStats::add(const Bundle& bundle, std::uint64_t times) {
  const auto counters = counters_of(*this);
  for (std::size_t i = 0; i < kTallies; ++i) *counters.at(i) += bundle.tallies.at(i) * times;
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
