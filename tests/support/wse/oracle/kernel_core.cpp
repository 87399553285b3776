// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/kernel_core.hpp"

#include "models/wse/program/event_kinds.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse::oracle {

void KernelCore::send_word(Cycle now) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t chosen = (next_out_ + i) % out.size();
    const Output& port = out[chosen];
    if (!port.queue->has_words(now) || !port.ramp->has_room()) continue;
    port.ramp->put(now, port.queue->take());
    ++counters.sent;
    next_out_ = chosen + 1;
    return;
  }
}

bool KernelCore::take_wavelet(Cycle now, bool active, Color stream, std::vector<Event>& log) {
  if (full_ || (active && !params_.dispatch_overlap) || now < params_.init_cycles) return false;
  if (weights == nullptr || !weights->has_words(now)) return false;
  task_ = weights->take();
  full_ = true;
  ready_ = now + (task_.control ? params_.cmd_cycles.value() : params_.dispatch.value());
  ++counters.received;
  log.push_back({now, unit_, kQueuePop, static_cast<unsigned>(stream)});
  return true;
}

Queue& KernelCore::input(Color color) const {
  for (const Input& port : in) {
    if (port.color == color) return *port.queue;
  }
  throw InternalError("the oracle knows no such color down a ramp");
}

Queue& KernelCore::output(Color color) const {
  for (const Output& port : out) {
    if (port.color == color) return *port.queue;
  }
  throw InternalError("the oracle knows no such color up a ramp");
}

void KernelCore::log_runs(std::vector<Event>& log) const {
  for (const auto& issued : issued_) {
    for (std::size_t begin = 0; begin < issued.size();) {
      std::size_t end = begin + 1;
      while (end < issued.size() && issued[end] == issued[begin]) ++end;
      if (issued[begin]) {
        const std::uint64_t context = *issued[begin] == 0 ? 0 : 1;
        log.push_back({begin, unit_, kBeatRun, std::uint64_t{end - begin} << 1U | context});
      }
      begin = end;
    }
  }
}

}  // namespace lacuna::wse::oracle
