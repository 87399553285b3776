// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/injector_control.hpp"
#include "models/wse/edge/tokens.hpp"
#include "models/wse/engine/row_stream.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// The injectors of rows in lanes: what InjectorBank does, for all columns at once. The token
/// bucket is visited in the order of columns.
template <class Number>
class LaneInjectors {
 public:
  LaneInjectors(const RouterParams& router, const Program& program);

  /// What pays in a cycle is filled before anything leaves or enters.
  EdgeTokens& tokens() { return tokens_; }
  /// Performs a cycle in which the lanes of `room` (-1) have room; returns those that got a word.
  const std::vector<Number>& send_words(Cycle now, const std::vector<Number>& room);

  /// Of all columns: words to be sent, and those of them that are not sent yet.
  std::uint64_t words() const;
  std::uint64_t words_left() const;

  /// True if a word was sent or stored in the cycle just performed.
  bool moved() const { return moved_; }

  /// What DeadlockError says if nothing has moved since `since`: `rows` of `all` are not done.
  std::string deadlock(Cycle since, std::size_t rows, std::size_t all) const;

  /// By column, of a run that ended at `end`.
  std::vector<InjectorCounters> counters(Cycle end);

 private:
  using Vector = Lanes<Number>;
  using Control = InjectorControl<Vector>;
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr std::uint32_t kChunk = 100;  // words a lane counts down by itself

  const std::vector<Number>& send_stored(Cycle now, const std::vector<Number>& open);
  std::uint64_t find_candidates(const std::vector<Number>& open);
  void choose(Cycle now);
  void send(const std::vector<Number>& lanes, Cycle now);
  void take_up(std::size_t lane, Cycle now);
  void flush();
  void scan();
  void look_for_next(std::size_t lane);
  const std::vector<Number>& metered(const std::vector<Number>& open);

  const Program& program_;
  const LinkRule rule_;
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
  std::vector<std::uint64_t> rest_;  // words after the chunk
  // With a filter that takes time: by lane, cycles until the next word is found, and its number.
  std::vector<std::uint32_t> scan_left_;
  std::vector<std::uint64_t> scanned_;
  std::vector<Number> found_;  // -1: it is there
  std::vector<InjectorCounters> counters_;
  std::vector<Cycle> last_;  // when the last word was sent
};

}  // namespace lacuna::wse
