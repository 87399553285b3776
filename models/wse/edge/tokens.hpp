// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

// What holds for all that crosses the edge of the wafer, one by one or in lanes: what words pay
// with, and which column is asked first.

namespace lacuna::wse {

/// Tokens, in units of 1 / rate.per words: so many come in each cycle, up to what the columns send
/// in two cycles, and two words.
class TokenBucket {
 public:
  explicit TokenBucket(const Program& program)
      : rate_(program.rate), cap_((2 * std::uint64_t{program.columns} + 2) * program.rate.per) {}

  /// So many cycles begin.
  void fill(Cycle cycles = 1) {
    const std::uint64_t missing = cap_ - tokens_;
    waits_ = false;
    const bool full = rate_.words == 0 || (cycles != 1 && cycles > missing / rate_.words);
    tokens_ += full ? missing : std::min(missing, cycles * rate_.words);
  }

  bool affords(std::uint64_t words = 1) const { return !waits_ && tokens_ >= words * rate_.per; }
  void pay(std::uint64_t words = 1) { tokens_ -= words * rate_.per; }
  /// Pays for a word, if there is a token.
  bool buy() {
    if (!affords()) return false;
    pay();
    return true;
  }

  /// The same of what goes first: if it cannot be paid for, nothing is in this cycle.
  bool buy_first(std::uint64_t words) {
    waits_ = !affords(words);
    if (!waits_) pay(words);
    return !waits_;
  }

  /// The first cycle in which so many words that cannot be paid for `now` may be.
  Cycle next(Cycle now, std::uint64_t words = 1) const {
    const std::uint64_t price = words * rate_.per;
    return now + (price <= tokens_ ? 1 : (price - tokens_ + rate_.words - 1) / rate_.words);
  }

 private:
  Rate rate_;
  bool waits_ = false;
  std::uint64_t tokens_ = 0;
  std::uint64_t cap_;
};

/// Those of words that come in and of words that leave: the same, or one filled alike for each way
/// (full duplex).
class EdgeTokens {
 public:
  explicit EdgeTokens(const Program& program)
      : in_(program), out_(program), exit_(program.exit_words), duplex_(program.full_duplex) {}

  void fill(Cycle cycles = 1) {
    in_.fill(cycles);
    out_.fill(cycles);
  }
  TokenBucket& in() { return in_; }
  const TokenBucket& in() const { return in_; }
  /// Pays for a word that leaves, before what comes in, if there are tokens.
  bool buy_exit() { return out().buy_first(exit_); }
  /// The first cycle in which one that cannot be paid for `now` may be.
  Cycle next_exit(Cycle now) { return out().next(now, exit_); }

 private:
  TokenBucket& out() { return duplex_ ? out_ : in_; }

  TokenBucket in_;
  TokenBucket out_;
  std::uint64_t exit_;
  bool duplex_;
};

/// Visits `count` columns or outlets in the order in which they are asked in cycle `now`, from
/// number (now mod count) on, while `visit(number)` is true.
template <class Visit>
void ask_in_turn(Cycle now, std::size_t count, const Visit& visit) {
  std::size_t number = count == 0 ? 0 : now % count;
  for (std::size_t i = 0; i < count && visit(number); ++i) {
    if (++number == count) number = 0;
  }
}

}  // namespace lacuna::wse
