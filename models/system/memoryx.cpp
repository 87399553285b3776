// SPDX-License-Identifier: Apache-2.0
#include "models/system/memoryx.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna::system {

MemoryX::MemoryX(const sc_core::sc_module_name& name, ClockDomain& clock, const Rates& rates,
                 const std::vector<WaferPass>& passes, WaferCountdown& countdown)
    : sc_module(name),
      clock_(clock),
      rates_(rates),
      passes_(passes),
      countdown_(countdown),
      read_pace_(rates.read_bytes_per_us),
      write_pace_(rates.write_bytes_per_us),
      received_(passes.size(), 0),
      updated_(passes.size(), kNever) {
  for (const WaferPass& pass : passes) outstanding_ += pass.up_bytes != 0 ? 1 : 0;
}

/// The next pass to be read has to wait for an update.
bool MemoryX::waits() const {
  if (reads_ || pass_ == passes_.size() || chunk_ != 0) return false;
  const std::uint32_t gate = passes_[pass_].waits_for;
  return gate != WaferPass::kNone && updated_[gate] == kNever;
}

bool MemoryX::read(Cycle now) {
  bool moved = false;
  if (!reads_ && pass_ != passes_.size() && !waits() && down_out->can_push(now)) {
    const WaferPass& pass = passes_[pass_];
    read_last_ = read_pace_.last(now, pass.bytes_of(pass.down_bytes, chunk_));
    reads_ = true;
    clock_.moved(read_last_);
    moved = true;
  }
  if (!reads_ || now < read_last_) return moved;
  const WaferPass& pass = passes_[pass_];
  const std::uint32_t bytes = pass.bytes_of(pass.down_bytes, chunk_);
  down_out->push(now, {pass_, chunk_, bytes});
  totals_.bytes += bytes;
  reads_ = false;
  if (++chunk_ == pass.down_chunks()) {
    chunk_ = 0;
    ++pass_;
  }
  return true;
}

bool MemoryX::write(Cycle now) {
  bool moved = false;
  if (!writes_ && up_in->can_pop(now)) {
    written_ = up_in->pop(now);
    write_last_ = write_pace_.last(now, written_.bytes);
    writes_ = true;
    clock_.moved(write_last_);
    moved = true;
  }
  if (!writes_ || now < write_last_) return moved;
  writes_ = false;
  totals_.bytes += written_.bytes;
  const WaferPass& pass = passes_[written_.pass];
  if (++received_[written_.pass] == pass.up_chunks()) {
    if (pass.parameters != 0) due_.push_back(written_.pass);
    if (pass.parameters == 0) {
      updated_[written_.pass] = now;
      --outstanding_;
    }
  }
  return true;
}

bool MemoryX::update(Cycle now) {
  bool moved = false;
  if (updates_ && now >= update_until_) {
    updated_[due_.front()] = now;
    due_.pop_front();
    --outstanding_;
    updates_ = false;
    moved = true;
  }
  if (!updates_ && !due_.empty()) {
    const std::uint64_t ps = passes_[due_.front()].parameters * rates_.update_ps;
    const Cycle ns = std::max<Cycle>((ps + 999) / 1000, 1);
    update_until_ = now + ns;
    totals_.update_ns += ns;
    updates_ = true;
    clock_.moved(update_until_);
    moved = true;
  }
  return moved;
}

bool MemoryX::finished() const { return pass_ == passes_.size() && outstanding_ == 0; }

Cycle MemoryX::step(Cycle now) {
  bool moved = write(now);
  moved = update(now) || moved;
  moved = read(now) || moved;
  if (waits()) ++totals_.wait_ns;
  if (!done_ && finished()) {
    done_ = true;
    countdown_.finished(clock_, now);
  }
  if (moved) return now + 1;
  Cycle next = kNever;
  if (reads_) next = std::min(next, read_last_);
  if (writes_) next = std::min(next, write_last_);
  if (updates_) next = std::min(next, update_until_);
  return next;
}

void MemoryX::skip(Cycle from, Cycle to) {
  if (waits()) totals_.wait_ns += to - from;
}

std::string MemoryX::blocked() const {
  if (waits()) return fmt::format("pass {} waits for an update", passes_[pass_].name);
  return finished() ? "" : fmt::format("{} passes are not read", passes_.size() - pass_);
}

}  // namespace lacuna::system
