// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/byte_source.hpp"

#include <algorithm>
#include <filesystem>

#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

class Range : public ByteSource {
 public:
  Range(std::ifstream& bytes, std::uint64_t at, std::uint64_t size)
      : bytes_(bytes), at_(at), left_(size) {}

  std::size_t read(char* into, std::size_t most) override {
    const std::uint64_t wanted = std::min<std::uint64_t>(most, left_);
    bytes_.clear();
    bytes_.seekg(static_cast<std::streamoff>(at_));
    bytes_.read(into, static_cast<std::streamsize>(wanted));
    const auto got = static_cast<std::size_t>(bytes_.gcount());
    at_ += got;
    left_ -= got;
    return got;
  }

 private:
  std::ifstream& bytes_;
  std::uint64_t at_;
  std::uint64_t left_;
};

}  // namespace

PartFile::PartFile(const std::string& path) : path_(path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool folder = std::filesystem::is_directory(path, error);
    throw_problem(place(path), "E001",
                  folder  ? "a folder"
                  : there ? "a pipe or device"
                          : "no file",
                  there ? "a file" : "a file that exists");
  }
  bytes_.open(path, std::ios::binary);
  if (!bytes_) {
    throw_problem(place(path), "E001", "a file that cannot be opened", "a readable file");
  }
  size_ = std::filesystem::file_size(path);
}

std::string PartFile::part(std::uint64_t at, std::uint64_t size) {
  const std::uint64_t there = at > size_ ? 0 : std::min(size, size_ - at);
  std::string bytes(there, '\0');
  bytes.resize(source(at, there)->read(bytes.data(), there));
  return bytes;
}

std::unique_ptr<ByteSource> PartFile::source(std::uint64_t at, std::uint64_t size) {
  return std::make_unique<Range>(bytes_, std::min(at, size_), size);
}

void refuse_array(const std::string& path, const std::string& found, const std::string& allowed) {
  throw_problem(path, "E308", found, allowed);
}

}  // namespace lacuna
