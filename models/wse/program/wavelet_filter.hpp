// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// Decides, between the ramp and a queue, which wavelets of a color a core wants. A rejected
/// wavelet has taken its cycle of the ramp, and is gone; it wakes nothing. That such filters exist
/// is public (US patents 12,217,147 and 12,169,771), their registers are not.
class WaveletFilter {
 public:
  /// `counter` passes `pass` of every `period` wavelets, from number `offset` on;
  /// `sparse_counter` does so with groups of wavelets, each ended by a control wavelet;
  /// `range` passes wavelets whose upper 16 bits lie in [low, high]; `zeros` passes what is no
  /// zero.
  enum class Kind : std::uint8_t { none, counter, sparse_counter, range, zeros };

  WaveletFilter() = default;

  static WaveletFilter counter(std::uint32_t pass, std::uint32_t period, std::uint32_t offset) {
    return {Kind::counter, pass, period, offset};
  }
  static WaveletFilter sparse_counter(std::uint32_t pass, std::uint32_t period,
                                      std::uint32_t offset) {
    return {Kind::sparse_counter, pass, period, offset};
  }
  static WaveletFilter zeros() { return {Kind::zeros, 0, 1, 0}; }
  static WaveletFilter range(std::uint32_t low, std::uint32_t high) {
    return {Kind::range, low, high, 0};
  }

  Kind kind() const { return kind_; }
  std::uint32_t pass() const { return a_; }
  std::uint32_t period() const { return b_; }
  std::uint32_t offset() const { return offset_; }
  std::uint32_t low() const { return a_; }
  std::uint32_t high() const { return b_; }

  /// True if the core wants `word`, the next to come.
  bool passes(const Wavelet& word) {
    if (kind_ == Kind::none) return true;
    if (kind_ == Kind::zeros) return !word.zero;
    if (kind_ == Kind::range) return word.payload >> 16U >= a_ && word.payload >> 16U <= b_;
    const bool wanted = (number_ + b_ - offset_ % b_) % b_ < a_;
    if (kind_ == Kind::counter || word.control) number_ = (number_ + 1) % b_;
    return wanted;
  }

 private:
  WaveletFilter(Kind kind, std::uint32_t a, std::uint32_t b, std::uint32_t offset)
      : kind_(kind), a_(a), b_(b), offset_(offset) {}

  Kind kind_ = Kind::none;
  std::uint32_t a_ = 0;  // pass, or low
  std::uint32_t b_ = 1;  // period, or high
  std::uint32_t offset_ = 0;
  std::uint32_t number_ = 0;  // of the next wavelet or group, modulo the period
};

}  // namespace lacuna::wse
