// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/ipu/bundle.hpp"
#include "models/ipu/chip_params.hpp"

namespace lacuna::ipu {

/// Classes of data in a tile's memory, in the order of their tallies.
enum class Operand : std::uint8_t { weight, input, output, partial, metadata };
inline constexpr std::size_t kOperands = 5;

/// Bytes of each class on the fullest tile.
struct OperandBytes {
  std::array<std::uint64_t, kOperands> bytes{};

  OperandBytes& add(Operand operand, std::uint64_t n) {
    bytes.at(static_cast<std::size_t>(operand)) += n;
    return *this;
  }
};

/// Where a class lies: bytes [begin, end), and the elements of the memory it touches.
struct OperandPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t first_element = 0;
  std::uint32_t last_element = 0;
  bool interleaved = false;  // all of it

  bool empty() const { return begin == end; }
};

using MemoryLayout = std::array<OperandPlace, kOperands>;

/// Places the classes as an allocator that keeps apart what a bundle needs at once. Classes of
/// which a bundle makes two accesses go to the end of the memory, which is interleaved, the others
/// to its beginning. A class has elements of its own while there is room, else it shares one with
/// its neighbour. What does not fit is taken to lie in the last element.
MemoryLayout place_operands(const MemoryParams& memory, const OperandBytes& operands,
                            const std::vector<Bundle>& bundles);

/// Slots that a bundle loses because it loads or stores more than the ports of the tile can in one.
std::uint32_t lost_to_ports(const MemoryParams& memory, const Bundle& bundle);

/// Slots that each bundle loses. An element serves one access in a slot, two if it is interleaved.
/// Accesses of a class that is not wholly interleaved count as to one element.
std::vector<std::uint32_t> conflicts_of(const MemoryLayout& layout,
                                        const std::vector<Bundle>& bundles);

}  // namespace lacuna::ipu
