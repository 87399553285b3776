// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// The finished parts of a request on disk, points of an experiment or operations of a run, each
/// kept from the moment it finishes, whatever ends the process. A file beside the result folder:
/// what the request is, then a record for each part. A record that was cut off is as if it were not
/// there. One process at a time holds it.
class Journal {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  /// Opens or makes `path`. RequestError if it holds finished parts and `resume` is false, if its
  /// facts are not `facts` (says which), if it is no journal, or if another process holds it.
  Journal(std::filesystem::path path, const Facts& facts, bool resume);

  /// A journal in which nothing is finished is removed.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The parts that were finished when it was opened, by index.
  const std::map<std::size_t, std::string>& finished() const { return finished_; }

  /// Adds a part: after this returns, it is kept, whatever becomes of this process; a loss of power
  /// may cost those of the last second. SimulationError if the disk refuses.
  void add(std::size_t index, const std::string& bytes);

  /// Adds all finished parts of another.
  void adopt(const Journal& other);

  /// Removes the file, as the result is written.
  void remove();

 private:
  bool hold();
  std::string content() const;
  void read(const Facts& facts, bool resume);
  void begin(const std::string& facts);
  void append(const std::string& text);

  std::filesystem::path path_;
  int file_ = -1;
  bool is_empty_ = true;
  std::chrono::steady_clock::time_point synced_;
  std::map<std::size_t, std::string> finished_;
};

}  // namespace lacuna
