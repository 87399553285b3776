// SPDX-License-Identifier: Apache-2.0
#include "models/wse/counters.hpp"

#include <algorithm>
#include <tuple>

#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

CoreCounters& CoreCounters::add(const CoreCounters& other, std::uint64_t times) {
  for (std::size_t i = 0; i < cycles.size(); ++i) cycles[i] += other.cycles[i] * times;
  beside += other.beside * times;
  words += other.words * times;
  weights += other.weights * times;
  first_weights += other.first_weights * times;
  products += other.products * times;
  commands += other.commands * times;
  reductions += other.reductions * times;
  summed += other.summed * times;
  added += other.added * times;
  gathered += other.gathered * times;
  kept += other.kept * times;
  rows_sent += other.rows_sent * times;
  rows_copied += other.rows_copied * times;
  rows_taken += other.rows_taken * times;
  sent += other.sent * times;
  received += other.received * times;
  stream_words += other.stream_words * times;
  sum_words += other.sum_words * times;
  for (std::size_t i = 0; i < tallies.size(); ++i) tallies[i] += other.tallies[i] * times;
  buffers_in_use += other.buffers_in_use * times;
  end = std::max(end, other.end);
  return *this;
}

RouterCounters& RouterCounters::add(const RouterCounters& other, std::uint64_t times) {
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] += other.sent[i] * times;
  for (std::size_t i = 0; i < stalls.size(); ++i) stalls[i] += other.stalls[i] * times;
  closures += other.closures * times;
  filtered += other.filtered * times;
  end = std::max(end, other.end);
  return *this;
}

bool operator==(const CoreCounters& a, const CoreCounters& b) {
  const auto all = [](const CoreCounters& x) {
    return std::tie(x.cycles, x.beside, x.words, x.weights, x.first_weights, x.products, x.commands,
                    x.reductions, x.summed, x.added, x.gathered, x.kept, x.rows_sent, x.rows_copied,
                    x.rows_taken, x.sent, x.received, x.stream_words, x.sum_words, x.tallies,
                    x.buffers_in_use, x.end);
  };
  return all(a) == all(b);
}

bool operator==(const RouterCounters& a, const RouterCounters& b) {
  return std::tie(a.sent, a.stalls, a.closures, a.filtered) ==
         std::tie(b.sent, b.stalls, b.closures, b.filtered);
}

bool operator==(const InjectorCounters& a, const InjectorCounters& b) {
  return std::tie(a.words, a.zeros, a.no_token, a.closed, a.scanning, a.done) ==
         std::tie(b.words, b.zeros, b.no_token, b.closed, b.scanning, b.done);
}

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
