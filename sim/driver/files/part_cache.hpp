// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "sim/base/parameter.hpp"

namespace lacuna {

/// Parts of simulations that are kept from one run of the program to the next: texts under all that
/// they depend on. The cache itself knows the program, byte by byte. The caller's key has to say
/// the rest: every parameter, shape, mask and seed, and the contents of files, not their names. A
/// record is used only if its whole key is the same and it is as it was written. What another
/// version of the program kept is not found.
class PartCache {
 public:
  /// Keeps nothing and finds nothing.
  PartCache() = default;

  /// Keeps records in `folder`, which is made if it is not there; RequestError if it cannot be.
  explicit PartCache(const std::filesystem::path& folder);

  bool is_open() const { return !folder_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }

  /// What was kept of this kind ("row of a chip", "layout") under `key`.
  std::optional<std::string> find(const std::string& kind, const std::string& key);

  /// Keeps it, unless there is no room: what cannot be kept is made again.
  void keep(const std::string& kind, const std::string& key, const std::string& text);

  std::size_t found() const { return found_; }
  std::size_t kept() const { return kept_; }

 private:
  std::filesystem::path place(const std::string& kind, const std::string& key) const;

  std::filesystem::path folder_;
  std::string program_;  // hash of this program
  std::size_t found_ = 0;
  std::size_t kept_ = 0;
};

/// Every parameter and its value, a line each, for a key.
std::string settings_text(const ParameterSet& parameters);

/// The cache of this user: in $LACUNA_CACHE, or $XDG_CACHE_HOME/lacuna, or ~/.cache/lacuna. None if
/// `off`, if LACUNA_CACHE is set to nothing, or if the latter two cannot be written; RequestError
/// if that is so of LACUNA_CACHE.
PartCache open_part_cache(bool off);

}  // namespace lacuna
