// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// Finished points of a sweep on disk, each kept from the moment it finishes, whatever ends the
/// process. A file beside the result folder: what the sweep is, then a record for each point. A
/// record that was cut off is as if it were not there. One process at a time holds it.
class SweepJournal {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  /// Opens or makes `path`. RequestError if it exists and `resume` is false, if its facts are not
  /// `facts` (says which), if it is no journal, or if another process holds it.
  SweepJournal(std::filesystem::path path, const Facts& facts, bool resume);
  ~SweepJournal();
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  /// The finished points, by index.
  const std::map<std::size_t, std::string>& finished() const { return finished_; }

  /// Adds a point: after this returns, it is kept. SimulationError if the disk refuses.
  void add(std::size_t index, const std::string& bytes);

  /// Removes the file, as the result is written.
  void remove();

 private:
  void hold() const;
  void read(const Facts& facts);
  void append(const std::string& text);

  std::filesystem::path path_;
  int file_ = -1;
  std::map<std::size_t, std::string> finished_;
};

}  // namespace lacuna
