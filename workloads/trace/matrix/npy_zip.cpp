// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/npy_zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

// Numbers of an archive, the lowest byte first; a place outside of it is a damage.
class Numbers {
 public:
  Numbers(std::string bytes, const std::string& path) : bytes_(std::move(bytes)), path_(path) {}

  std::uint64_t at(std::size_t place, std::size_t size) const {
    std::uint64_t number = 0;
    const std::string digits = text(place, size);
    for (std::size_t i = size; i-- > 0;) {
      number = number << 8U | static_cast<unsigned char>(digits[i]);
    }
    return number;
  }
  std::string text(std::size_t place, std::size_t size) const {
    if (place > bytes_.size() || size > bytes_.size() - place) {
      refuse_array(path_, "an archive that is cut off", "a whole one");
    }
    return bytes_.substr(place, size);
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
  const std::string& path_;
};

constexpr std::uint64_t kElsewhere = 0xffffffff;  // a number that stands in the large form

/// Replaces the numbers that did not fit by those of the extra field for large archives.
void read_large(const Numbers& entry, std::size_t at, std::size_t end, ZipMember& member) {
  for (; at + 4 <= end; at += 4 + entry.at(at + 2, 2)) {
    if (entry.at(at, 2) != 1) continue;
    std::size_t next = at + 4;
    for (std::uint64_t* number : {&member.size, &member.packed, &member.offset}) {
      if (*number != kElsewhere) continue;
      *number = entry.at(next, 8);
      next += 8;
    }
  }
}

/// Where the directory begins, and how many entries it has.
std::pair<std::uint64_t, std::uint64_t> find_directory(PartFile& file) {
  constexpr std::uint64_t kEnd = 22;
  constexpr std::uint64_t kLongestComment = 0xffff;
  const std::uint64_t looked = std::min(file.size(), kEnd + kLongestComment);
  const std::string tail = file.part(file.size() - looked, looked);
  const std::size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos) {
    refuse_array(file.path(), "an archive without a directory", "a whole zip archive");
  }
  const Numbers last(tail.substr(end), file.path());
  std::uint64_t begin = last.at(16, 4);
  std::uint64_t count = last.at(10, 2);
  constexpr std::uint64_t kManyEntries = 0xffff;
  constexpr std::size_t kLocator = 20;
  const bool large = begin == kElsewhere || count == kManyEntries;
  if (!large || end < kLocator || tail.compare(end - kLocator, 4, "PK\x06\x07") != 0) {
    return {begin, count};
  }
  const Numbers locator(tail.substr(end - kLocator, kLocator), file.path());
  const Numbers whole(file.part(locator.at(8, 8), 56), file.path());
  return {whole.at(48, 8), whole.at(32, 8)};
}

/// Inflates, or passes on what is stored, and checks what comes out.
class Unzipped : public ByteSource {
 public:
  Unzipped(std::unique_ptr<ByteSource> packed, const ZipMember& member, std::string path)
      : packed_(std::move(packed)), member_(member), path_(std::move(path)) {
    constexpr int kRaw = -15;  // no header of zlib
    if (deflated() && inflateInit2(&stream_, kRaw) != Z_OK) damaged();
  }
  ~Unzipped() override {
    if (deflated()) inflateEnd(&stream_);
  }

  std::size_t read(char* into, std::size_t most) override {
    const std::size_t wanted = std::min<std::uint64_t>(most, member_.size - done_);
    const std::size_t got = deflated() ? inflated(into, wanted) : packed_->read(into, wanted);
    if (got != wanted) damaged();
    check_ = crc32_z(check_, reinterpret_cast<const Bytef*>(into), got);  // NOLINT
    done_ += got;
    if (done_ == member_.size && check_ != member_.check) damaged();
    return got;
  }

 private:
  static constexpr std::uint32_t kDeflated = 8;

  bool deflated() const { return member_.method == kDeflated; }

  [[noreturn]] void damaged() const {
    refuse_array(path_, "a damaged member", "the bytes that were packed");
  }

  std::size_t inflated(char* into, std::size_t wanted) {
    stream_.next_out = reinterpret_cast<Bytef*>(into);  // NOLINT(*-reinterpret-cast)
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out != 0) {
      if (stream_.avail_in == 0) {
        const std::size_t more = packed_->read(piece_.data(), piece_.size());
        stream_.next_in = reinterpret_cast<Bytef*>(piece_.data());  // NOLINT(*-reinterpret-cast)
        stream_.avail_in = static_cast<uInt>(more);
        if (more == 0) break;
      }
      if (inflate(&stream_, Z_NO_FLUSH) != Z_OK) break;
    }
    return wanted - stream_.avail_out;
  }

  std::unique_ptr<ByteSource> packed_;
  ZipMember member_;
  std::string path_;
  z_stream stream_{};
  std::string piece_ = std::string(std::size_t{1} << 16U, '\0');
  std::uint64_t done_ = 0;
  std::size_t check_ = 0;
};

}  // namespace

std::vector<ZipMember> zip_members(PartFile& file) {
  constexpr std::size_t kEntry = 46;
  const auto [begin, count] = find_directory(file);
  const Numbers directory(file.part(begin, file.size()), file.path());
  std::vector<ZipMember> members;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (directory.text(at, 4) != "PK\x01\x02") {
      refuse_array(file.path(), "a damaged directory", "a whole zip archive");
    }
    ZipMember member;
    member.method = static_cast<std::uint32_t>(directory.at(at + 10, 2));
    member.check = static_cast<std::uint32_t>(directory.at(at + 16, 4));
    member.packed = directory.at(at + 20, 4);
    member.size = directory.at(at + 24, 4);
    member.offset = directory.at(at + 42, 4);
    const std::size_t name = directory.at(at + 28, 2);
    const std::size_t extra = directory.at(at + 30, 2);
    member.name = directory.text(at + kEntry, name);
    at += kEntry + name;
    read_large(directory, at, at + extra, member);
    at += extra + directory.at(at - kEntry - name + 32, 2);
    members.push_back(std::move(member));
  }
  return members;
}

std::unique_ptr<ByteSource> unzip(PartFile& file, const ZipMember& member) {
  constexpr std::uint64_t kHeader = 30;
  constexpr std::uint32_t kStored = 0;
  constexpr std::uint32_t kDeflated = 8;
  const Numbers header(file.part(member.offset, kHeader), file.path());
  if (header.text(0, 4) != std::string("PK\x03\x04", 4)) {
    refuse_array(file.path(), "a damaged member", "a whole zip archive");
  }
  if (member.method != kStored && member.method != kDeflated) {
    refuse_array(file.path(), fmt::format("compression {}", member.method), "stored or deflated");
  }
  const std::uint64_t start = member.offset + kHeader + header.at(26, 2) + header.at(28, 2);
  return std::make_unique<Unzipped>(file.source(start, member.packed), member, file.path());
}

}  // namespace lacuna
