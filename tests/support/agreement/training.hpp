// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/driver/system/job.hpp"

namespace lacuna::test {

/// A training on chips of a few tiles that runs in milliseconds.
class SmallTraining {
 public:
  /// BERT-Tiny with 2 layers, on machines of four chips of 192 tiles.
  SmallTraining();

  /// A layout drawn at random; it may be one that does not go.
  explicit SmallTraining(Random& random);

  /// "training.WORD=VALUE", or of the system.
  SmallTraining& set(const std::string& setting);

  /// Settings as `nearest_fit` writes them, --set before each.
  SmallTraining& set_all(const std::string& words);

  /// The refusal if it is refused or has no room.
  std::string refusal() const;

  /// What the chips hold, without simulating anything.
  TrainingResult account() const;
  TrainingResult run() const;
  std::string advice() const;
  SystemMachine machine() const;

  system::TrainingParams training;

 private:
  std::vector<std::string> settings_;
};

/// Bytes of all transfers of this way in a program.
std::uint64_t bytes_of(const system::Program& program, system::Way way);

}  // namespace lacuna::test
