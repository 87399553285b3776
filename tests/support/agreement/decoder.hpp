// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/driver/inference/pod_model.hpp"

namespace lacuna::test {

/// A decoder on four chips of a few tiles that runs in milliseconds.
class SmallDecoder {
 public:
  explicit SmallDecoder(Random& random);

  /// "inference.WORD=VALUE", or of the system.
  SmallDecoder& set(const std::string& setting);

  /// A pass of one token at that position, its weights with such zeros, such as "block4:0.25".
  PodPass pass(std::uint32_t context) const;
  ModelReport decode(std::uint32_t context, const std::string& pattern = "dense",
                     std::uint64_t seed = 1) const;

  /// Why such a context is refused; empty if it runs.
  std::string refusal(std::uint32_t context) const;

  ModelShape model;
  system::InferenceParams params;

 private:
  PodModel made(const std::string& pattern, std::uint64_t seed) const;

  std::vector<std::string> settings_;
};

}  // namespace lacuna::test
