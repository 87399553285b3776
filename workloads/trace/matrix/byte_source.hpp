// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

namespace lacuna {

/// Bytes that are read once, from the first to the last.
class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads `most` bytes into `into`; fewer only at their end.
  virtual std::size_t read(char* into, std::size_t most) = 0;
};

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
  std::unique_ptr<ByteSource> source(std::uint64_t at, std::uint64_t size);

 private:
  std::string path_;
  std::ifstream bytes_;
  std::uint64_t size_ = 0;
};

/// TraceError E308 of what was found in a file of arrays.
[[noreturn]] void refuse_array(const std::string& path, const std::string& found,
                               const std::string& allowed);

}  // namespace lacuna
