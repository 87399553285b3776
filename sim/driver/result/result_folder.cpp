// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/files/locations.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestResult = std::size_t{1} << 32U;

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

/// The nearest folder above `path` that exists.
fs::path nearest_parent(fs::path path) {
  std::error_code ignored;
  do {
    path = path.has_parent_path() ? path.parent_path() : ".";
  } while (!fs::exists(path, ignored));
  return path;
}

/// Tries it: permissions alone do not tell, least of all for an administrator.
bool takes_folders(const fs::path& folder) {
  std::string probe = (folder / ".lacuna.XXXXXX").string();
  return mkdtemp(probe.data()) != nullptr && rmdir(probe.c_str()) == 0;
}

/// In every folder, by its kind: the names of the files that Lacuna wrote into it.
constexpr const char* kFiles = ".lacuna";
constexpr const char* kFilesOfSchedule = ".lacuna-schedule";

std::set<std::string> written_files(const fs::path& folder, const char* list) {
  std::set<std::string> names = {list};
  std::ifstream file(folder / list);
  for (std::string name; std::getline(file, name);) names.insert(name);
  return names;
}

/// True for a figure, which `lacuna plot` may have added; `name` is relative to the folder.
bool is_figure(const fs::path& folder, const fs::path& name) {
  static const std::set<std::string> drawn = {".svg", ".pdf", ".png", ".gp", ".csv", ".json"};
  fs::path script = folder / name;
  if (name == fs::path("figures") / "redraw.py") return true;
  return name.parent_path() == "figures" && drawn.count(name.extension().string()) != 0 &&
         fs::exists(script.replace_extension(".gp"));
}

/// What lies in a folder that holds a result: files of the result, files and empty folders of its
/// user, and the folders that hold them, each behind those that it lies in.
struct Content {
  std::vector<fs::path> own;
  std::vector<fs::path> others;
  std::vector<fs::path> folders;
};

Content content_of(const fs::path& folder, const char* list) {
  Content content;
  std::error_code error;
  const std::set<std::string> written = written_files(folder, list);
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path name = entry->path().lexically_relative(folder);
    if (entry->is_directory() && !entry->is_symlink() && !fs::is_empty(entry->path(), error)) {
      content.folders.push_back(name);
      continue;
    }
    const bool own = written.count(name.string()) != 0 || is_figure(folder, name);
    (own ? content.own : content.others).push_back(name);
  }
  return content;
}

/// Moves what is not of the result from the folder that was replaced to the one in its place, and
/// removes the rest. False if something cannot be moved: it is still where it was. Nothing but a
/// result is ever removed, whatever another process does meanwhile.
bool dissolve(const fs::path& old, const fs::path& target, const char* list) {
  std::error_code error;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Content content = content_of(old, list);
    for (const fs::path& name : content.others) {
      fs::create_directories((target / name).parent_path(), error);
      const bool free = !fs::exists(fs::symlink_status(target / name, error));
      if (free) fs::rename(old / name, target / name, error);
    }
    for (const fs::path& name : content.own) fs::remove(old / name, error);
    for (auto each = content.folders.rbegin(); each != content.folders.rend(); ++each) {
      fs::remove(old / *each, error);  // refuses a folder with something in it
    }
    fs::remove(old, error);
    if (!fs::exists(old, error)) return true;
  }
  return false;
}

bool is_empty_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::is_empty(path, error);
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held = {};
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before_);
}

void HeldSignals::check() {
  sigset_t waiting = {};
  sigpending(&waiting);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&waiting, signal) == 1) throw SimulationError("interrupted");
  }
}

HeldSignals::~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

ResultFolder::ResultFolder(fs::path target, Kind kind) : kind_(kind), target_(std::move(target)) {
  if (target_.empty()) throw RequestError("--out: found ''; allowed: the name of a folder");
  std::error_code error;
  // absolute first: what does not exist yet would else stay without a parent
  const fs::path canonical = fs::weakly_canonical(fs::absolute(target_), error);
  if (error) throw refused("--out: '{}': {}", target_.string(), error.message());
  target_ = canonical;
  if (target_.filename().empty()) target_ = target_.parent_path();  // "out/" is "out"
  if (fs::exists(target_, error) && !is_empty_folder(target_) && !is_own(target_)) {
    throw refused("--out: '{}' exists and is not a {} of Lacuna; it is left as it is",
                  target_.string(), kind_ == Kind::result ? "result" : "schedule");
  }
  const fs::path parent = nearest_parent(target_);
  if (!takes_folders(parent)) {
    throw refused("--out: nothing can be written into '{}'", parent.string());
  }
}

const char* ResultFolder::list() const { return kind_ == Kind::result ? kFiles : kFilesOfSchedule; }

bool ResultFolder::is_own(const fs::path& folder) const {
  if (kind_ == Kind::result) return is_result(folder);
  std::error_code ignored;
  return fs::exists(folder / kFilesOfSchedule, ignored) && !is_result(folder);
}

ResultFolder::~ResultFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void ResultFolder::begin() {
  held_.emplace();
  std::error_code error;
  fs::create_directories(target_.parent_path(), error);
  std::string name = (target_.parent_path() / ("." + target_.filename().string() + ".XXXXXX"));
  if (error || mkdtemp(name.data()) == nullptr) {
    throw SimulationError(fmt::format("no folder can be made beside '{}': {}", target_.string(),
                                      error ? error.message() : last_error()));
  }
  temporary_ = name;
  // mkdtemp lets in only the owner; a result is as open as the user's other files
  const mode_t mask = umask(0);
  umask(mask);
  fs::permissions(temporary_, static_cast<fs::perms>(0777U & ~mask), error);
}

void ResultFolder::write(const std::string& name, const std::string& text) {
  std::ofstream file(temporary_ / name, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) {
    throw SimulationError(
        fmt::format("'{}' cannot be written: {}", (temporary_ / name).string(), last_error()));
  }
}

void ResultFolder::remove_old(const fs::path& old) {
  temporary_.clear();  // from here on the destructor has nothing to remove
  if (dissolve(old, target_, list())) return;
  throw SimulationError(
      fmt::format("the result is in '{}'; files of yours that were there are "
                  "still in '{}'",
                  target_.string(), old.string()));
}

/// Notes what is in the folder now, all of which is of the result.
void ResultFolder::list_files() {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary_)) {
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(temporary_).string());
  }
  std::string text;
  for (const std::string& name : names) text += name + '\n';
  write(list(), text);
}

void ResultFolder::commit() {
  list_files();
  // Another process may commit between any two steps: try again until a step succeeds.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (rename(temporary_.c_str(), target_.c_str()) == 0) {  // missing or empty
      temporary_.clear();
      return;
    }
    const bool occupied = errno == ENOTEMPTY || errno == EEXIST;
    if (!occupied) break;
    if (!is_own(target_)) continue;
    if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
      remove_old(fs::path(temporary_));
      return;
    }
    if (errno == ENOENT) continue;
    // a file system that cannot exchange: move the old one aside
    const fs::path aside = temporary_.string() + ".old";
    if (rename(target_.c_str(), aside.c_str()) != 0) continue;
    if (rename(temporary_.c_str(), target_.c_str()) == 0) {
      remove_old(aside);
      return;
    }
    if (rename(aside.c_str(), target_.c_str()) != 0) remove_old(aside);
  }
  throw SimulationError(
      fmt::format("'{}' cannot be put in place: {}", target_.string(), last_error()));
}

bool is_result(const fs::path& folder) {
  std::ifstream file(folder / "result.json", std::ios::binary);
  std::string start(256, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start.find(fmt::format(R"("format": "{}")", kResultFormat)) != std::string::npos;
}

ResultHeader read_header(const fs::path& folder) {
  const fs::path path = folder / "result.json";
  return parse_header(read_text(path, kLongestResult), path.string());
}

Runs read_result(const fs::path& folder) {
  const fs::path path = folder / "result.json";
  return parse_result(read_text(path, kLongestResult), path.string());
}

}  // namespace lacuna
