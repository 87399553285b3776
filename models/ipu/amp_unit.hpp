// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

struct AmpParams;

/// Operands and sums of the matrix unit: fp16 with fp16 or fp32 sums, fp32, fp8 with fp16 or fp32
/// sums.
enum class AmpMode { half, mixed, single, quarter, quarter_mixed };

/// The matrix unit of a tile. Each of its columns holds the weights of one output, and with each
/// bundle multiplies so many inputs by them; an element that streams past meets all columns. What
/// an element takes is what its products, its inputs or its sums take, whichever is most; its
/// result leaves `latency` elements later. Sources: PopLibs popsparse, FullyConnectedPlan.cpp, and
/// poplin, PerformanceEstimation.hpp (MIT); the assembly of its codelets.
class AmpUnit {
 public:
  /// That of a GC200.
  AmpUnit() = default;

  /// `store_bytes` are those of a bundle.
  AmpUnit(const AmpParams& params, unsigned store_bytes);

  bool has(AmpMode mode) const { return macs(mode) != 0; }

  /// Products in a clock.
  unsigned macs(AmpMode mode) const;

  /// Outputs that it works on at once.
  unsigned columns(AmpMode mode) const;

  /// Inputs that it contracts in a pass: those whose weights a column holds.
  unsigned contraction(AmpMode mode) const;

  /// Bundles of an element in a pass over so many inputs and outputs.
  unsigned bundles(AmpMode mode, unsigned inputs, unsigned outputs) const;

  /// The same with all its inputs and columns.
  unsigned bundles(AmpMode mode) const { return bundles(mode, contraction(mode), columns(mode)); }

  /// Passes over a block of weights.
  unsigned passes(AmpMode mode, unsigned inputs, unsigned outputs) const;

  /// Bundles of an element beyond those of the unit that the codelets were written for; less than 0
  /// if there are fewer.
  int more_bundles(AmpMode mode, unsigned inputs, unsigned outputs) const;
  int more_bundles(AmpMode mode) const;

  /// Bundles at the end of a worker's pass, likewise.
  int more_fill(AmpMode mode, unsigned inputs, unsigned outputs) const;
  int more_fill(AmpMode mode) const;
  /// Bytes of sums that a bundle stores.
  unsigned store_bytes() const { return store_bytes_; }

  /// Bytes of the weights of a pass with all columns.
  std::uint64_t store_of(AmpMode mode) const {
    return std::uint64_t{column_bytes_} * columns(mode);
  }

  /// Loads with which the supervisor puts `bytes` into the weight store, each of so many words of
  /// 64 bits.
  unsigned load_words() const { return weight_bytes_ >= 16 ? 2 : 1; }
  std::uint64_t weight_loads(std::uint64_t bytes) const;

  /// Clocks that takes: one for each load, more if the store takes less in a clock than a load has.
  Cycle weight_clocks(std::uint64_t bytes) const;

 private:
  /// Products of a column in a clock.
  unsigned depth(AmpMode mode) const;

  unsigned half_macs_ = 64;
  unsigned mixed_macs_ = 32;
  unsigned single_macs_ = 16;
  unsigned quarter_macs_ = 0;
  unsigned depth_ = 4;  // of fp16
  unsigned column_bytes_ = 32;
  unsigned input_bytes_ = 8;
  unsigned weight_bytes_ = 8;
  unsigned store_bytes_ = 8;
  unsigned latency_ = 1;
};

}  // namespace lacuna::ipu
