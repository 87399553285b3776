// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace lacuna {

/// The folder of a schedule, which fills while the schedule goes on. It holds a list of the files
/// that Lacuna wrote, so that nothing else in it is ever removed, and an older schedule leaves
/// nothing behind that could be taken for the new one.
class ScheduleFolder {
 public:
  /// Checks that `target` is missing, an empty folder or an older schedule; RequestError says what
  /// is there instead. Writes nothing.
  explicit ScheduleFolder(std::filesystem::path target);

  /// Makes the folder, or RequestError if nothing can be written there.
  void begin();

  /// What begins with `stem`, such as "masks/u0000", and a dot is of this schedule.
  void keep(const std::string& stem) { stems_.insert(stem); }

  /// Removes the files of an older schedule that are not of this one, and lists those of this one.
  void finish();

  const std::filesystem::path& target() const { return target_; }

 private:
  bool is_kept(const std::filesystem::path& name) const;

  std::filesystem::path target_;
  std::set<std::string> stems_;
  std::set<std::string> older_;  // files of an older schedule
};

}  // namespace lacuna
