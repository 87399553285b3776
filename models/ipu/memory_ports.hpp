// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/ipu/bundle.hpp"
#include "models/ipu/chip_params.hpp"

namespace lacuna::ipu {

/// The 64-bit accesses to memory that a bundle makes.
std::uint64_t reads_of(const Bundle& bundle);
std::uint64_t writes_of(const Bundle& bundle);

/// The ports of a tile's memory. A bundle that loads or stores more than they can in a slot takes
/// more slots; so does one that asks an element of the memory for more than it can.
class MemoryPorts {
 public:
  static constexpr unsigned kAccessBytes = 8;

  explicit MemoryPorts(const MemoryParams& memory)
      : load_bytes_(memory.load_bytes), store_bytes_(memory.store_bytes) {}

  /// The most that a bundle may ask for: two loads of 64 bits and a store, as the instruction set
  /// has them, or what wider ports can.
  unsigned most_loads() const { return load_bytes_ > 16 ? load_bytes_ : 16; }
  unsigned most_stores() const { return store_bytes_ > 8 ? store_bytes_ : 8; }

  /// Bytes that a bundle of the matrix unit stores: one, two, four or eight whole accesses.
  unsigned whole_stores() const;

  /// Slots that a bundle loses because it loads or stores more than the ports can in one.
  std::uint32_t lost(const Bundle& bundle) const;

  /// Slots that so many accesses to one element of the memory take; an interleaved one has two
  /// ports.
  static std::uint64_t element_slots(std::uint64_t accesses, bool interleaved) {
    return interleaved ? (accesses + 1) / 2 : accesses;
  }

 private:
  unsigned load_bytes_;
  unsigned store_bytes_;
};

}  // namespace lacuna::ipu
