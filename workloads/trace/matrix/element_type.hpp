// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lacuna {

/// How the numbers of an array are stored. Bits are those of one number, the lowest byte first.
struct ElementType {
  const char* npy;          // NumPy's kind and size, as in "f4"; empty: it has no such type
  const char* safetensors;  // its name there
  std::size_t size;         // bytes
  unsigned fraction;        // bits of it; 0: whole numbers
  std::uint64_t sign;       // the bit of the sign; 0: it has none
  std::uint64_t infinite;   // the first magnitude that is no number; 0: there is none

  bool is_zero(std::uint64_t bits) const { return fraction == 0 ? bits == 0 : (bits & ~sign) == 0; }
  bool is_finite(std::uint64_t bits) const { return infinite == 0 || (bits & ~sign) < infinite; }
  /// The absolute value of a finite number.
  double magnitude(std::uint64_t bits) const;
};

/// The type of a name, or null: "f4", and "F32".
const ElementType* find_npy_type(std::string_view name);
const ElementType* find_safetensors_type(std::string_view name);

/// All names, for messages.
std::string npy_types();
std::string safetensors_types();

}  // namespace lacuna
