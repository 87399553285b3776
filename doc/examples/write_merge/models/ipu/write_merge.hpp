// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/ipu/bundle.hpp"
#include "sim/base/parameter.hpp"

namespace lacuna::ipu {

struct WriteMergeParams : ParameterSet {
  Param<unsigned> slots =
      param(this, "slots", 0U, range(0U, 16U), "slots",
            "That a bundle loses if it stores a half of a protected word of 16 B, so that the "
            "other half is read first; 0: memory without such words.");
};

/// The merging of writes in a memory with error correction: one code protects 16 B, and a store of
/// half of them waits until it is known with the other half.
class WriteMerge {
 public:
  static constexpr unsigned kAccesses = 2;  // of 64 bits, of a protected word

  explicit WriteMerge(const WriteMergeParams& params) : slots_(params.slots) {}

  /// Whether what the bundle stores ends with a half of a protected word.
  static bool merges(const Bundle& bundle);

  /// Slots that the bundle loses.
  std::uint32_t lost(const Bundle& bundle) const { return merges(bundle) ? slots_ : 0; }

 private:
  std::uint32_t slots_;
};

}  // namespace lacuna::ipu
