// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/lane_cores.hpp"

#include <array>

#include "models/wse/fabric/ramp.hpp"
#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

bool LaneCores::send_output(Unit& core, Cycle now) {
  const std::vector<CorePort>& out = core.ports.out;
  const bool sent = send_up(
      links_, link_rule_, core.ramp, out.size(), core.next_out, now,
      [&](std::size_t i) { return out[i].queue; }, [&](std::size_t i) { return out[i].ramp; },
      [&](LinkId queue) {
        if (!log_.keeps(kWordUp)) return;
        const auto color = static_cast<std::uint64_t>(links_.front(queue).color);
        log_.record(now, core.ports.unit, kWordUp, (now - links_.front_sent(queue)) << 8U | color);
      });
  if (sent) ++core.counters.sent;
  return sent;
}

void LaneCores::book(Unit& core, unsigned context, CoreCycle why, const Lane& in_use) {
  extend_run(core, context == kNobody ? waiting(why) : context, now_, 1);
  core.counters.buffers_in_use += number(in_use);
  if (context == kNobody) {
    core.waiting_for = why;
    ++core.counters.cycles[why];
    return;
  }
  core.acted = true;
  ++core.counters.cycles[context == 0 ? kFma : kReduce];
}

Wavelet LaneCores::take(Unit& core, LinkId queue, std::uint64_t color) {
  if (log_.keeps(kWordTaken)) {
    log_.record(now_, core.ports.unit, kWordTaken, (now_ - links_.front_sent(queue)) << 8U | color);
  }
  log_.record(now_, core.ports.unit, kQueuePop, color);
  ++core.counters.received;
  return links_.pop(queue, now_);
}

void LaneCores::extend_run(Unit& core, unsigned what, Cycle at, Cycle length) {
  if (!log_.enabled()) return;
  if (what == core.run_of && at == core.run_begin + core.run_length) {
    core.run_length += length;
    return;
  }
  static constexpr std::array<EventKind, kCoreCycles> kKinds{
      kBeatRun,        kScalarRun,   kConflictRun, kResidualRun,   kBeatRun, kDispatchRun,
      kWaitWeightsRun, kWaitSumsRun, kWaitRoomRun, kWaitBufferRun, kBeatRun};
  const bool beats = core.run_of < kNobody;
  if (beats || core.run_of > kNobody) {
    log_.record_run(core.run_begin, core.run_length, core.ports.unit,
                    beats ? kBeatRun : kKinds.at(core.run_of - kNobody - 1),
                    core.run_length << 1U | (beats && core.run_of != 0 ? 1U : 0U));
  }
  core.run_of = what;
  core.run_begin = at;
  core.run_length = length;
}

}  // namespace lacuna::wse
