// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/locations.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/trace/text_file.hpp"

/// Defined in programs that got Lacuna by find_package(): the presets that were installed with it.
extern "C" __attribute__((weak)) const char* lacuna_config_of_package();

namespace lacuna {

namespace fs = std::filesystem;

namespace {

/// The folder of presets nearest to `folder`, above it; empty if there is none.
fs::path config_above(fs::path folder) {
  std::error_code ignored;
  for (; !folder.empty(); folder = folder.parent_path()) {
    for (const char* const place : {"share/lacuna/config", "sim/config"}) {
      if (fs::is_directory(folder / place, ignored)) return folder / place;
    }
    if (folder == folder.root_path()) break;
  }
  return {};
}

/// The folder of presets that was built or installed with this code; empty if there is none.
fs::path own_config() {
  std::error_code ignored;
  for (const fs::path& start : {own_file(), fs::read_symlink("/proc/self/exe", ignored)}) {
    fs::path found = config_above(start.parent_path());
    if (!found.empty()) return found;
  }
  if (lacuna_config_of_package != nullptr &&
      fs::is_directory(lacuna_config_of_package(), ignored)) {
    return lacuna_config_of_package();
  }
  return {};
}

}  // namespace

fs::path own_file() {
  Dl_info info = {};
  auto* const here = reinterpret_cast<void*>(&preset_names);  // NOLINT(*-reinterpret-cast): POSIX
  if (dladdr(here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return fs::canonical(info.dli_fname, ignored);
}

fs::path config_folder() {
  std::error_code ignored;
  // read once, by a process with a single thread
  if (const char* const given = std::getenv("LACUNA_CONFIG");  // NOLINT(concurrency-mt-unsafe)
      given != nullptr && *given != 0) {
    if (!fs::is_directory(given, ignored)) {
      throw RequestError(fmt::format("LACUNA_CONFIG = '{}' is not a folder", given));
    }
    return given;
  }
  fs::path own = own_config();
  if (!own.empty()) return own;
  throw RequestError(fmt::format(
      "the presets are neither in share/lacuna/config nor in sim/config above '{}'; set "
      "LACUNA_CONFIG to their folder",
      fs::read_symlink("/proc/self/exe", ignored).parent_path().string()));
}

std::vector<fs::path> files_in(const fs::path& folder, const char* extension) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  sort_all(files);
  return files;
}

std::vector<std::string> yaml_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& file : files_in(folder, ".yaml")) names.push_back(file.stem().string());
  sort_all(names);
  return names;
}

std::vector<fs::path> shipped_files(const char* folder, const char* ending, bool own) {
  fs::path config = own_config();
  if (!own || config.empty()) config = config_folder();
  for (const fs::path& above : {config.parent_path(), config.parent_path().parent_path()}) {
    std::vector<fs::path> files = files_in(above / "traces" / folder, ending);
    if (!files.empty()) return files;
  }
  return {};
}

std::vector<std::string> preset_names() { return yaml_names(config_folder()); }

std::string read_text(const fs::path& path, std::size_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw RequestError(fmt::format("{}: there is no such file", path.string()));
  }
  if (fs::is_directory(status)) {
    throw RequestError(fmt::format("{}: is a folder, not a file", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string piece(std::size_t{1} << 16U, '\0');
  // one byte more than allowed tells a file that is too long, whatever its size claims to be
  while (file && text.size() <= limit) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad() || (text.empty() && !file.eof())) {
    throw RequestError(fmt::format("{}: cannot be read", path.string()));
  }
  if (text.size() > limit) {
    throw RequestError(fmt::format("{}: is longer than {} bytes", path.string(), limit));
  }
  return text;
}

std::string read_words(const fs::path& path, std::size_t limit) {
  std::string text = read_text(path, limit);
  if (const std::string packed = packed_by(path.string(), text); !packed.empty()) {
    throw RequestError(fmt::format("{}: found a file packed by {}; allowed: the unpacked file",
                                   path.string(), packed));
  }
  return text;
}

}  // namespace lacuna
