// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna {

/// What a machine adds whose weights can come from a store outside while it works.
class TakesStreams {
 public:
  virtual ~TakesStreams() = default;

  /// From now on a store streams the weights of all rows that do not ask for them to stay.
  virtual void feed_from_store() = 0;

  /// Whether words go out at the edge of the chip while others come in.
  virtual bool takes_while_it_gives() const = 0;

  /// Bytes of all cores together beside what the program itself takes.
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace lacuna
