// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/result/result_json.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// While it lives, Ctrl-C and its like wait.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// SimulationError if one waits, so that long work ends and what it made is removed.
  static void check();

 private:
  sigset_t before_ = {};
};

/// A folder that appears whole or not at all: files are written into a temporary neighbour, which
/// commit() puts in the place of the target in one step.
class ResultFolder {
 public:
  /// What a folder holds: what a request came to, or the traces and masks of a schedule.
  enum class Kind { result, schedule };

  /// Checks that `target` can become one: it is missing, an empty folder or an older one of its
  /// kind, and its place can be written to. RequestError says what stands in the way. Writes
  /// nothing.
  explicit ResultFolder(std::filesystem::path target, Kind kind = Kind::result);

  /// Removes the temporary neighbour, if it was not committed.
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  /// Makes the temporary neighbour. From here to the end of this object signals wait, so that none
  /// leaves the neighbour behind; they come while children work.
  void begin();

  /// Writes a file into it; SimulationError if the disk refuses.
  void write(const std::string& name, const std::string& text);

  /// Puts it in the place of the target. Of two at once into one target, the later one stays.
  /// What was in the target and is not of a result, such as a user's notes, is in it again.
  void commit();

  const std::filesystem::path& target() const { return target_; }

  /// Where to put more files between begin() and commit().
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  void list_files();

  /// Removes the folder that was replaced, but for what is the user's own.
  void remove_old(const std::filesystem::path& old);

  const char* list() const;
  bool is_own(const std::filesystem::path& folder) const;

  std::optional<HeldSignals> held_;  // first: let go of when all else is done
  Kind kind_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
};

/// True if `folder` holds a result of Lacuna.
bool is_result(const std::filesystem::path& folder);

/// Reads what a result says beside its runs; RequestError if it is not one.
ResultHeader read_header(const std::filesystem::path& folder);

/// Reads the runs of a result folder; RequestError if it is not one.
Runs read_result(const std::filesystem::path& folder);

}  // namespace lacuna
