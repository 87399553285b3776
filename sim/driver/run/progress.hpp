// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>

namespace lacuna {

/// Says on a terminal, in one line that is written over, how far long work is; elsewhere a line
/// every ten seconds. The only place that looks at a clock, and nothing of it reaches a
/// result.
class Progress {
 public:
  /// Says nothing if `quiet`, or if there is only one step.
  Progress(std::ostream& out, bool quiet, bool terminal, std::size_t steps);

  /// A step is done.
  void step(const std::string& what);

  /// Removes the line; called before anything else is printed.
  void clear();

 private:
  double seconds() const;

  std::ostream& out_;
  bool quiet_;
  bool terminal_;
  std::size_t steps_;
  std::size_t done_ = 0;
  double next_line_;  // seconds from the start
  std::size_t width_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lacuna
