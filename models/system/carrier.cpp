// SPDX-License-Identifier: Apache-2.0
#include "models/system/carrier.hpp"

#include <fmt/format.h>

#include "models/system/event_kinds.hpp"

namespace lacuna::system {

Carrier::Carrier(const sc_core::sc_module_name& name, ClockDomain& clock, const Resource& resource,
                 const Wiring& wiring, std::uint32_t unit, EventLog& log)
    : sc_module(name),
      clock_(clock),
      resource_(resource),
      wiring_(wiring),
      unit_(unit),
      log_(log) {}

bool Carrier::take(Cycle now) {
  for (int i = 0; i < in.size(); ++i) {
    const int from = (turn_ + i) % in.size();
    if (!in[from]->can_pop(now)) continue;
    chunk_ = in[from]->pop(now);
    turn_ = from + 1;
    last_ = now + resource_.ns(chunk_.bytes) - 1;
    clock_.moved(last_);
    log_.record(now, unit_, kCarryFirst, chunk_.transfer);
    return true;
  }
  return false;
}

Cycle Carrier::step(Cycle now) {
  if (!carries_) carries_ = take(now);
  if (!carries_) return kNever;  // a channel wakes it
  ++busy_ns_;
  if (now < last_) return last_;
  log_.record(now, unit_, kCarryLast, chunk_.transfer);
  bytes_ += chunk_.bytes;
  Chunk next = chunk_;
  const auto output = static_cast<int>(wiring_.output(chunk_));
  ++next.hop;
  out[output]->push(now, next);
  carries_ = false;
  return now + 1;
}

void Carrier::skip(Cycle from, Cycle to) {
  if (carries_) busy_ns_ += to - from;
}

std::string Carrier::blocked() const {
  return carries_ ? fmt::format("carries a chunk of transfer {}", chunk_.transfer) : "";
}

}  // namespace lacuna::system
