// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// Where data begins in the memory of a core; a beat reads two operands in one cycle only if
/// they are four bytes apart modulo eight.
enum class Half8 : std::uint8_t { lower, upper };

/// Deals out the memory of a core, from its beginning.
class CoreSpace {
 public:
  /// The address of `elements` of `bytes` each, at 0 or 4 modulo 8.
  std::uint32_t take(std::uint64_t elements, unsigned bytes, Half8 where = Half8::lower) {
    const std::uint64_t base = (end_ + 7) / 8 * 8 + (where == Half8::upper ? 4 : 0);
    end_ = base + elements * bytes;
    return static_cast<std::uint32_t>(base);
  }
  std::uint64_t bytes() const { return (end_ + 7) / 8 * 8; }

 private:
  std::uint64_t end_ = 0;
};

/// `count` elements at `address` for each of the next `repeat` elements the same.
inline Operand each_for(std::uint32_t address, std::uint64_t repeat) {
  Operand operand = in_memory(address, 0);
  operand.inner = static_cast<std::uint32_t>(repeat);
  operand.outer = 1;
  return operand;
}

}  // namespace lacuna::wse
