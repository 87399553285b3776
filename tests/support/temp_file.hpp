// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace lacuna::test {

/// A file of its own with this text, removed at the end.
class TempFile {
 public:
  explicit TempFile(const std::string& text, const std::string& extension = ".csv")
      : path_(std::filesystem::temp_directory_path() / ("lacuna-XXXXXX" + extension)) {
    const int file = mkstemps(path_.data(), static_cast<int>(extension.size()));
    if (file < 0) throw std::runtime_error("no file can be made in the temporary folder");
    close(file);
    std::ofstream(path_, std::ios::binary) << text;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// An empty folder of its own, removed at the end with all that is in it.
class TempFolder {
 public:
  explicit TempFolder(const std::string& beginning = "lacuna-") {
    std::string name = std::filesystem::temp_directory_path() / (beginning + "XXXXXX");
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no folder can be made in the temporary folder");
    }
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lacuna::test
