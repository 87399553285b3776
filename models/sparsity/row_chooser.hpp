// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/bulk_random.hpp"
#include "sim/base/random.hpp"

namespace lacuna {

/// Chooses among the positions of one row after another, each with a budget of its own, from one
/// stream of numbers: what Chooser chooses, some times faster where rows are long.
class RowChooser {
 public:
  explicit RowChooser(const Random& random);

  /// Writes `keep` of `width` positions, ascending, to `out`. Returns the end of what was written.
  std::uint32_t* walk(std::uint32_t width, std::uint64_t keep, std::uint32_t* out);

 private:
  void refill();
  void walk_one(std::uint32_t width, std::uint32_t*& out);
  void walk_chunk(std::uint32_t width, unsigned shift, std::uint32_t*& out);

  BulkRandom random_;
  std::vector<std::uint64_t> numbers_;  // of a block, in order
  std::uint32_t next_;                  // of them
  std::uint64_t left_ = 0;              // positions of the row
  std::uint64_t keep_ = 0;              // of them
};

}  // namespace lacuna
