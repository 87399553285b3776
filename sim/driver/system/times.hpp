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

/// Simulates rows of a model on a chip, each distinct one once. What a simulation counted is kept
/// in `cache`, if there is one, under the parameters of the chip, the row, its mask, the seed and
/// the engine; it is priced anew.
class ChipTimes {
 public:
  ChipTimes(const Pricing& pricing, std::uint64_t seed, Engine engine, PartCache* cache = nullptr);

  /// The row of `trace` on `chip`. OutOfMemoryError and UnsupportedError name the row.
  system::ChipCost cost(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  /// Cycles that the row is expected to take, without a simulation; kNever if no one can say. Rows
  /// of equal shapes are expected to take as long.
  Cycle expected(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  /// Tiles or cores of the chip whose row was asked for last; 0 if none was.
  std::uint64_t units() const { return units_; }

  /// The part of its weights that the mask of that row keeps; 1 if it has none.
  double density() const { return density_; }

  /// All that the cost of a row depends on: rows of one key are alike.
  std::string key(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace) const;

  /// The row simulated in any case, with what each tile did over time, not priced.
  OpResult seen(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  std::size_t simulated() const { return simulated_; }

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
  struct Known {
    system::ChipCost cost;
    std::uint64_t units = 0;
    double density = 1;
  };
  std::map<std::string, Known> known_;
  std::map<std::string, Cycle> expected_;
  std::uint64_t units_ = 0;
  double density_ = 1;
  std::size_t simulated_ = 0;
};

}  // namespace lacuna
