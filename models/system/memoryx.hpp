// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/program.hpp"
#include "models/system/rate.hpp"
#include "models/system/swarmx.hpp"
#include "sim/base/parameter.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

struct MemoryXParams : ParameterSet {
  Param<double> read_gbps = param(this, "read_gbps", 150.0, range(0.001, 1e5), "GB/s",
                                  "Weights read, 10^9 bytes. Assumed.");
  Param<double> write_gbps = param(this, "write_gbps", 150.0, range(0.001, 1e5), "GB/s",
                                   "Gradients written, 10^9 bytes. Assumed.");
  Param<double> update_ns_per_1k = param(this, "update_ns_per_1k", 10.0, range(0.0, 1e6), "ns",
                                         "Optimizer time for 1,000 parameters. Assumed.");
  Param<double> capacity_tb =
      param(this, "capacity_tb", 4.0, range(1e-6, 1e5), "TB",
            "What the store holds, 10^12 bytes: published from 4 to 2,400.");
  Param<unsigned> state_bytes =
      param(this, "state_bytes", 8U, range(0U, 64U), "B",
            "State of the optimizer for a non-zero: two moments in FP32.");
  Param<double> standing_w = param(this, "standing_w", 0.0, range(0.0, 1e7), "W",
                                   "Standing power of the store. Not published; 0: not counted, "
                                   "and results say so.");
};

/// One pass of a layer over all wafers: weights (or their indices) come down, gradients go up.
struct WaferPass {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::string name;
  std::uint64_t down_bytes = 1;      // to every wafer; at least 1
  std::uint64_t up_bytes = 0;        // from every wafer
  std::vector<std::uint64_t> ns;     // of the wafers' own work: one for all, or of each wafer
  std::uint64_t parameters = 0;      // updated when all gradients are there; 0: no update
  std::uint64_t update_bytes = 0;    // that the update reads and writes in the store
  Use use = Use::forward;            // that it is for; exchange: a collective, without weights
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
  MemoryX(const sc_core::sc_module_name& name, ClockDomain& clock, const MemoryXParams& params,
          const std::vector<WaferPass>& passes, WaferCountdown& countdown)
      : sc_module(name),
        clock_(clock),
        passes_(passes),
        countdown_(countdown),
        read_(bytes_per_us(params.read_gbps)),
        written_(bytes_per_us(params.write_gbps)),
        update_ps_per_1k_(static_cast<std::uint64_t>(std::llround(params.update_ns_per_1k * 1000))),
        received_(passes.size(), 0),
        updated_(passes.size(), kNever) {
    for (const WaferPass& pass : passes) outstanding_ += pass.up_bytes != 0 ? 1 : 0;
  }

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

  Cycle step(Cycle now) override {
    bool moved = write(now);
    moved = update(now) || moved;
    moved = read(now) || moved;
    if (waits()) ++totals_.wait_ns;
    if (!done_ && finished()) {
      done_ = true;
      countdown_.finished(clock_, now);
    }
    if (moved) return now + 1;
    return std::min({read_.next(), written_.next(), updates_ ? update_until_ : kNever});
  }

  void skip(Cycle from, Cycle to) override {
    if (waits()) totals_.wait_ns += to - from;
  }

  std::string blocked() const override {
    if (waits()) return fmt::format("pass {} waits for an update", passes_[pass_].name);
    return finished() ? "" : fmt::format("{} passes are not read", passes_.size() - pass_);
  }

 private:
  bool read(Cycle now) {
    bool moved = false;
    if (!read_.carries() && pass_ != passes_.size() && !waits() && down_out->can_push(now)) {
      const WaferPass& pass = passes_[pass_];
      read_.take({pass_, chunk_, pass.bytes_of(pass.down_bytes, chunk_)}, now, clock_);
      moved = true;
    }
    if (!read_.is_last(now)) return moved;
    down_out->push(now, read_.chunk());
    totals_.bytes += read_.chunk().bytes;
    read_.leave();
    if (++chunk_ == passes_[pass_].down_chunks()) {
      chunk_ = 0;
      ++pass_;
    }
    return true;
  }

  bool write(Cycle now) {
    bool moved = false;
    if (!written_.carries() && up_in->can_pop(now)) {
      written_.take(up_in->pop(now), now, clock_);
      moved = true;
    }
    if (!written_.is_last(now)) return moved;
    written_.leave();
    totals_.bytes += written_.chunk().bytes;
    const std::uint32_t at = written_.chunk().pass;
    if (++received_[at] != passes_[at].up_chunks()) return true;
    if (passes_[at].parameters != 0) {
      due_.push_back(at);
    } else {
      updated_[at] = now;
      --outstanding_;
    }
    return true;
  }

  bool update(Cycle now) {
    bool moved = false;
    if (updates_ && now >= update_until_) {
      updated_[due_.front()] = now;
      due_.pop_front();
      --outstanding_;
      updates_ = false;
      moved = true;
    }
    if (!updates_ && !due_.empty()) {
      constexpr std::uint64_t kOf = 1'000'000;  // picoseconds for 1,000 numbers to nanoseconds
      const std::uint64_t all = passes_[due_.front()].parameters * update_ps_per_1k_;
      const Cycle ns = std::max<Cycle>((all + kOf - 1) / kOf, 1);
      update_until_ = now + ns;
      totals_.update_ns += ns;
      updates_ = true;
      clock_.moved(update_until_);
      moved = true;
    }
    return moved;
  }

  /// The next pass to be read has to wait for an update.
  bool waits() const {
    if (read_.carries() || pass_ == passes_.size() || chunk_ != 0) return false;
    const std::uint32_t gate = passes_[pass_].waits_for;
    return gate != WaferPass::kNone && updated_[gate] == kNever;
  }

  bool finished() const { return pass_ == passes_.size() && outstanding_ == 0; }

  ClockDomain& clock_;
  const std::vector<WaferPass>& passes_;
  WaferCountdown& countdown_;
  Totals totals_;
  SwarmLane read_;
  SwarmLane written_;
  const std::uint64_t update_ps_per_1k_;
  std::uint32_t pass_ = 0;  // being read
  std::uint32_t chunk_ = 0;
  std::vector<std::uint32_t> received_;  // chunks of gradients, by pass
  std::uint32_t outstanding_ = 0;        // passes whose gradients or updates are not done
  std::deque<std::uint32_t> due_;        // passes to be updated
  bool updates_ = false;
  Cycle update_until_ = 0;
  std::vector<Cycle> updated_;  // kNever: not yet
  bool done_ = false;
};

}  // namespace lacuna::system
