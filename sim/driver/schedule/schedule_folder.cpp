// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/schedule_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/files/trace_file.hpp"
#include "sim/driver/result/result_folder.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles = ".lacuna-schedule";

}  // namespace

ScheduleFolder::ScheduleFolder(fs::path target) : target_(std::move(target)) {
  if (target_.empty()) throw RequestError("--out: found ''; allowed: the name of a folder");
  if (target_.filename().empty()) target_ = target_.parent_path();  // "out/" is "out"
  std::error_code error;
  if (!fs::exists(target_, error)) return;
  if (fs::is_directory(target_, error) && fs::is_empty(target_, error)) return;
  std::ifstream list(target_ / kFiles);
  if (!list || is_result(target_)) {
    throw RequestError(
        fmt::format("--out: '{}' exists and is not a schedule of Lacuna; it is left as it is",
                    target_.string()));
  }
  for (std::string name; std::getline(list, name);) older_.insert(name);
}

void ScheduleFolder::begin() {
  const fs::path place = target_.string() + ".unfinished";
  std::error_code error;
  if (fs::exists(place, error) && !fs::exists(place / kFiles, error)) {
    throw RequestError(
        fmt::format("--out: '{}' is needed until the schedule is finished, and is not of Lacuna",
                    place.string()));
  }
  fs::remove_all(place, error);
  fs::create_directories(place, error);
  if (error) {
    throw RequestError(
        fmt::format("--out: '{}' cannot be made: {}", target_.string(), error.message()));
  }
  unfinished_ = place;
  write_whole_file((place / kFiles).string(), "");
}

ScheduleFolder::~ScheduleFolder() {
  std::error_code ignored;
  if (!unfinished_.empty()) fs::remove_all(unfinished_, ignored);
}

void ScheduleFolder::finish() {
  const HeldSignals held;
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(unfinished_)) {
    const std::string name = entry.path().lexically_relative(unfinished_).string();
    if (!entry.is_directory() && name != kFiles) names.insert(name);
  }
  std::string kept;
  std::error_code error;
  for (const std::string& name : names) {
    kept += name + '\n';
    fs::create_directories((target_ / name).parent_path(), error);
    fs::rename(unfinished_ / name, target_ / name, error);
    if (error) {
      throw SimulationError(fmt::format("'{}' cannot be put in place: {}",
                                        (target_ / name).string(), error.message()));
    }
  }
  for (const std::string& name : older_) {
    if (names.count(name) != 0) continue;
    // with the folders that it leaves empty
    for (fs::path path = target_ / name; path != target_ && fs::remove(path, error);) {
      path = path.parent_path();
    }
  }
  write_whole_file((target_ / kFiles).string(), kept);
}

}  // namespace lacuna
