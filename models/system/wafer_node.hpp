// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/memoryx.hpp"
#include "models/system/swarmx.hpp"
#include "models/system/use_book.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// A wafer of a system. The time of a pass comes from the model of the wafer. A chunk of its
/// weights takes its share of that time once it is there and the chunk before is through. It then
/// gives its share of the gradients.
class WaferNode : public sc_core::sc_module, public Clocked {
 public:
  WaferNode(const sc_core::sc_module_name& name, ClockDomain& clock, std::uint32_t index,
            const std::vector<WaferPass>& passes, WaferCountdown& countdown, EventLog& log)
      : sc_module(name),
        clock_(clock),
        index_(index),
        passes_(passes),
        countdown_(countdown),
        book_(index, log),
        begins_(passes.size(), kNever),
        ends_(passes.size(), 0) {}

  sc_core::sc_port<PopIf<SwarmChunk>> down_in{"down_in"};
  sc_core::sc_port<PushIf<SwarmChunk>> up_out{"up_out"};

  /// Where its nanoseconds went.
  const TimeStack& time() const { return book_.time(); }
  const std::vector<Cycle>& begins() const { return begins_; }
  const std::vector<Cycle>& ends() const { return ends_; }

  /// The run has ended: what the wafer did last ends in the log.
  void end(Cycle ns) { book_.end(ns); }

  Cycle step(Cycle now) override {
    const auto book = [&](Use use, Cycle next) {
      book_.begin(now, use);
      book_.book(1);
      return next;
    };
    while (pass_ != passes_.size()) {
      if (works_) {
        if (now < until_) return book(Use::work, until_);
        works_ = false;
        ++chunk_;
      }
      if (!send(now)) return book(Use::gradients, kNever);
      if (chunk_ == passes_[pass_].down_chunks()) {
        ends_[pass_] = now;
        ++pass_;
        chunk_ = sent_ = 0;
        continue;
      }
      if (!down_in->can_pop(now)) {
        return book(passes_[pass_].use == Use::exchange ? Use::sums : Use::weights, kNever);
      }
      down_in->pop(now);
      if (chunk_ == 0) begins_[pass_] = now;
      works_ = true;
      until_ = now + share_ns(chunk_);
      clock_.moved(until_);
    }
    if (book_.use() != Use::idle) countdown_.finished(clock_, now);
    return book(Use::idle, kNever);
  }

  void skip(Cycle from, Cycle to) override { book_.book(to - from); }

  std::string blocked() const override {
    if (pass_ == passes_.size()) return "";
    return fmt::format("chunk {} of pass {} waits", chunk_, passes_[pass_].name);
  }

 private:
  /// Of the work of the pass; the shares add up to it.
  std::uint64_t share_ns(std::uint32_t chunk) const {
    const WaferPass& pass = passes_[pass_];
    const std::uint64_t all = pass.ns.size() == 1 ? pass.ns[0] : pass.ns[index_];
    const std::uint64_t chunks = pass.down_chunks();
    // 64 bits hold the product up to 10^14 ns in 65,536 chunks
    return all * (chunk + std::uint64_t{1}) / chunks - all * chunk / chunks;
  }

  /// Sends the gradients of the chunks that are through. False if there is no room.
  bool send(Cycle now) {
    const WaferPass& pass = passes_[pass_];
    const std::uint64_t due = std::uint64_t{pass.up_chunks()} * chunk_ / pass.down_chunks();
    for (; sent_ < due; ++sent_) {
      if (!up_out->can_push(now)) return false;
      up_out->push(now, {pass_, sent_, pass.bytes_of(pass.up_bytes, sent_)});
    }
    return true;
  }

  ClockDomain& clock_;
  const std::uint32_t index_;
  const std::vector<WaferPass>& passes_;
  WaferCountdown& countdown_;
  UseBook book_;
  std::uint32_t pass_ = 0;
  std::uint32_t chunk_ = 0;  // under way, or the next
  std::uint32_t sent_ = 0;   // chunks of gradients of the pass
  bool works_ = false;
  Cycle until_ = 0;
  std::vector<Cycle> begins_;
  std::vector<Cycle> ends_;
};

}  // namespace lacuna::system
