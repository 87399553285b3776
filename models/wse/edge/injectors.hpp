// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/tokens.hpp"
#include "models/wse/engine/row_stream.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What an injector waits for in a cycle; `none` if it sends a word.
enum class Hold : std::uint8_t { none, no_token, closed, scanning, done };

/// The injectors of all columns at once, and behind them those of Program::background: 16 or 8 in
/// lanes for rows in lanes, one by one in an InjectorBank. Each sends the words of its stream, for
/// each step the weights, then a command. All share the wafer's I/O: a token bucket, filled by
/// `rate` in each cycle and visited from column (cycle mod columns) on, pays for every word. If
/// one stream feeds the columns' FIFOs, words that come into them pay, and not those sent out.
template <class Number>
class Injectors {
 public:
  Injectors(const RouterParams& router, const Program& program);

  /// What pays in a cycle is filled before anything leaves or enters.
  EdgeTokens& tokens() { return tokens_; }
  /// Performs a cycle in which the lanes of `room` (-1) have room; returns those that got a word.
  const std::vector<Number>& send_words(Cycle now, const std::vector<Number>& room);

  /// Of all lanes: words to be sent, and those of them that are not sent yet.
  std::uint64_t words() const;
  std::uint64_t words_left() const;
  bool over(std::size_t lane) const { return left_[lane] == 0; }

  /// True if a word was sent or stored in the cycle just performed.
  bool moved() const { return moved_; }

  /// What DeadlockError says if nothing has moved since `since`: `rows` of `all` are not done.
  std::string deadlock(Cycle since, std::size_t rows, std::size_t all) const;

  /// By lane, of all cycles before `at`.
  std::vector<InjectorCounters> counters(Cycle at);

  // Of injectors that are lanes by themselves, after a cycle.
  Hold hold(std::size_t lane) const;
  /// When one of them could send if nothing but room was missing.
  Cycle next(Cycle now) const;
  /// So many cycles pass in which none can.
  void sleep(Cycle cycles);

 private:
  using Vector = Lanes<Number>;
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr std::uint32_t kChunk = 100;  // words a lane counts down by itself

  /// What lanes do in a cycle, before it is known who can pay; flags are -1 or 0.
  struct Control {
    Vector asks;
    Vector scanning;  // the filter has not found the next word
    Vector closed;    // there is no room below, or the link is shut
    Vector no_token;  // of these so far

    /// Columns that each have a stream: of those with words `left`, in which the next is `found`,
    /// and whose link is `open`.
    static Control of_streams(const Vector& left, const Vector& found, const Vector& open) {
      const Vector has = left & found;
      return {has & open, left & ~found, has & ~open, Vector{}};
    }
    /// Columns with a FIFO that one stream for all fills: one of its words is `there`.
    static Control of_fifos(const Vector& left, const Vector& there, const Vector& open) {
      const Vector has = left & there;
      return {has & open, Vector{}, has & ~open, left & ~there};
    }
  };

  void count_words(std::size_t lane);
  const std::vector<Number>& send_stored(Cycle now, const std::vector<Number>& open);
  std::uint64_t find_candidates(const std::vector<Number>& open);
  void note(std::size_t i, const Control& control);
  void choose(Cycle now);
  void send(const std::vector<Number>& lanes, Cycle now);
  void take_up(std::size_t lane, Cycle ended);
  void flush();
  void scan();
  void look_for_next(std::size_t lane);
  const std::vector<Number>& metered(const std::vector<Number>& open);

  const Program& program_;
  const LinkRule rule_;
  const std::size_t lanes_;
  std::vector<LaneMeter<Number>> meters_;  // by block, if the rule acts
  std::vector<Number> gated_;
  EdgeTokens tokens_;
  RowStream stream_;
  std::vector<Number> stored_;  // in the FIFOs of a row-ordered stream
  bool moved_ = false;
  unsigned unflushed_ = 0;
  std::vector<Number> left_;  // words of the chunk, by lane
  std::vector<Number> candidates_, chosen_;
  std::vector<Number> no_token_, closed_;
  std::vector<Control> holds_;       // of the cycle just performed; of lanes by themselves
  std::vector<std::uint64_t> rest_;  // words after the chunk
  // With a filter that takes time: by lane, cycles until the next word is found, and its number.
  std::vector<std::uint32_t> scan_left_;
  std::vector<std::uint64_t> scanned_;
  std::vector<Number> found_;               // -1: it is there
  std::vector<InjectorCounters> counters_;  // of their words all
  std::vector<Cycle> ended_;                // the first cycle after the last word
};

}  // namespace lacuna::wse
