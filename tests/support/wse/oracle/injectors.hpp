// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/event_log.hpp"
#include "tests/support/wse/oracle/queue.hpp"
#include "tests/support/wse/oracle/traffic.hpp"

namespace lacuna::wse::oracle {

/// The edge: what sends words into the wafer and takes those that leave it, and what both may do
/// in a cycle (doc/model/wafer_router.md, wafer_streams.md).
class Injectors {
 public:
  /// `links` are those of the columns, then of the background streams; null: none. `exits` are
  /// those of the outlets.
  Injectors(const RouterParams& router, const Program& program, std::uint32_t first_unit,
            std::vector<Queue*> links, std::vector<Queue*> exits);

  void cycle(Cycle now, std::vector<Event>& log);

  /// Nothing of Program::background is left to send.
  bool have_sent_words_beside() const;

  std::vector<InjectorCounters> counters;             // of links
  std::vector<std::vector<std::uint32_t>> collected;  // of exits

 private:
  struct Stream {
    Queue* link = nullptr;
    std::vector<Wavelet> words;  // of the whole run
    std::size_t sent = 0;
    Cycle searched = 0;        // cycles spent on looking for the next word
    std::uint32_t stored = 0;  // in the column's FIFO, if one stream feeds all columns
    Traffic traffic;
  };

  /// Tokens, in parts of a word.
  struct Bucket {
    std::uint64_t tokens = 0;
    bool closed = false;  // until the next cycle
  };

  void add_zeros(const StreamingKernel& kernel, std::uint32_t c, std::size_t word);
  void refill(Bucket& bucket) const;
  bool pay(Bucket& bucket, std::uint64_t words = 1) const;
  void send(std::size_t i, Cycle now, std::vector<Event>& log);
  static bool can_go(const Stream& stream, Cycle now) {
    return stream.link->has_room() && stream.traffic.is_open(now);
  }
  /// A cycle of a stream's filter; true if its next word is there.
  bool search(std::size_t i);
  void take_exits(Cycle now);
  void send_columns(Cycle now, std::vector<Event>& log);
  void send_row_ordered(Cycle now, std::vector<Event>& log);

  const RouterParams& router_;
  const Program& program_;
  const std::uint32_t first_unit_;
  std::vector<Stream> streams_;
  std::vector<Queue*> exits_;
  std::vector<std::uint32_t> order_;  // columns of the one stream's words
  std::size_t ordered_ = 0;           // of them, those in the FIFOs
  Bucket in_;
  Bucket out_;
};

}  // namespace lacuna::wse::oracle
