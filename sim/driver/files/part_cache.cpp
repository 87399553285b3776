// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/part_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/program_id.hpp"
#include "sim/driver/files/sha256.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestRecord = std::size_t{1} << 30U;
constexpr std::size_t kHashDigits = 64;

/// What a record begins with: its kind and its key, with the lengths of all.
std::string head_of(const std::string& kind, const std::string& key) {
  return fmt::format("lacuna part 1\n{} {}\n{}\n{}\n", kind.size(), key.size(), kind, key);
}

/// A folder that can be written to, made if need be.
bool is_usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return fs::is_directory(folder, error) && access(folder.c_str(), W_OK | X_OK) == 0;
}

/// Read once, by a process with a single thread.
const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

fs::path folder_of_user() {
  const char* const cache = variable("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) return fs::path(cache) / "lacuna";
  const char* const home = variable("HOME");
  return home == nullptr || *home == 0 ? fs::path() : fs::path(home) / ".cache" / "lacuna";
}

}  // namespace

PartCache::PartCache(const fs::path& folder) : folder_(folder) {
  if (!is_usable(folder)) {
    throw RequestError(
        fmt::format("'{}' is no folder that simulated parts can be kept in", folder.string()));
  }
  program_ = program_id();
}

fs::path PartCache::place(const std::string& kind, const std::string& key) const {
  const std::string hash = sha256(program_ + head_of(kind, key));
  return folder_ / hash.substr(0, 2) / hash.substr(2);
}

std::optional<std::string> PartCache::find(const std::string& kind, const std::string& key) {
  if (!is_open()) return std::nullopt;
  const fs::path file = place(kind, key);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::string text;
  try {
    text = read_text(file, kLongestRecord);
  } catch (const RequestError&) {
    return std::nullopt;
  }
  const std::string head = head_of(kind, key);
  const bool whole =
      text.size() >= head.size() + kHashDigits && text.compare(0, head.size(), head) == 0 &&
      sha256(text.substr(0, text.size() - kHashDigits)) == text.substr(text.size() - kHashDigits);
  if (!whole) return std::nullopt;
  ++found_;
  return text.substr(head.size(), text.size() - head.size() - kHashDigits);
}

void PartCache::keep(const std::string& kind, const std::string& key, const std::string& text) {
  if (!is_open()) return;
  const fs::path file = place(kind, key);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  // a name of its own until it is whole: others may write the same
  const fs::path part = fmt::format("{}.{}.{}", file.string(), getpid(), kept_);
  const std::string record = head_of(kind, key) + text;
  std::ofstream stream(part, std::ios::binary);
  stream << record << sha256(record);
  stream.close();
  if (stream) fs::rename(part, file, error);
  if (!stream || error) {
    fs::remove(part, error);
    return;
  }
  ++kept_;
}

std::string settings_text(const ParameterSet& parameters) {
  std::string text;
  parameters.for_each([&](const std::string& path, const ParamBase& parameter) {
    text += path + "=" + parameter.value_text() + "\n";
  });
  return text;
}

PartCache open_part_cache(bool off) {
  if (off) return {};
  if (const char* const given = variable("LACUNA_CACHE"); given != nullptr) {
    if (*given == 0) return {};
    try {
      return PartCache(given);
    } catch (const RequestError& error) {
      throw RequestError(fmt::format("LACUNA_CACHE: {}", error.what()));
    }
  }
  const fs::path folder = folder_of_user();
  return folder.empty() || !is_usable(folder) ? PartCache() : PartCache(folder);
}

}  // namespace lacuna
