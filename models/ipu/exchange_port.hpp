// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/ipu/exchange/conflicts.hpp"
#include "models/ipu/exchange/fabric.hpp"
#include "models/ipu/exchange/plan.hpp"

namespace lacuna::ipu {

/// The port of a tile to the fabric, clock by clock. In each it puts the next word of a send
/// instruction on its wires, or two at double width. It writes what the multiplexer hears. What a
/// whole phase comes to is the plan's TileTraffic.
class ExchangePort {
 public:
  /// Counts in `moved` what it moves.
  ExchangePort(TileId id, const MemoryParams& memory, ExchangeFabric& fabric, TileTraffic& moved)
      : id_(id), memory_(memory), fabric_(fabric), moved_(moved), elements_(memory, 0) {}

  /// Begins a phase. `values` is the tile's memory, null if a run carries none.
  void begin(const ExchangePlan& plan, TileMemory* values);

  /// Performs clock `t` of the phase, which is cycle `now`. Calls `first` with an instruction that
  /// moves its first word and `last` with one that has moved its last, a Send before a Receive.
  /// True if a word was moved.
  template <class First, class Last>
  bool step(Cycle now, Cycle t, const First& first, const Last& last) {
    const bool sends = send_ != send_end_ && t >= send_->start;
    const bool receives = receive_ != receive_end_ && t >= receive_->start;
    if (sends && receives) count_conflict();
    if (sends) {
      if (words_out_ == 0) first(on_time(t, *send_));
      put(now);
      if (words_out_ == send_->words) {
        last(*send_++);
        words_out_ = 0;
      }
    }
    if (receives) {
      if (words_in_ == 0) {
        ++moved_.fragments;
        first(on_time(t, *receive_));
      }
      take(now);
      if (words_in_ == receive_->words) {
        last(*receive_++);
        words_in_ = 0;
      }
    }
    return sends || receives;
  }

  /// True if nothing is left to be moved in the phase.
  bool over() const { return send_ == send_end_ && receive_ == receive_end_; }

 private:
  void put(Cycle now) {
    const bool two = send_->wide && words_out_ + 1 < send_->words;
    const std::uint32_t words = two ? 2 : 1;
    if (values_ != nullptr) {
      ExchangeItem item;
      item.words = static_cast<std::uint8_t>(words);
      item.low = values_->word(send_->address + words_out_);
      if (two) item.high = values_->word(send_->address + words_out_ + 1);
      fabric_.put(id_, now, item);
    } else {
      fabric_.put_words(id_, now, words);
    }
    moved_.sent += words;
    words_out_ += words;
  }

  void take(Cycle now) {
    const Cycle sent_in = now - receive_->latency;
    const std::uint32_t words = fabric_.words_of(receive_->source, sent_in);
    if (values_ != nullptr) {
      const ExchangeItem item = fabric_.get(receive_->source, sent_in);
      values_->set_word(receive_->address + words_in_, item.low);
      if (item.words == 2) values_->set_word(receive_->address + words_in_ + 1, item.high);
    }
    words_in_ += words;
    moved_.received += words;
  }

  /// The word to be read and the one to be written may be in one element. Sends seldom leave
  /// theirs.
  void count_conflict() {
    const std::uint32_t from = send_->address + words_out_;
    const std::uint32_t to = receive_->address + words_in_;
    if (from - element_ >= elements_.size()) element_ = elements_.begin(from);
    if (to - element_ < elements_.size() && elements_.contains(from) && elements_.contains(to)) {
      ++moved_.conflicts;
    }
  }

  /// An instruction that begins later than its program says had to wait for the one before it.
  template <class Instruction>
  const Instruction& on_time(Cycle t, const Instruction& instruction) const {
    if (t != instruction.start) late(instruction.start);
    return instruction;
  }
  [[noreturn]] void late(Cycle start) const;

  const TileId id_;
  const MemoryParams& memory_;
  ExchangeFabric& fabric_;
  TileTraffic& moved_;
  TileMemory* values_ = nullptr;
  const Send* send_ = nullptr;
  const Send* send_end_ = nullptr;
  const Receive* receive_ = nullptr;
  const Receive* receive_end_ = nullptr;
  std::uint32_t words_out_ = 0;  // of the present send
  std::uint32_t words_in_ = 0;
  PlainElements elements_;
  std::uint32_t element_ = 0;  // the first word of that of the last word sent
};

}  // namespace lacuna::ipu
