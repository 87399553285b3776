// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

// The oracle is the wafer once more, written from doc/model/wafer_*.md and from nothing else, for
// tests to compare the engines with. Every unit acts in every cycle; what it reads is what was
// there when the cycle began, what it writes is there when the cycle has ended. It is never made
// faster.

namespace lacuna::wse::oracle {

/// Words on their way from one unit to another, and waiting there. A word put in cycle t can be
/// taken in t + latency. It has a place from the cycle it is put in to the end of the one it is
/// taken in: room is judged by what was there at the end of the cycle before.
class Queue {
 public:
  Queue(unsigned capacity, Cycle latency) : capacity_(capacity), latency_(latency) {}

  bool has_room(unsigned words = 1) const {
    return at_begin_ + put_ + words <= capacity_ + longer_;
  }

  bool has_words(Cycle now, std::size_t words = 1) const {
    return words_.size() >= words && words_[words - 1].ready <= now;
  }

  const Wavelet& head() const { return words_.front().word; }
  Cycle head_arrived() const { return words_.front().ready; }

  /// Returns the cycle in which the word can be taken: later if it takes `more`, never before those
  /// ahead of it.
  Cycle put(Cycle now, const Wavelet& word, Cycle more = 0) {
    Cycle ready = now + latency_ + more;
    if (!words_.empty() && words_.back().ready > ready) ready = words_.back().ready;
    words_.push_back({ready, word});
    ++put_;
    return ready;
  }

  Wavelet take() {
    const Wavelet word = head();
    words_.pop_front();
    return word;
  }

  void end_cycle() {
    at_begin_ = words_.size();
    put_ = 0;
  }

  /// Some words are under way for so much longer: there is room for them.
  void lengthen(Cycle more) { longer_ = more; }

  bool empty() const { return words_.empty(); }

 private:
  struct Entry {
    Cycle ready;
    Wavelet word;
  };

  std::size_t capacity_;
  Cycle latency_;
  Cycle longer_ = 0;
  std::deque<Entry> words_;
  std::size_t at_begin_ = 0;  // words that were there at the end of the cycle before
  std::size_t put_ = 0;       // since then
};

}  // namespace lacuna::wse::oracle
