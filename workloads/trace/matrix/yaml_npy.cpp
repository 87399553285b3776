// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/yaml_npy.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <string_view>

#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 63U;

std::string read_text(ByteSource& bytes, std::size_t size, const std::string& path) {
  std::string text(size, '\0');
  if (bytes(text.data(), size) == size) return text;
  refuse_array(path, "a header that is cut off", "a whole NumPy array");
}

/// What the header says, a literal of Python, which is YAML but for its parentheses; `bytes` is
/// then behind it.
YAML::Node read_header(ByteSource& bytes, const std::string& path) {
  constexpr std::size_t kMagic = 6;
  const std::string start = read_text(bytes, kMagic + 2, path);
  if (start.substr(0, kMagic) != "\x93NUMPY") {
    refuse_array(path, "bytes that are no NumPy array", "a .npy file");
  }
  const auto version = static_cast<unsigned char>(start[kMagic]);
  if (version < 1 || version > 3) refuse_array(path, fmt::format("version {}", version), "1, 2, 3");
  const std::string digits = read_text(bytes, version == 1 ? 2 : 4, path);
  const std::uint64_t length = number_of(digits);
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  if (length > kLongest) refuse_array(path, "a header above 1 MiB", "a NumPy header");
  std::string text = read_text(bytes, length, path);
  std::replace(text.begin(), text.end(), '(', '[');
  std::replace(text.begin(), text.end(), ')', ']');
  try {
    YAML::Node header = YAML::Load(text);
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (header.IsMap() && header[key]) continue;
      refuse_array(path, fmt::format("a header without {}", key), "a NumPy header");
    }
    return header;
  } catch (const YAML::Exception& error) {
    refuse_array(path, "a header that is no literal: " + error.msg, "a NumPy header");
  }
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
  const YAML::Node said = read_header(bytes, path);
  const auto name = said["descr"].as<std::string>("of several fields");
  const bool has_order = name.find_first_of("<>|=") == 0;
  ArrayHeader header;
  header.type = find_npy_type(std::string_view(name).substr(has_order ? 1 : 0));
  if (header.type == nullptr) {
    refuse_array(path, fmt::format("type {}", quotable(name)), npy_types());
  }
  header.big_endian = has_order && name[0] == '>';
  header.by_columns = said["fortran_order"].as<bool>(false);
  for (const YAML::Node& each : said["shape"]) {
    const auto text = each.as<std::string>("");
    const auto side = parse_integer(text, 0, kMostNumbers);
    if (!side) refuse_array(path, "side " + quotable(text), "sides that are whole numbers");
    header.shape.push_back(*side);
  }
  return header;
}

std::string read_npy_word(ByteSource& bytes, const std::string& path) {
  const auto type = read_header(bytes, path)["descr"].as<std::string>("of several fields");
  std::string word(std::size_t{64}, '\0');
  word.resize(bytes(word.data(), word.size()));
  if (type.find_first_of("SU") == std::string::npos) refuse_array(path, "type " + type, "a word");
  // letters of four bytes in type U
  word.erase(std::remove(word.begin(), word.end(), '\0'), word.end());
  return word;
}

}  // namespace lacuna
