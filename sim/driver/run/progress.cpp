// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna {

namespace {

constexpr double kSecondsOfALine = 10;

}  // namespace

Progress::Progress(std::ostream& out, bool quiet, bool terminal, std::size_t steps)
    : out_(out),
      quiet_(quiet || steps < 2),
      terminal_(terminal),
      steps_(steps),
      next_line_(kSecondsOfALine) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step(const std::string& what) {
  ++done_;
  if (quiet_) return;
  const std::string count = fmt::format("{} of {}", done_, steps_);
  if (!terminal_) {
    if (seconds() < next_line_) return;
    next_line_ = seconds() + kSecondsOfALine;
    out_ << "lacuna: " << count << " done: " << what << '\n';
    return;
  }
  constexpr std::size_t kBar = 24;
  const std::size_t filled = kBar * done_ / steps_;
  const double per_second = static_cast<double>(done_) / std::max(seconds(), 1e-9);
  const double left = static_cast<double>(steps_ - done_) / per_second;
  std::string line = fmt::format("[{}{}] {}, {:.2g}/s, {:.0f} s left: {}", std::string(filled, '#'),
                                 std::string(kBar - filled, '.'), count, per_second, left, what);
  const std::size_t width = line.size();
  if (width < width_) line.append(width_ - width, ' ');
  width_ = width;
  out_ << '\r' << line << std::flush;
}

void Progress::clear() {
  if (!terminal_ || width_ == 0) return;
  out_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

}  // namespace lacuna
