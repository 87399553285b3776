// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "workloads/trace/matrix/npy_reader.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

void refuse_npy(const std::string& path, const std::string& found, const std::string& allowed) {
  throw_problem({path, "E308", "", found, allowed, ""});
}

namespace {

// IEEE half precision: sign, 5 bits of exponent, 10 of fraction.
double half(std::uint16_t bits) {
  constexpr unsigned kExponentMask = 0x1f;
  constexpr unsigned kFractionMask = 0x3ff;
  constexpr int kFractionBits = 10;
  constexpr int kBias = 15;
  const unsigned exponent = (bits >> 10U) & kExponentMask;
  const unsigned fraction = bits & kFractionMask;
  if (exponent == kExponentMask) {
    return fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return std::ldexp(fraction, 1 - kBias - kFractionBits);
  return std::ldexp(fraction + (1U << 10U), static_cast<int>(exponent) - kBias - kFractionBits);
}

template <class Raw>
Raw load(std::string_view bytes, std::size_t index) {
  Raw raw{};
  std::memcpy(&raw, bytes.data() + index * sizeof(Raw), sizeof(Raw));
  return raw;
}

struct Type {
  const char* name;
  std::size_t size;
  double (*magnitude)(std::string_view bytes, std::size_t index);
};

const Type* find_type(std::string_view name) {
  // NOLINTNEXTLINE(*-avoid-c-arrays)
  static const Type kTypes[] = {
      {"<f2", 2, [](std::string_view b, std::size_t i) { return half(load<std::uint16_t>(b, i)); }},
      {"<f4", 4,
       [](std::string_view b, std::size_t i) { return std::abs(double{load<float>(b, i)}); }},
      {"<f8", 8, [](std::string_view b, std::size_t i) { return std::abs(load<double>(b, i)); }},
      {"|i1", 1,
       [](std::string_view b, std::size_t i) {
         return std::abs(static_cast<double>(load<std::int8_t>(b, i)));
       }},
      {"|u1", 1,
       [](std::string_view b, std::size_t i) {
         return static_cast<double>(load<std::uint8_t>(b, i));
       }},
      {"|b1", 1,
       [](std::string_view b, std::size_t i) { return load<char>(b, i) == 0 ? 0.0 : 1.0; }}};
  for (const Type& type : kTypes) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

// What follows 'KEY': in the header, without blanks.
std::string_view value_of(std::string_view header, const std::string& key,
                          const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string_view::npos) refuse_npy(path, "a header without " + key, "a NumPy header");
  return trimmed(header.substr(at + key.size() + 3));
}

struct Header {
  const Type* type = nullptr;
  bool fortran = false;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::size_t data = 0;  // offset of the first number
};

void read_shape(std::string_view text, const std::string& path, Header& header) {
  const std::size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos) {
    refuse_npy(path, "a header without shape", "a NumPy header");
  }
  const std::string_view list = text.substr(1, end - 1);
  const std::size_t comma = list.find(',');
  constexpr std::uint64_t kMost = 0x7fffffff;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  const bool right =
      comma != std::string_view::npos &&
      parse_integer(trimmed(list.substr(0, comma)), 1, kMost, rows) == IntegerError::none &&
      parse_integer(trimmed(list.substr(comma + 1)), 1, kMost, cols) == IntegerError::none;
  if (!right) refuse_npy(path, fmt::format("shape ({})", quotable(list)), "a matrix, two sides");
  header.rows = static_cast<std::uint32_t>(rows);
  header.cols = static_cast<std::uint32_t>(cols);
}

Header read_header(std::string_view bytes, const std::string& path) {
  constexpr std::size_t kMagic = 6;
  constexpr std::size_t kShort = 10;  // bytes before the header of version 1
  constexpr std::size_t kLong = 12;
  if (bytes.size() < kLong || bytes.substr(0, kMagic) != "\x93NUMPY") {
    refuse_npy(path, "bytes that are no NumPy array", "a .npy file");
  }
  const auto version = static_cast<unsigned char>(bytes[kMagic]);
  if (version < 1 || version > 3) refuse_npy(path, fmt::format("version {}", version), "1, 2, 3");
  const std::size_t start = version == 1 ? kShort : kLong;
  const std::size_t length = version == 1 ? load<std::uint16_t>(bytes.substr(8), 0)
                                          : load<std::uint32_t>(bytes.substr(8), 0);
  if (length > bytes.size() - start) refuse_npy(path, "a header that is cut off", "all of it");
  const std::string_view text = bytes.substr(start, length);
  Header header;
  header.data = start + length;
  const std::string_view type = value_of(text, "descr", path);
  const std::size_t end = type.find('\'', 1);
  const std::string_view name = end == std::string_view::npos ? type : type.substr(1, end - 1);
  header.type = find_type(name);
  if (header.type == nullptr) {
    refuse_npy(path, fmt::format("type {}", quotable(name)), "<f2, <f4, <f8, |i1, |u1, |b1");
  }
  header.fortran = value_of(text, "fortran_order", path).rfind("True", 0) == 0;
  read_shape(value_of(text, "shape", path), path, header);
  return header;
}

}  // namespace

NpyMatrix parse_npy(std::string_view bytes, const std::string& path, const std::string& member) {
  if (bytes.rfind("PK", 0) == 0) {
    return parse_npy(unzip(bytes, path, member), member.empty() ? path : path + ":" + member);
  }
  const Header header = read_header(bytes, path);
  const std::string_view data = bytes.substr(header.data);
  NpyMatrix matrix;
  matrix.rows = header.rows;
  matrix.cols = header.cols;
  const std::uint64_t count = std::uint64_t{matrix.rows} * matrix.cols;
  if (count > data.size() / header.type->size || count * header.type->size != data.size()) {
    refuse_npy(path, fmt::format("{} bytes of numbers", data.size()),
               fmt::format("{} numbers of {} bytes", count, header.type->size));
  }
  matrix.magnitudes.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double magnitude = header.type->magnitude(data, i);
    if (!std::isfinite(magnitude)) {
      refuse_npy(path, fmt::format("number {} is not finite", i), "finite weights");
    }
    const std::uint64_t at = header.fortran ? (i % matrix.rows) * matrix.cols + i / matrix.rows : i;
    matrix.magnitudes[at] = magnitude;
  }
  return matrix;
}

NpyMatrix read_npy(const std::string& path) {
  const std::size_t mark = path.rfind(".npz:");
  if (mark == std::string::npos) return parse_npy(read_text_file(path), path);
  const std::string file = path.substr(0, mark + 4);
  return parse_npy(read_text_file(file), file, path.substr(mark + 5));
}

}  // namespace lacuna
