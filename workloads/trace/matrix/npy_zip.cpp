// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/npy_zip.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <utility>

namespace lacuna {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what, const char* reason) {
  refuse_array(path, fmt::format("{} ({})", what, reason), "a whole zip archive");
}

class Member : public ByteSource {
 public:
  Member(zip_t* archive, zip_uint64_t place, std::string path)
      : path_(std::move(path)), file_(zip_fopen_index(archive, place, 0), &zip_fclose) {
    if (!file_) damaged(path_, "a damaged member", zip_strerror(archive));
  }

  std::size_t read(char* into, std::size_t most) override {
    std::size_t done = 0;
    while (done < most) {
      const zip_int64_t got = zip_fread(file_.get(), into + done, most - done);
      if (got < 0) damaged(path_, "a damaged member", zip_file_strerror(file_.get()));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  std::string path_;
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

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

std::unique_ptr<ByteSource> ZipArchive::open(std::size_t place) const {
  return std::make_unique<Member>(zip_.get(), place, path_);
}

}  // namespace lacuna
