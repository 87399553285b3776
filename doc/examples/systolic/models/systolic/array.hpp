// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <systemc>
#include <vector>

#include "sim/base/parameter.hpp"
#include "sim/base/statistics.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::systolic {

struct ArrayParams : ParameterSet {
  Param<unsigned> rows =
      param(this, "rows", 64U, range(1U, 1024U), "cells", "Input features whose weights it holds.");
  Param<unsigned> columns = param(this, "columns", 64U, range(1U, 1024U), "cells",
                                  "Output features whose weights it holds.");
  Param<bool> skip = flag(this, "skip", true, "Leave out inputs that a piece of weights ignores.");
};

struct BufferParams : ParameterSet {
  Param<unsigned> kib = param(this, "kib", 24576U, range(1U, 1U << 20U), "KiB",
                              "Memory beside the array: weights, activations and results.");
  Param<unsigned> read_bytes =
      param(this, "read_bytes", 128U, range(2U, 65536U), "B/cycle", "Read from it in a cycle.");
};

/// One piece of weights, and the tokens that meet it.
struct Pass {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::uint32_t tokens = 0;
  bool adds = false;  // to sums of a pass before, which are read again
};

struct ArrayStats : StatGroup {
  using StatGroup::StatGroup;
  CycleCounter stream{this, "stream", Layer::compute, "Cycles in which a token entered."};
  CycleCounter load{this, "load", Layer::exchange, "Cycles in which weights were loaded."};
  CycleCounter starved{this, "starved", Layer::stall, "Cycles that waited for activations."};
  CycleCounter drain{this, "drain", Layer::idle, "Cycles until the last sums had left."};
  Counter macs{this, "macs", "MAC", "Multiply-accumulates, of zeros too.", "mac_fp16_acc32"};
  Counter reads{this, "reads", "accesses", "Reads of 64 bits.", "sram_read"};
  Counter writes{this, "writes", "accesses", "Writes of 64 bits.", "sram_write"};
};

/// Runs passes one after the other.
class SystolicArray : public sc_core::sc_module, public Clocked {
 public:
  SystolicArray(const sc_core::sc_module_name& name, const ArrayParams& array,
                const BufferParams& buffer, std::vector<Pass> passes, ClockDomain& clock);

  const ArrayStats& stats() const { return stats_; }

  Cycle step(Cycle now) override;
  void skip(Cycle from, Cycle to) override { book(to - from); }

 private:
  enum class Phase { load, stream, drain };

  Cycle length(Phase phase) const;
  Cycle cycles_of(std::uint32_t elements) const;  // to read so many
  void book(Cycle cycles);
  void count(const Pass& pass);

  const BufferParams buffer_;
  const std::vector<Pass> passes_;
  ClockDomain& clock_;
  ArrayStats stats_{"array"};
  std::size_t at_ = 0;  // the pass, and where in it
  Phase phase_ = Phase::load;
  Cycle done_ = 0;
};

}  // namespace lacuna::systolic
