// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/driver/trace_file.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles = ".lacuna-schedule";

}  // namespace

ScheduleFolder::ScheduleFolder(fs::path target) : target_(std::move(target)) {
  if (target_.empty()) throw RequestError("--out: found ''; allowed: the name of a folder");
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
  std::error_code error;
  fs::create_directories(target_, error);
  if (error) {
    throw RequestError(
        fmt::format("--out: '{}' cannot be made: {}", target_.string(), error.message()));
  }
  std::string text;
  for (const std::string& name : older_) text += name + '\n';
  write_whole_file((target_ / kFiles).string(), text);
}

bool ScheduleFolder::is_kept(const fs::path& name) const {
  static const std::set<std::string> written = {".csv", ".smtx", ".svg", ".pdf", ".png", ".gp"};
  const std::string file = name.filename().string();
  const fs::path stem = name.parent_path() / file.substr(0, file.find('.'));
  return written.count(name.extension().string()) != 0 && stems_.count(stem.string()) != 0;
}

void ScheduleFolder::finish() {
  std::string kept;
  std::vector<fs::path> stale;
  std::set<std::string> names;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(target_, fs::directory_options::skip_permission_denied)) {
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(target_).string());
  }
  for (const std::string& name : names) {
    if (is_kept(name)) {
      kept += name + '\n';
    } else if (older_.count(name) != 0) {
      stale.push_back(target_ / name);
    }
  }
  std::error_code ignored;
  for (fs::path path : stale) {
    // with the folders that it leaves empty
    while (path != target_ && fs::remove(path, ignored)) path = path.parent_path();
  }
  write_whole_file((target_ / kFiles).string(), kept);
}

}  // namespace lacuna
