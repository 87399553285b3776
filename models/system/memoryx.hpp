// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/swarmx.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// One pass of a layer over all wafers: weights (or their indices) come down, gradients go up.
struct WaferPass {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::string name;
  std::uint64_t down_bytes = 1;      // to every wafer; at least 1
  std::uint64_t up_bytes = 0;        // from every wafer
  std::vector<std::uint64_t> ns;     // of the wafers' own work: one for all, or of each wafer
  std::uint64_t parameters = 0;      // updated when all gradients are there; 0: no update
  std::uint64_t update_bytes = 0;    // that the update reads and writes in the store
  bool sums = false;                 // of a collective: what comes down is no weights
  std::uint32_t waits_for = kNone;   // a pass whose update, or sum, comes first
  std::uint32_t chunk_bytes = 4096;  // weights and gradients are cut into chunks of this size

  std::uint32_t down_chunks() const { return chunks(down_bytes); }
  std::uint32_t up_chunks() const { return chunks(up_bytes); }
  std::uint32_t bytes_of(std::uint64_t all, std::uint32_t index) const {
    const std::uint64_t left = all - std::uint64_t{index} * chunk_bytes;
    return static_cast<std::uint32_t>(left < chunk_bytes ? left : chunk_bytes);
  }

 private:
  std::uint32_t chunks(std::uint64_t bytes) const {
    return static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
  }
};

/// Counts the blocks that have not come to their end; the last one ends the run.
struct WaferCountdown {
  std::uint32_t left = 0;

  void finished(ClockDomain& clock, Cycle now) {
    if (--left == 0) clock.stop(now);
  }
};

/// The store of weights and optimizer state: reads the weights of one pass after the other, takes
/// gradients, and updates a layer's parameters when all of its gradients are there. Reads, writes
/// and updates go on at the same time.
class MemoryX : public sc_core::sc_module, public Clocked {
 public:
  struct Rates {
    std::uint64_t read_bytes_per_us = 150000;
    std::uint64_t write_bytes_per_us = 150000;
    std::uint64_t update_ps = 10;  // for each parameter
  };

  MemoryX(const sc_core::sc_module_name& name, ClockDomain& clock, const Rates& rates,
          const std::vector<WaferPass>& passes, WaferCountdown& countdown);

  sc_core::sc_port<PushIf<SwarmChunk>> down_out{"down_out"};
  sc_core::sc_port<PopIf<SwarmChunk>> up_in{"up_in"};

  struct Totals {
    std::uint64_t bytes = 0;      // of weights read, and of gradients written
    std::uint64_t update_ns = 0;  // in which parameters were updated
    std::uint64_t wait_ns = 0;    // in which the next pass waited for an update
  };
  const Totals& totals() const { return totals_; }

  /// By pass: the first cycle after its update, or of a sum that nothing is updated by, in which it
  /// is there.
  const std::vector<Cycle>& updated() const { return updated_; }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override;
  std::string blocked() const override;

 private:
  bool read(Cycle now);
  bool write(Cycle now);
  bool update(Cycle now);
  bool waits() const;
  bool finished() const;

  ClockDomain& clock_;
  const Rates rates_;
  const std::vector<WaferPass>& passes_;
  WaferCountdown& countdown_;
  Totals totals_;
  SwarmPace read_pace_;
  SwarmPace write_pace_;
  std::uint32_t pass_ = 0;  // being read
  std::uint32_t chunk_ = 0;
  bool reads_ = false;
  Cycle read_last_ = 0;
  SwarmChunk written_;
  bool writes_ = false;
  Cycle write_last_ = 0;
  std::vector<std::uint32_t> received_;  // chunks of gradients, by pass
  std::uint32_t outstanding_ = 0;        // passes whose gradients or updates are not done
  std::deque<std::uint32_t> due_;        // passes to be updated
  bool updates_ = false;
  Cycle update_until_ = 0;
  std::vector<Cycle> updated_;  // kNever: not yet
  bool done_ = false;
};

}  // namespace lacuna::system
