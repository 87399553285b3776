// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/npy_zip.hpp"

#include <fmt/format.h>
#include <zip.h>

namespace lacuna {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what, const char* reason) {
  refuse_array(path, fmt::format("{} ({})", what, reason), "a whole zip archive");
}

}  // namespace

ZipArchive::ZipArchive(const std::string& path) : path_(path), zip_(nullptr, &zip_discard) {
  int code = 0;
  zip_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (zip_) return;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  damaged(path, "an archive that is cut off or damaged", reason.c_str());
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(zip_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

ByteSource ZipArchive::open(std::size_t place) const {
  zip_file_t* const opened = zip_fopen_index(zip_.get(), place, 0);
  if (opened == nullptr) damaged(path_, "a damaged member", zip_strerror(zip_.get()));
  const std::shared_ptr<zip_file_t> file(opened, &zip_fclose);
  return [file, path = path_](char* into, std::size_t most) {
    std::size_t done = 0;
    while (done < most) {
      const zip_int64_t got = zip_fread(file.get(), into + done, most - done);
      if (got < 0) damaged(path, "a damaged member", zip_file_strerror(file.get()));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  };
}

}  // namespace lacuna
