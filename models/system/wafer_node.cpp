// SPDX-License-Identifier: Apache-2.0
#include "models/system/wafer_node.hpp"

#include <fmt/format.h>

namespace lacuna::system {

WaferNode::WaferNode(const sc_core::sc_module_name& name, ClockDomain& clock, std::uint32_t index,
                     const std::vector<WaferPass>& passes, WaferCountdown& countdown, EventLog& log)
    : sc_module(name),
      clock_(clock),
      index_(index),
      passes_(passes),
      countdown_(countdown),
      log_(log),
      begins_(passes.size(), kNever),
      ends_(passes.size(), 0) {}

/// Of the work of the pass; the shares add up to it.
std::uint64_t WaferNode::share_ns(std::uint32_t chunk) const {
  const WaferPass& pass = passes_[pass_];
  const std::uint64_t all = pass.ns.size() == 1 ? pass.ns[0] : pass.ns[index_];
  const std::uint64_t chunks = pass.down_chunks();
  // 64 bits hold the product up to 10^14 ns in 65,536 chunks
  return all * (chunk + std::uint64_t{1}) / chunks - all * chunk / chunks;
}

/// Sends the gradients of the chunks that are through. False if there is no room.
bool WaferNode::send(Cycle now) {
  const WaferPass& pass = passes_[pass_];
  const std::uint64_t due = std::uint64_t{pass.up_chunks()} * chunk_ / pass.down_chunks();
  while (sent_ < due) {
    if (!up_out->can_push(now)) return false;
    up_out->push(now, {pass_, sent_, pass.bytes_of(pass.up_bytes, sent_)});
    ++sent_;
  }
  return true;
}

Cycle WaferNode::book(Cycle now, Use use, Cycle next) {
  if (now == 0 || use != use_) {
    if (now != 0) log_.record(now - 1, index_, last_of(use_));
    log_.record(now, index_, first_of(use));
    use_ = use;
  }
  ++time(use_);
  return next;
}

Cycle WaferNode::step(Cycle now) {
  while (pass_ != passes_.size()) {
    if (works_) {
      if (now < until_) return book(now, Use::work, until_);
      works_ = false;
      ++chunk_;
    }
    if (!send(now)) return book(now, Use::gradients, kNever);
    if (chunk_ == passes_[pass_].down_chunks()) {
      ends_[pass_] = now;
      ++pass_;
      chunk_ = sent_ = 0;
      continue;
    }
    if (!down_in->can_pop(now)) {
      return book(now, passes_[pass_].sums ? Use::sums : Use::weights, kNever);
    }
    down_in->pop(now);
    if (chunk_ == 0) begins_[pass_] = now;
    works_ = true;
    until_ = now + share_ns(chunk_);
    clock_.moved(until_);
  }
  if (use_ != Use::idle) countdown_.finished(clock_, now);
  return book(now, Use::idle, kNever);
}

std::string WaferNode::blocked() const {
  if (pass_ == passes_.size()) return "";
  return fmt::format("chunk {} of pass {} waits", chunk_, passes_[pass_].name);
}

}  // namespace lacuna::system
