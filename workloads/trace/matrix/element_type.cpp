// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/element_type.hpp"

#include <array>
#include <cmath>

namespace lacuna {
namespace {

constexpr std::uint64_t bit(unsigned place) { return std::uint64_t{1} << place; }

/// A number of sign, exponent and fraction; E4M3 has numbers where others have infinity.
constexpr ElementType real(const char* npy, const char* name, unsigned exponent,
                           unsigned fraction) {
  const unsigned bits = 1 + exponent + fraction;
  return {npy, name, bits / 8, fraction, bit(bits - 1), (bit(exponent) - 1) << fraction};
}

constexpr ElementType whole(const char* npy, const char* name, unsigned bytes, bool is_signed) {
  return {npy, name, bytes, 0, is_signed ? bit(8 * bytes - 1) : 0, 0};
}

constexpr ElementType kE4m3 = {"", "F8_E4M3", 1, 3, 0x80, 0x7f};

constexpr std::array<ElementType, 15> kTypes = {
    {real("f2", "F16", 5, 10), real("f4", "F32", 8, 23), real("f8", "F64", 11, 52),
     real("", "BF16", 8, 7), kE4m3, real("", "F8_E5M2", 5, 2), whole("i1", "I8", 1, true),
     whole("i2", "I16", 2, true), whole("i4", "I32", 4, true), whole("i8", "I64", 8, true),
     whole("u1", "U8", 1, false), whole("u2", "U16", 2, false), whole("u4", "U32", 4, false),
     whole("u8", "U64", 8, false), whole("b1", "BOOL", 1, false)}};

const ElementType* find(std::string_view name, const char* ElementType::*names) {
  for (const ElementType& type : kTypes) {
    if (!name.empty() && name == type.*names) return &type;
  }
  return nullptr;
}

std::string all(const char* ElementType::*names) {
  std::string text;
  for (const ElementType& type : kTypes) {
    if (*(type.*names) != '\0') text += (text.empty() ? "" : ", ") + std::string(type.*names);
  }
  return text;
}

}  // namespace

double ElementType::magnitude(std::uint64_t bits) const {
  if (fraction == 0) {
    const std::uint64_t mask = sign == 0 ? ~std::uint64_t{0} : (sign << 1U) - 1;
    return static_cast<double>((bits & sign) != 0 ? (~bits + 1) & mask : bits);
  }
  const std::uint64_t exponent = (bits & ~sign) >> fraction;
  const std::uint64_t part = bits & (bit(fraction) - 1);
  const int bias = static_cast<int>((sign >> fraction) / 2) - 1;
  const int unit = 1 - bias - static_cast<int>(fraction);
  if (exponent == 0) return std::ldexp(static_cast<double>(part), unit);
  return std::ldexp(static_cast<double>(part | bit(fraction)),
                    static_cast<int>(exponent) - 1 + unit);
}

const ElementType* find_npy_type(std::string_view name) { return find(name, &ElementType::npy); }

const ElementType* find_safetensors_type(std::string_view name) {
  return find(name, &ElementType::safetensors);
}

std::string npy_types() { return all(&ElementType::npy); }
std::string safetensors_types() { return all(&ElementType::safetensors); }

}  // namespace lacuna
