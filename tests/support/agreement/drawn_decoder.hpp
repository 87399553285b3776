// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/random.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "workloads/generate/transformer.hpp"

namespace lacuna::test {

/// A decoder on a block of cores, and what it is asked to do.
struct DrawnDecoder {
  explicit DrawnDecoder(Random& random);

  DecodePlacement placement() const;

  ModelShape model;
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  std::uint32_t context = 1;
  std::uint32_t batch = 1;
};

}  // namespace lacuna::test
