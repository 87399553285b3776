// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lacuna::ipu {

/// What a bundle does that is counted. Reads and writes are 64-bit accesses to tile memory, by
/// the class of data; a 128-bit access counts two. The others are scalar operations.
enum class Tally : std::uint8_t {
  read_weight,
  read_input,
  read_output,
  read_partial,
  read_metadata,
  write_weight,
  write_input,
  write_output,
  write_partial,
  write_metadata,
  amp_mac_fp16,
  amp_mac_fp32,
  amp_mac_fp8,
  mac_fp16,  // multiply-accumulates of the vector unit
  mac_fp32,
  vec_add_fp16,
  vec_add_fp32,
  vec_mul_fp16,
  vec_mul_fp32,
  vec_int,
  vec_cvt,
  sfu_fp16,
  sfu_fp32,
  meta_words,  // 16-bit words of meta-information interpreted
  round_fp16,  // results rounded to fp16
};
inline constexpr std::size_t kTallies = static_cast<std::size_t>(Tally::round_fp16) + 1;

/// One number for each Tally.
using Tallies = std::array<std::uint64_t, kTallies>;

/// A kind of bundle: what one issue slot does, a main and an aux instruction together. A
/// supervisor's clock is described likewise. Example: Bundle("amp").add(Tally::amp_mac_fp16, 64).
struct Bundle {
  explicit Bundle(std::string bundle_name) : name(std::move(bundle_name)) {}

  Bundle& add(Tally tally, std::uint64_t n) {
    tallies.at(static_cast<std::size_t>(tally)) += n;
    return *this;
  }

  std::string name;
  Tallies tallies{};
};

}  // namespace lacuna::ipu
