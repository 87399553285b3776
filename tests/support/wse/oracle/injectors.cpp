// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/injectors.hpp"

#include <algorithm>
#include <utility>

#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse::oracle {

Injectors::Injectors(const RouterParams& router, const Program& program, std::uint32_t first_unit,
                     std::vector<Queue*> links, std::vector<Queue*> exits)
    : counters(links.size()),
      collected(exits.size()),
      router_(router),
      program_(program),
      first_unit_(first_unit),
      streams_(links.size()),
      exits_(std::move(exits)) {
  const StreamingKernel& kernel = program.kernel;
  for (std::size_t i = 0; i < links.size(); ++i) streams_[i].link = links[i];
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    std::size_t payload = 0;
    const Color color = kernel.stream_color(c);
    for (std::uint32_t step = 0; step < kernel.steps; ++step) {
      for (std::uint32_t i = 0; i < kernel.words(step, c); ++i, ++payload) {
        add_zeros(kernel, c, payload + step);
        const std::uint32_t word = kernel.payloads.empty() ? 0 : kernel.payloads[c][payload];
        streams_[c].words.push_back({word, color, false});
      }
      add_zeros(kernel, c, payload + step);
      streams_[c].words.push_back({step, color, true});
    }
  }
  for (std::size_t k = 0; k < program.background.size(); ++k) {
    const Background& other = program.background[k];
    streams_[program.columns + k].words.assign(other.words, {0, other.color, false});
  }
  std::vector<std::size_t> ordered(program.columns, 0);
  for (std::uint32_t step = 0; step < kernel.steps; ++step) {
    for (std::uint32_t c = 0; c < program.columns; ++c) {
      if (!program.has_stream(c)) continue;
      do {
        order_.push_back(c);
      } while (!streams_[c].words[ordered[c]++].control);
    }
  }
}

/// Those that are sent before a word of a column.
void Injectors::add_zeros(const StreamingKernel& kernel, std::uint32_t c, std::size_t word) {
  if (kernel.zeros.empty()) return;
  const Wavelet zero{0, kernel.stream_color(c), false, 0, true};
  streams_[c].words.insert(streams_[c].words.end(), kernel.zeros[c][word], zero);
}

void Injectors::cycle(Cycle now, std::vector<Event>& log) {
  refill(in_);
  refill(out_);
  take_exits(now);
  program_.column_fifo != 0 ? send_row_ordered(now, log) : send_columns(now, log);
}

bool Injectors::have_sent_words_beside() const {
  for (std::size_t i = program_.columns; i < streams_.size(); ++i) {
    if (streams_[i].sent != streams_[i].words.size()) return false;
  }
  return true;
}

/// A bucket holds what two words for each column, and two more, cost.
void Injectors::refill(Bucket& bucket) const {
  const std::uint64_t most = (2 * std::uint64_t{program_.columns} + 2) * program_.rate.per;
  bucket.tokens = std::min(most, bucket.tokens + program_.rate.words);
  bucket.closed = false;
}

bool Injectors::pay(Bucket& bucket, std::uint64_t words) const {
  const std::uint64_t price = words * program_.rate.per;
  if (bucket.closed || bucket.tokens < price) return false;
  bucket.tokens -= price;
  return true;
}

void Injectors::send(std::size_t i, Cycle now, std::vector<Event>& log) {
  Stream& stream = streams_[i];
  if (stream.words[stream.sent].zero) ++counters[i].zeros;
  stream.link->put(now, stream.words[stream.sent++]);
  stream.searched = 0;
  if (limits_links(router_)) stream.traffic.pass(router_, now);
  log.push_back({now, first_unit_ + static_cast<std::uint32_t>(i), kWordIn, counters[i].words});
  ++counters[i].words;
}

/// A word of each outlet, from outlet (cycle mod outlets) on, before anything is sent: nothing is
/// while one waits for tokens out of the same bucket.
void Injectors::take_exits(Cycle now) {
  for (std::size_t i = 0; i < exits_.size(); ++i) {
    const std::size_t k = (now + i) % exits_.size();
    if (!exits_[k]->has_words(now)) continue;
    Bucket& bucket = program_.full_duplex ? out_ : in_;
    if (!pay(bucket, program_.exit_words)) {
      bucket.closed = true;
      return;
    }
    collected[k].push_back(exits_[k]->take().payload);
  }
}

bool Injectors::search(std::size_t i) {
  if (i >= program_.scan_cycles.size()) return true;
  Stream& stream = streams_[i];
  const Cycle needed = program_.scan_cycles[i][stream.sent];
  if (stream.searched < needed) ++stream.searched;
  return stream.searched == needed;
}

/// The columns take turns at the tokens, from column (cycle mod columns) on.
void Injectors::send_columns(Cycle now, std::vector<Event>& log) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::size_t c = (now + i) % streams_.size();
    const Stream& stream = streams_[c];
    if (!program_.has_stream(c)) ++counters[c].done;
    if (stream.link == nullptr) continue;
    if (stream.sent == stream.words.size()) {
      ++counters[c].done;
    } else if (!search(c)) {
      ++counters[c].scanning;
    } else if (!can_go(stream, now)) {
      ++counters[c].closed;
    } else if (!pay(in_)) {
      ++counters[c].no_token;
    } else {
      send(c, now, log);
    }
  }
}

/// One stream, row by row, fills a FIFO of each column; what was there before this cycle is sent,
/// and a place that becomes free can be filled in the next one.
void Injectors::send_row_ordered(Cycle now, std::vector<Event>& log) {
  std::vector<std::size_t> sent;
  for (std::size_t c = 0; c < streams_.size(); ++c) {
    const Stream& stream = streams_[c];
    if (!program_.has_stream(c)) ++counters[c].done;
    if (stream.link == nullptr) continue;
    if (stream.sent == stream.words.size()) {
      ++counters[c].done;
    } else if (stream.stored == 0) {
      ++counters[c].no_token;
    } else if (!can_go(stream, now)) {
      ++counters[c].closed;
    } else {
      send(c, now, log);
      sent.push_back(c);
    }
  }
  while (ordered_ < order_.size()) {
    Stream& stream = streams_[order_[ordered_]];
    if (stream.stored == program_.column_fifo || !pay(in_)) break;
    ++stream.stored;
    ++ordered_;
  }
  for (const std::size_t c : sent) --streams_[c].stored;
}

}  // namespace lacuna::wse::oracle
