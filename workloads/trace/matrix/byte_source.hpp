// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace lacuna {

/// Bytes that are read once, from the first to the last: puts `most` of them into `into` and gives
/// their number, which is smaller only at their end.
using ByteSource = std::function<std::size_t(char* into, std::size_t most)>;

/// A file of which parts are read.
class PartFile {
 public:
  /// TraceError E001 if there is no such file, or if it is none of which parts can be read.
  explicit PartFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// The bytes from `at` on, fewer than `size` where the file ends.
  std::string part(std::uint64_t at, std::uint64_t size);

  /// The same piece by piece, while the file is open. Several sources may be read by turns.
  ByteSource source(std::uint64_t at, std::uint64_t size);

 private:
  std::string path_;
  std::ifstream bytes_;
  std::uint64_t size_;
};

/// The number of these bytes, at most eight, the lowest first.
std::uint64_t number_of(std::string_view bytes);

/// TraceError E308 of what was found in a file of arrays.
[[noreturn]] void refuse_array(const std::string& path, const std::string& found,
                               const std::string& allowed);

}  // namespace lacuna
