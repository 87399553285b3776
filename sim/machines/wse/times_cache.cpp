// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/times_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/files/sha256.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCycles = "\ncycles";

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The program that runs, so that no other version's cycles are taken for its own.
std::string own_digest() {
  const std::string bytes = bytes_of_file("/proc/self/exe");
  if (bytes.empty()) throw RequestError("--cache: the program cannot read itself");
  return sha256(bytes);
}

}  // namespace

TimesCache::TimesCache(std::string folder, const ParameterSet& params, const std::string& engine)
    : folder_(std::move(folder)), facts_("program " + own_digest() + "\nengine " + engine + '\n') {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error || !fs::is_directory(folder_)) {
    throw RequestError(fmt::format("--cache: '{}' is no folder and cannot be made one", folder_));
  }
  params.for_each([&](const std::string& path, const ParamBase& each) {
    facts_ += path + '=' + each.value_text() + '\n';
  });
}

std::string TimesCache::header_of(const std::string& program) const {
  return facts_ + "of " + program;
}

std::string TimesCache::path_of(const std::string& header) const {
  return (fs::path(folder_) / (sha256(header) + ".cycles")).string();
}

std::optional<std::vector<double>> TimesCache::find(const std::string& program) const {
  if (folder_.empty()) return std::nullopt;
  const std::string header = header_of(program) + kCycles;
  const std::string text = bytes_of_file(path_of(header));
  if (text.rfind(header, 0) != 0 || text.back() != '\n') return std::nullopt;
  std::vector<double> cycles;
  const char* at = text.c_str() + header.size();
  for (;;) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) break;
    cycles.push_back(value);
    at = end;
  }
  return cycles;
}

void TimesCache::keep(const std::string& program, const std::vector<double>& cycles) const {
  if (folder_.empty()) return;
  const std::string header = header_of(program) + kCycles;
  const std::string path = path_of(header);
  // another process may write the same
  const std::string own = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(own, std::ios::binary);
    file << header;
    for (const double value : cycles) file << fmt::format(" {}", value);
    file << '\n';
    if (!file.flush()) throw SimulationError(fmt::format("--cache: cannot write '{}'", own));
  }
  std::error_code error;
  fs::rename(own, path, error);
  if (error) throw SimulationError(fmt::format("--cache: cannot write '{}'", path));
}

}  // namespace lacuna
