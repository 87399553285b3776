// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "workloads/trace/matrix/npy_reader.hpp"
#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

// Little-endian numbers of an archive; a place outside of it is a damage.
class Bytes {
 public:
  Bytes(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::uint32_t word(std::size_t at) const { return short_word(at) | (short_word(at + 2) << 16U); }
  std::uint32_t short_word(std::size_t at) const {
    const std::string_view two = part(at, 2);
    return static_cast<std::uint32_t>(static_cast<unsigned char>(two[0])) |
           static_cast<std::uint32_t>(static_cast<unsigned char>(two[1])) << 8U;
  }
  std::string_view part(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) {
      refuse_npy(path_, "an archive that is cut off", "a whole one");
    }
    return bytes_.substr(at, size);
  }

 private:
  std::string_view bytes_;
  const std::string& path_;
};

/// An entry of the central directory.
struct Member {
  std::string name;
  std::uint32_t method = 0;
  std::uint32_t packed = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};

std::vector<Member> read_directory(std::string_view text, const std::string& path) {
  constexpr std::size_t kEndSize = 22;
  constexpr std::size_t kEntrySize = 46;
  const std::size_t end = text.rfind("PK\x05\x06");
  if (end == std::string_view::npos || text.size() < kEndSize) {
    refuse_npy(path, "an archive without a directory", "a zip archive");
  }
  const Bytes bytes(text, path);
  const std::uint32_t count = bytes.short_word(end + 10);
  std::size_t at = bytes.word(end + 16);
  std::vector<Member> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (bytes.part(at, 4) != "PK\x01\x02") refuse_npy(path, "a damaged directory", "a zip archive");
    Member entry;
    entry.method = bytes.short_word(at + 10);
    entry.packed = bytes.word(at + 20);
    entry.size = bytes.word(at + 24);
    entry.offset = bytes.word(at + 42);
    const std::size_t name = bytes.short_word(at + 28);
    entry.name = std::string(bytes.part(at + kEntrySize, name));
    at += kEntrySize + name + bytes.short_word(at + 30) + bytes.short_word(at + 32);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string inflated(std::string_view packed, std::size_t size, const std::string& path) {
  std::string result(size, '\0');
  z_stream stream{};
  constexpr int kRaw = -15;  // no header of zlib
  if (inflateInit2(&stream, kRaw) != Z_OK)
    refuse_npy(path, "a member that cannot be read", "deflate");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());  // NOLINT(*-reinterpret-cast)
  stream.avail_out = static_cast<uInt>(size);
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) refuse_npy(path, "a damaged member", "deflated bytes of the size that is said");
  return result;
}

}  // namespace

std::string unzip(std::string_view bytes, const std::string& path, const std::string& member) {
  const std::vector<Member> entries = read_directory(bytes, path);
  std::vector<std::string> names;
  const Member* chosen = nullptr;
  for (const Member& entry : entries) {
    names.push_back(quotable(entry.name));
    const bool named = entry.name == member || entry.name == member + ".npy";
    if (named || (member.empty() && entries.size() == 1)) chosen = &entry;
  }
  if (chosen == nullptr) {
    refuse_npy(path,
               member.empty() ? "several arrays" : fmt::format("no array '{}'", quotable(member)),
               fmt::format("one of {}", fmt::join(names, ", ")));
  }
  constexpr std::uint64_t kMostGrowth = 16;
  constexpr std::uint64_t kSpare = std::uint64_t{1} << 20U;
  if (chosen->size > kMostGrowth * bytes.size() + kSpare) {
    refuse_npy(path, fmt::format("an array of {} bytes", chosen->size),
               "at most 16 times the file and a MiB");
  }
  const Bytes archive(bytes, path);
  constexpr std::size_t kLocalSize = 30;
  const std::size_t at = chosen->offset;
  if (archive.part(at, 4) != std::string_view("PK\x03\x04", 4)) {
    refuse_npy(path, "a damaged member", "a zip archive");
  }
  const std::size_t start =
      at + kLocalSize + archive.short_word(at + 26) + archive.short_word(at + 28);
  const std::string_view packed = archive.part(start, chosen->packed);
  constexpr std::uint32_t kStored = 0;
  constexpr std::uint32_t kDeflated = 8;
  if (chosen->method == kStored) return std::string(packed);
  if (chosen->method == kDeflated) return inflated(packed, chosen->size, path);
  refuse_npy(path, fmt::format("compression {}", chosen->method), "stored or deflated");
}

}  // namespace lacuna
