// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workloads/trace/matrix/byte_source.hpp"

struct zip;  // of libzip

namespace lacuna {

/// An open zip archive. TraceError if it is damaged.
class ZipArchive {
 public:
  explicit ZipArchive(const std::string& path);

  /// The names of its members.
  std::vector<std::string> names() const;

  /// The bytes of a member, by its place among the names, while the archive is open. Reading them
  /// to the end throws TraceError if they are not those that were packed.
  ByteSource open(std::size_t place) const;

 private:
  std::string path_;
  std::unique_ptr<zip, void (*)(zip*)> zip_;
};

}  // namespace lacuna
