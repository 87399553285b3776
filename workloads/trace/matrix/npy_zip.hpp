// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/trace/matrix/byte_source.hpp"

namespace lacuna {

/// A member of a zip archive.
struct ZipMember {
  std::string name;
  std::uint32_t method = 0;
  std::uint32_t check = 0;  // CRC-32 of its bytes
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of its header in the archive
};

/// The members of an archive, also of one above 4 GiB. TraceError if it is damaged.
std::vector<ZipMember> zip_members(PartFile& file);

/// The bytes of one that is stored or deflated. Reading them to the end throws TraceError if they
/// are not those that were packed.
std::unique_ptr<ByteSource> unzip(PartFile& file, const ZipMember& member);

}  // namespace lacuna
