// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/sparsity/largest.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// One step of sparse training: `count` kept blocks are dropped and as many are grown, so that
/// the number of kept blocks never changes.
struct Repattern {
  enum class Drop { random, magnitude };
  enum class Regrow {
    random,    // uniform among blocks not kept before the drop
    gradient,  // the largest gradients outside the blocks kept after the drop
  };

  std::uint64_t count = 0;
  Drop drop = Drop::random;
  Regrow regrow = Regrow::random;
};

/// `weights` scores the blocks for Drop::magnitude (the lowest kept ones go), `gradients` for
/// Regrow::gradient; either may be null where it is not used. Random drops are drawn before
/// random growth. `count` is cut to the blocks that can be dropped and grown.
Mask repattern(const Mask& mask, const Repattern& step, std::uint64_t seed, RowScores* weights,
               RowScores* gradients);

}  // namespace lacuna
