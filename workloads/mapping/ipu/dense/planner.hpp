// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// The clocks a plan is expected to take, by phase.
struct DenseEstimate {
  Cycle compute = 0;
  Cycle inputs = 0;
  Cycle weights = 0;
  Cycle partials = 0;
  Cycle reduce = 0;

  Cycle total() const { return compute + inputs + weights + partials + reduce; }
};

/// How a dense product is cut: the columns of the right operand (the field) in field_split parts,
/// the rows of the left one (the output channels) in out_split, the contraction in in_split. Each
/// combination of parts is one tile's. A product that does not fit is cut into serial steps first.
struct DensePlan {
  std::uint64_t field_split = 1;
  std::uint64_t out_split = 1;
  std::uint64_t in_split = 1;
  std::uint64_t field = 0;         // columns of a part
  std::uint64_t out_channels = 0;  // of a part, a multiple of 16
  std::uint64_t in_channels = 0;   // of a part, a multiple of the group of the type
  std::uint64_t tile_bytes = 0;    // that the largest part needs
  DenseEstimate estimate;          // of one serial step
  DenseEstimate staged;            // the same with partials summed in stages, as they are

  std::uint64_t serial_m = 1;  // steps one after another over rows and over columns
  std::uint64_t serial_n = 1;
  std::uint64_t step_m = 0;  // rows and columns of the largest step
  std::uint64_t step_n = 0;

  std::uint64_t tiles() const { return field_split * out_split * in_split; }
  std::uint64_t steps() const { return serial_m * serial_n; }
  /// An operand is exchanged anew for each step, unless only the other one changes.
  bool inputs_stay() const { return serial_m > 1 && serial_n == 1; }
  bool weights_stay() const { return serial_n > 1; }

  /// The estimate of all steps.
  DenseEstimate of_steps(const DenseEstimate& one) const {
    return {steps() * one.compute, (inputs_stay() ? 1 : steps()) * one.inputs,
            serial_m * one.weights, steps() * one.partials, steps() * one.reduce};
  }
};

/// Words of an operand that a tile is home of when it is spread over `parts` tiles. A tile has at
/// least 128 bytes of inputs or 256 of weights, so small operands come in few pieces. As PopLibs
/// poplin mapActivations and mapWeights (MIT).
std::uint64_t dense_home_words(bool weights, std::uint64_t words, std::uint64_t parts);

/// What the fullest tile holds when the plan is executed, the homes of all operands included.
std::uint64_t dense_tile_bytes(const Types& types, const DensePlan& plan);

/// The cheapest plan of one step of an m x k times k x n product, after PopLibs poplin (MIT);
/// nothing if no partition fits `target.planning_bytes`.
std::optional<DensePlan> plan_dense_step(const Target& target, const Types& types, std::uint64_t m,
                                         std::uint64_t k, std::uint64_t n);

/// The cheapest plan in equal steps over the rows, of whole groups of output channels, within the
/// part of memory that a plan may use. One step is such a plan; weights are cut as poplin cuts
/// output channels serially. If there is none, that part is a target. Then two kinds compete: plans
/// with the fewest steps over rows and columns that meet it, and plans with fewer steps that fit
/// the tile. Throws OutOfMemoryError if there is none of these.
DensePlan plan_dense(const Target& target, const Types& types, std::uint64_t m, std::uint64_t k,
                     std::uint64_t n);

}  // namespace lacuna::ipu
