// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/machines/machine.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Simulates rows of a model on a chip, each distinct one once. With the environment variable
/// LACUNA_CACHE, a folder, results are kept there under a hash of all that they depend on: the
/// program itself, the prices, the parameters of the chip, the row, its mask and the seed.
class ChipTimes {
 public:
  ChipTimes(const Pricing& pricing, std::uint64_t seed, Engine engine);

  /// The row of `trace` on `chip`. OutOfMemoryError and UnsupportedError name the row.
  system::ChipCost cost(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);

  std::size_t simulated() const { return simulated_; }
  std::size_t from_folder() const { return from_folder_; }

 private:
  system::ChipCost simulate(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace);
  bool read(const std::string& hash, system::ChipCost& cost) const;
  void write(const std::string& hash, const system::ChipCost& cost) const;

  const Pricing& pricing_;
  std::uint64_t seed_;
  Engine engine_;
  MaskStore masks_;
  std::string folder_;   // of kept results; empty: none
  std::string program_;  // hash of this binary and of the prices
  std::map<std::string, system::ChipCost> known_;
  std::size_t simulated_ = 0;
  std::size_t from_folder_ = 0;
};

/// Power of a chip that does nothing, in watts.
JouleRange idle_watts(const Machine& chip, const Pricing& pricing);

/// The same of a machine of so many tiles or cores.
JouleRange idle_watts(const Machine& machine, const Pricing& pricing, std::uint64_t units,
                      double clock_ghz);

}  // namespace lacuna
