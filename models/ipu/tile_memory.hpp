// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/common/rounding.hpp"

namespace lacuna::ipu {

/// The words of a tile when a run carries values. Halves lie two to a word, the even one low.
/// Addresses count from the beginning of a window, which is that of the memory unless it is moved.
class TileMemory {
 public:
  explicit TileMemory(std::size_t words) : words_(words) {}

  std::uint32_t word(std::size_t address) const { return words_.at(base_ + address); }
  void set_word(std::size_t address, std::uint32_t value) { words_.at(base_ + address) = value; }

  /// Has addresses count from word `base` of the memory.
  void move_window(std::size_t base) { base_ = base; }

  /// The half at `index` halves from the beginning of the window.
  Half half(std::size_t index) const {
    return static_cast<Half>(words_.at(base_ + index / 2) >> (index % 2 * 16));
  }
  void set_half(std::size_t index, Half value) {
    std::uint32_t& word = words_.at(base_ + index / 2);
    const auto shift = static_cast<unsigned>(index % 2 * 16);
    word = (word & ~(0xffffU << shift)) | static_cast<std::uint32_t>(value) << shift;
  }

  /// The byte at `index` bytes from the beginning of the window, the first of a word low.
  std::uint8_t byte(std::size_t index) const {
    return static_cast<std::uint8_t>(word(index / 4) >> (index % 4 * 8));
  }
  void set_byte(std::size_t index, std::uint8_t value) {
    std::uint32_t& word = words_.at(base_ + index / 4);
    const auto shift = static_cast<unsigned>(index % 4 * 8);
    word = (word & ~(0xffU << shift)) | static_cast<std::uint32_t>(value) << shift;
  }

  float real(std::size_t address) const { return detail::float_of(word(address)); }
  void set_real(std::size_t address, float value) { set_word(address, detail::bits_of(value)); }

  /// How results become halves here; part of the tile's state, like its words.
  HalfRounding& rounding() { return rounding_; }
  const HalfRounding& rounding() const { return rounding_; }

 private:
  HalfRounding rounding_;
  std::vector<std::uint32_t> words_;
  std::size_t base_ = 0;
};

}  // namespace lacuna::ipu
