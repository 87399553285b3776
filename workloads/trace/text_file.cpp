// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/text_file.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& found,
                                   const std::string& allowed) {
  throw_diagnostic(place(path), "E001", found, allowed);
}

}  // namespace

std::string packed_by(const std::string& path, std::string_view text) {
  static const std::array<std::pair<std::string_view, const char*>, 5> kMarks = {{
      {"\x1f\x8b", "gzip"},
      {"BZh", "bzip2"},
      {std::string_view("\xfd\x37zXZ\0", 6), "xz"},
      {"\x28\xb5\x2f\xfd", "zstd"},
      {"PK\x03\x04", "zip"},
  }};
  for (const auto& [mark, program] : kMarks) {
    const bool arrays = mark[0] == 'P' && std::filesystem::path(path).extension() == ".npz";
    if (!arrays && text.substr(0, mark.size()) == mark) return program;
  }
  return {};
}

std::ifstream open_file(const std::string& path, bool in_parts) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw_unreadable(path, "no file", "a file that exists");
  if (std::filesystem::is_directory(status)) throw_unreadable(path, "a folder", "a file");
  if (in_parts && !std::filesystem::is_regular_file(status)) {
    throw_unreadable(path, "a pipe or device", "a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_unreadable(path, "a file that cannot be opened", "a readable file");
  return file;
}

std::string read_text_file(const std::string& path) {
  const std::string kMark = "\xEF\xBB\xBF";  // that some programs put before UTF-8
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::ifstream file = open_file(path);
  std::string text;
  std::array<char, kPiece> piece{};
  // Piece by piece, since the size of what is not a regular file is not known beforehand.
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostInput) {
      throw_unreadable(path, fmt::format("more than {} bytes", kMostInput), "at most 1 GiB");
    }
  }
  if (file.bad()) throw_unreadable(path, "a file that cannot be read", "a readable file");
  if (const std::string packed = packed_by(path, text); !packed.empty()) {
    throw_unreadable(path, fmt::format("a file packed by {}", packed), "the unpacked file");
  }
  if (text.compare(0, kMark.size(), kMark) == 0) text.erase(0, kMark.size());
  return text;
}

}  // namespace lacuna
