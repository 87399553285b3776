// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr double kSecondsOfALine = 10;
constexpr double kSecondsOnATerminal = 2.5;  // with the pause of who waits, at most three

}  // namespace

Progress::Progress(std::ostream& out, bool quiet, bool terminal, std::size_t steps)
    : out_(out),
      quiet_(quiet),
      terminal_(terminal),
      steps_(std::max<std::size_t>(steps, 1)),
      next_line_(terminal ? kSecondsOnATerminal : kSecondsOfALine) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Progress::done() const {
  auto done = static_cast<double>(steps_done_);
  for (const auto& [what, share] : parts_) done += share;
  return std::min(done, static_cast<double>(steps_));
}

void Progress::step(const std::string& what) {
  ++steps_done_;
  parts_.erase(what);
  show(what, steps_ > 1);
}

void Progress::part(const std::string& what, double share) {
  parts_[what] = share;
  show(what, false);
}

void Progress::wait() { show(last_, false); }

void Progress::show(const std::string& what, bool at_once) {
  last_ = what;
  if (quiet_ || (seconds() < next_line_ && !(terminal_ && at_once))) return;
  next_line_ = seconds() + (terminal_ ? kSecondsOnATerminal : kSecondsOfALine);
  const double left = (static_cast<double>(steps_) - done()) * seconds() / std::max(done(), 1e-9);
  const auto part = parts_.find(what);
  std::string text = fmt::format("{} of {} done, {:.0f} s", steps_done_, steps_, seconds());
  if (done() > 0) text += fmt::format(", {:.0f} s left", left);
  if (!what.empty()) text += ": " + what;
  if (part != parts_.end()) text += fmt::format(", {:.0f} % simulated", 100 * part->second);
  if (!terminal_) {
    out_ << "lacuna: " << text << '\n' << std::flush;
    return;
  }
  constexpr std::size_t kBar = 24;
  const auto filled = static_cast<std::size_t>(kBar * done() / static_cast<double>(steps_));
  std::string line =
      fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBar - filled, '.'), text);
  const std::size_t columns = TextTable::width();
  if (columns > 1 && line.size() >= columns) line.resize(columns - 1);
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
