// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// Empty if the rows of routers before the first with tokens, if there are any, are one that copies
/// streams to neighbouring columns: a CopyRow.
const char* reason_against_copy_row(const Program& program);

/// A row of routers that copies the words of streams south and to the columns beside, all columns
/// at once, as lanes in the order of columns. Routers have words of one color and no others, so
/// nothing competes for a port.
template <class Number>
class CopyRow {
 public:
  CopyRow(const RouterParams& router, const Program& program);

  /// Performs a cycle; `takes` are the lanes in which the row below has room for a copy.
  void step(const std::vector<Number>& takes);

  /// The lanes that could take a word from the injector in the cycle just performed: -1 or 0.
  const std::vector<Number>& open() const { return open_; }
  /// The lanes from which a copy went south in this cycle.
  const std::vector<Number>& copied() const { return south_; }
  /// Words come from the injectors to these lanes.
  void arrive(const std::vector<Number>& lanes);
  /// True if a word left in the cycle just performed.
  bool moved() const { return moved_; }

  /// The counters of its routers, through each of which `words` of its column have gone.
  void add_counters(const std::vector<std::uint64_t>& words, RouterCounters* routers);

 private:
  using Vector = Lanes<Number>;
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  enum Way : unsigned { kDown, kToEast, kToWest, kWays };

  struct Block {
    LaneQueue<Number> in;          // the buffer of words from beside
    Vector edge{};                 // words of that from the injector
    LaneWays<Number, kWays> ways;  // on which words are copied
    LaneCopies<Number, kWays> copies;
    std::array<LaneLink<Number>, kWays> links;
    Vector from_east{}, several{}, closures{};
    BufferCounts<Vector> counts;
  };
  struct Counted {
    BufferCounts<std::uint64_t> heads;
    std::uint64_t closures = 0;
  };

  Vector room(std::size_t i, Way way, const std::vector<Number>& takes) const;
  void step_block(std::size_t i, const std::vector<Number>& takes);
  void flush();

  const LinkRule rule_;
  const LaneShape<Number> link_;
  const Vector entries_;
  std::vector<Block> blocks_;
  std::vector<Number> source_, open_, south_;
  LaneBorder<Number> eastward_, westward_;  // words that go there, and room for any
  std::vector<Counted> counted_;            // by lane
  unsigned unflushed_ = 0;
  bool moved_ = false;
};

}  // namespace lacuna::wse
