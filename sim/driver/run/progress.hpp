// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <ostream>
#include <string>

namespace lacuna {

/// Says how far long work is: on a terminal at least every three seconds, in one line that is
/// written over; elsewhere a line every ten seconds. The only place that looks at a clock, and
/// nothing of it reaches a result.
class Progress {
 public:
  Progress(std::ostream& out, bool quiet, bool terminal, std::size_t steps);

  /// So many steps were done before.
  void skip(std::size_t steps) { steps_ -= std::min(steps, steps_ - 1); }

  /// What is under way until something else is said.
  void begin(const std::string& what) { last_ = what; }

  /// A step is done.
  void step(const std::string& what);

  /// So much of a step under way is simulated, 0 to 1.
  void part(const std::string& what, double share);

  /// Time has passed, and nothing else.
  void wait();

  /// Removes the line; called before anything else is printed.
  void clear();

 private:
  double seconds() const;
  double done() const;
  void show(const std::string& what, bool at_once);

  std::ostream& out_;
  bool quiet_;
  bool terminal_;
  std::size_t steps_;
  std::size_t steps_done_ = 0;
  std::map<std::string, double> parts_;  // shares of steps under way
  std::string last_;                     // what is under way
  double next_line_;                     // seconds from the start
  std::size_t width_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lacuna
