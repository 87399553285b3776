// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/byte_source.hpp"

#include <algorithm>
#include <filesystem>

#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

PartFile::PartFile(const std::string& path)
    : path_(path), bytes_(open_file(path, true)), size_(std::filesystem::file_size(path)) {}

std::string PartFile::part(std::uint64_t at, std::uint64_t size) {
  const std::uint64_t there = at > size_ ? 0 : std::min(size, size_ - at);
  std::string bytes(there, '\0');
  bytes.resize(source(at, there)(bytes.data(), there));
  return bytes;
}

ByteSource PartFile::source(std::uint64_t at, std::uint64_t size) {
  return [this, at = std::min(at, size_), left = size](char* into, std::size_t most) mutable {
    bytes_.clear();
    bytes_.seekg(static_cast<std::streamoff>(at));
    bytes_.read(into, static_cast<std::streamsize>(std::min<std::uint64_t>(most, left)));
    const auto got = static_cast<std::size_t>(bytes_.gcount());
    at += got;
    left -= got;
    return got;
  };
}

std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

void refuse_array(const std::string& path, const std::string& found, const std::string& allowed) {
  throw_diagnostic(path, "E308", found, allowed);
}

}  // namespace lacuna
