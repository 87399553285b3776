// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/parameter.hpp"

namespace lacuna {

/// Cycles of programs that were simulated before: a file for each in a folder, which repeats all
/// that the numbers depend on. What was kept by another build of the program, with other parameters
/// or of another program is not found.
class TimesCache {
 public:
  /// Keeps nothing.
  TimesCache() = default;

  /// RequestError if the folder cannot be made. Under `engine` and `params`.
  TimesCache(std::string folder, const ParameterSet& params, const std::string& engine);

  std::optional<std::vector<double>> find(const std::string& program) const;

  /// SimulationError if it cannot be written.
  void keep(const std::string& program, const std::vector<double>& cycles) const;

 private:
  std::string header_of(const std::string& program) const;
  std::string path_of(const std::string& header) const;

  std::string folder_;  // empty: none
  std::string facts_;
};

}  // namespace lacuna
