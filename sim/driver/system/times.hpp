// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/machines/machine.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a row took, as it was simulated and priced: all of its repeats together.
system::ChipCost cost_of(const OpRecord& record);

/// Simulates rows of a model on a chip, each distinct one once. What a simulation counted is kept
/// in `cache`, if there is one, under the parameters of the chip, the row, its mask, the seed and
/// the engine; it is priced anew.
class ChipTimes {
 public:
  ChipTimes(const Pricing& pricing, std::uint64_t seed, Engine engine, PartCache* cache = nullptr);

  /// The row of `trace` on `chip`, once. OutOfMemoryError and UnsupportedError name the row.
  system::ChipCost cost(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  /// What the fullest tile needs for it, from its plan if that says it.
  std::uint64_t tile_bytes(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  /// Cycles that the row cannot be below, without a simulation.
  Cycle least(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  /// All that the cost of a row depends on: rows of one key are alike.
  std::string key(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace) const;

  /// The row simulated in any case, with what each tile did over time, not priced.
  OpResult seen(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

 private:
  OpRecord simulate(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace,
                    const Execution& execution);
  std::optional<OpRecord> kept(const std::string& key);
  void keep(const std::string& key, const OpRecord& record);

  const Pricing& pricing_;
  std::uint64_t seed_;
  Engine engine_;
  MaskStore masks_;
  PartCache* cache_;
  std::map<std::string, system::ChipCost> known_;
  std::map<std::string, std::uint64_t> planned_;  // bytes of a tile
};

}  // namespace lacuna
