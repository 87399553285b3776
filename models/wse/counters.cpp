// SPDX-License-Identifier: Apache-2.0
#include "models/wse/counters.hpp"

#include <algorithm>

#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

CoreCounters& CoreCounters::add(const CoreCounters& other, std::uint64_t times) {
  const Cycle last = std::max(end, other.end);
  add_all_counts(*this, other, times);
  end = last;
  return *this;
}

RouterCounters& RouterCounters::add(const RouterCounters& other, std::uint64_t times) {
  const Cycle last = std::max(end, other.end);
  add_all_counts(*this, other, times);
  end = last;
  return *this;
}

void RouterCounters::add_buffer(Color color, const BufferCounts<std::uint64_t>& counts) {
  for (int i = 0; i < kBufferCounts; ++i) {
    statistic(i).at(static_cast<std::size_t>(color)) += counts.statistic(i);
  }
}

bool operator==(const CoreCounters& a, const CoreCounters& b) { return same_counts(a, b); }

bool operator==(const RouterCounters& a, const RouterCounters& b) {
  RouterCounters with_end = a;
  with_end.end = b.end;  // which lanes do not know
  return same_counts(with_end, b);
}

bool operator==(const InjectorCounters& a, const InjectorCounters& b) { return same_counts(a, b); }

std::vector<std::string> event_kind_names() {
  return {"word_out",      "closure",        "queue_push",    "queue_pop",
          "task_activate", "vector_active",  "beat_run",      "reduction_start",
          "reduction_end", "word_in",        "vector_end",    "word_pass",
          "word_up",       "word_taken",     "busy_run",      "scalar_run",
          "conflict_run",  "residual_run",   "dispatch_run",  "wait_weights_run",
          "wait_sums_run", "wait_words_run", "wait_room_run", "wait_buffer_run",
          "io_rate_run",   "closed_run",     "scan_run"};
}

}  // namespace lacuna::wse
