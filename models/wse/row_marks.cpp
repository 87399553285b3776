// SPDX-License-Identifier: Apache-2.0
#include "models/wse/row_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::wse {

CoreMark mark_of(const CoreCounters& counted, Cycle lag) {
  CoreMark mark{};
  std::copy(counted.cycles.begin(), counted.cycles.end(), mark.begin());
  // before its first word could come it waited, with a buffer open
  mark[kWaitWeights] -= std::min<std::uint64_t>(lag, mark[kWaitWeights]);
  mark[kDone] = 0;
  mark[kRowsDone] = counted.commands;
  mark[kBuffersInUse] =
      counted.buffers_in_use - std::min<std::uint64_t>(lag, counted.buffers_in_use);
  mark[kStreamWords] = counted.stream_words;
  mark[kSumWords] = counted.sum_words;
  return mark;
}

void require_marks(std::uint64_t marks) {
  constexpr std::uint64_t kMost = 16U << 20U;
  if (marks <= kMost) return;
  throw UnsupportedError(
      fmt::format("--view: rows that do things of their own leave {} records of a core and a step, "
                  "of at most {}; fewer steps (--view-steps) or a smaller rectangle "
                  "(wafer.columns, wafer.rows) leave fewer",
                  marks, kMost));
}

RowWatch::RowWatch(const FoldPlan& fold, std::size_t columns, Cycle hop, Cycle length)
    : fold_(fold), columns_(columns), hop_(hop), length_(length), rows_(fold.kept.size()) {
  for (std::size_t kept = 0; kept < rows_.size(); ++kept) next_.push_back(length + lag(kept));
}

Cycle RowWatch::lag(std::size_t kept) const {
  const std::size_t entry = fold_.kept_entry;
  return (std::max(kept, entry) - std::min(kept, entry)) * hop_;
}

Cycle RowWatch::next_look(Cycle after) const {
  Cycle next = kNever;
  for (const Cycle at : next_) {
    if (at > after) next = std::min(next, at);
  }
  return next;
}

void RowWatch::watch(RunOptions& options) {
  options.first_look = next_look(0);
  options.look = [this](Cycle at, CountedWafer& wafer) { return look(at, wafer); };
}

Cycle RowWatch::look(Cycle at, CountedWafer& wafer) {
  for (std::size_t kept = 0; kept < rows_.size(); ++kept) {
    if (next_[kept] != at) continue;
    auto marks = std::make_shared<std::vector<CoreMark>>();
    for (const CoreCounters& core : wafer.row_cores(kept, at)) {
      marks->push_back(mark_of(core, lag(kept)));
    }
    rows_[kept].push_back(std::move(marks));
    next_[kept] += length_;
  }
  std::uint64_t marks = 0;
  for (const RowMarks& row : rows_) marks += row.size() * columns_;
  require_marks(marks);
  return next_look(at);
}

WaferMarks RowWatch::take() { return {std::move(rows_), fold_.representative}; }

}  // namespace lacuna::wse
