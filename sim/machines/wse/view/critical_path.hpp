// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/engine/fold.hpp"
#include "models/wse/wafer.hpp"
#include "sim/report/critical_path.hpp"

namespace lacuna {

/// What the records of a window are of: a wafer of `columns` x `rows`, units numbered as Wafer has
/// them, whose words take these cycles over a link and between core and router, and one from the
/// edge. Words enter from the north in row `entry`.
struct PathRecords {
  std::vector<Event> events;  // details, sorted by cycle
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  Cycle hop = 1;
  Cycle ramp = 1;
  std::int64_t entry = 0;
};

/// `window` cut to a wafer and a run; UnsupportedError if nothing is left of it.
PathWindow fitted(PathWindow window, std::uint32_t columns, std::uint32_t rows, Cycle cycles);

/// Has a run of so many units keep the records of `window`.
wse::RunOptions with_records(wse::RunOptions options, const PathWindow& window,
                             std::uint32_t columns, std::uint32_t rows);

/// UnsupportedError if there were more than are kept.
void require_records(bool left_out);

/// The events of `window` of all rows of `program`, of a run of those that `fold` keeps.
std::vector<Event> unfold_records(const std::vector<Event>& kept, const PathWindow& window,
                                  const wse::FoldPlan& fold, const wse::Program& program,
                                  Cycle hop);

/// Walks back from what ends last in the window: what a core waited for, the way of that word,
/// hop by hop, and who sent it; where a word stood, what it stood behind or who made room for it.
CriticalPath critical_path(const PathWindow& window, const PathRecords& records);

}  // namespace lacuna
