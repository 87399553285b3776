// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace lacuna {

/// The folder of a schedule. It fills in a neighbour whose name says that it is unfinished, and
/// takes its place when all is there. It holds a list of the files that Lacuna wrote, so that
/// nothing else in it is ever removed, and an older schedule leaves nothing behind that could be
/// taken for the new one.
class ScheduleFolder {
 public:
  /// Checks that `target` is missing, an empty folder or an older schedule; RequestError says what
  /// is there instead. Writes nothing.
  explicit ScheduleFolder(std::filesystem::path target);

  /// Makes the neighbour, or RequestError if nothing can be written there. That of a schedule
  /// which was interrupted is made anew.
  void begin();

  /// Removes the neighbour, if there is one.
  ~ScheduleFolder();
  ScheduleFolder(const ScheduleFolder&) = delete;
  ScheduleFolder& operator=(const ScheduleFolder&) = delete;

  /// Puts the files of this schedule into the target, removes those of an older one that are not of
  /// this one, and lists those of this one. Signals wait meanwhile.
  void finish();

  /// Where the files will be, and where they are until finish().
  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& unfinished() const { return unfinished_; }

 private:
  std::filesystem::path target_;
  std::filesystem::path unfinished_;
  std::set<std::string> older_;  // files of an older schedule
};

}  // namespace lacuna
