// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/split.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 63U;

std::string read_text(ByteSource& bytes, std::size_t size, const std::string& path) {
  std::string text(size, '\0');
  if (bytes.read(text.data(), size) == size) return text;
  refuse_array(path, "a header that is cut off", "a whole NumPy array");
}

// What follows 'KEY': in the header, without blanks.
std::string_view value_of(std::string_view header, const std::string& key,
                          const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string_view::npos) {
    refuse_array(path, "a header without " + key, "a NumPy header");
  }
  return trimmed(header.substr(at + key.size() + 3));
}

std::vector<std::uint64_t> read_shape(std::string_view text, const std::string& path) {
  const std::size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos) {
    refuse_array(path, "a header without shape", "a NumPy header");
  }
  std::vector<std::uint64_t> shape;
  for (const std::string& part : split(std::string(text.substr(1, end - 1)), ',')) {
    if (trimmed(part).empty()) continue;  // behind the last comma, or of no dimension
    const auto side = parse_integer(trimmed(part), 0, kMostNumbers);
    if (!side) {
      refuse_array(path, fmt::format("shape ({})", quotable(text.substr(1, end - 1))),
                   "sides that are whole numbers");
    }
    shape.push_back(*side);
  }
  return shape;
}

/// The text of the header; `bytes` is then behind it.
std::string header_text(ByteSource& bytes, const std::string& path) {
  constexpr std::size_t kMagic = 6;
  const std::string start = read_text(bytes, kMagic + 2, path);
  if (start.substr(0, kMagic) != "\x93NUMPY") {
    refuse_array(path, "bytes that are no NumPy array", "a .npy file");
  }
  const auto version = static_cast<unsigned char>(start[kMagic]);
  if (version < 1 || version > 3) refuse_array(path, fmt::format("version {}", version), "1, 2, 3");
  const std::string digits = read_text(bytes, version == 1 ? 2 : 4, path);
  std::size_t length = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    length = length << 8U | static_cast<unsigned char>(digits[i]);
  }
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  if (length > kLongest) refuse_array(path, "a header above 1 MiB", "a NumPy header");
  return read_text(bytes, length, path);
}

/// The word between quotes at the beginning of `text`, such as "<f4".
std::string_view quoted(std::string_view text) {
  const std::size_t end = text.find('\'', 1);
  return end == std::string_view::npos ? text : text.substr(1, end - 1);
}

}  // namespace

std::uint64_t ArrayHeader::count() const {
  std::uint64_t all = 1;
  for (const std::uint64_t side : shape) {
    if (side == 0) return 0;
    all = all > kMostNumbers / side ? kMostNumbers : all * side;
  }
  return all;
}

ArrayHeader read_npy_header(ByteSource& bytes, const std::string& path) {
  const std::string text = header_text(bytes, path);
  ArrayHeader header;
  const std::string_view name = quoted(value_of(text, "descr", path));
  const bool has_order =
      !name.empty() && std::string_view("<>|=").find(name[0]) != std::string::npos;
  header.type = find_npy_type(has_order ? name.substr(1) : name);
  if (header.type == nullptr) {
    refuse_array(path, fmt::format("type {}", quotable(name)), npy_types());
  }
  header.big_endian = has_order && name[0] == '>';
  header.by_columns = value_of(text, "fortran_order", path).rfind("True", 0) == 0;
  header.shape = read_shape(value_of(text, "shape", path), path);
  return header;
}

std::string read_npy_word(ByteSource& bytes, const std::string& path) {
  const std::string text = header_text(bytes, path);
  const std::string type(quoted(value_of(text, "descr", path)));
  std::string word(std::size_t{64}, '\0');
  word.resize(bytes.read(word.data(), word.size()));
  if (type.find_first_of("SU") == std::string::npos) refuse_array(path, "type " + type, "a word");
  // letters of four bytes in type U
  word.erase(std::remove(word.begin(), word.end(), '\0'), word.end());
  return word;
}

}  // namespace lacuna
