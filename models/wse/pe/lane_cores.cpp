// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/lane_cores.hpp"

#include <array>

#include "models/wse/fabric/ramp.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

Lanes<std::int64_t> LaneCores::may_begin(const CoreUnit& core) const {
  unsigned full = 0;
  for (const CorePort& port : core.ports.out) full += links_.can_push(port.queue, now_) ? 0 : 1;
  return flag(Dispatch::may_begin(full));
}

Lanes<std::int64_t> LaneCores::take_task(CoreUnit& core, const Lane& lanes) {
  if (lanes[0] == 0) return Lane{};
  core.task = take(core, core.weights, color_of(core.weights));
  core.acted = true;
  return flag(core.task.control);
}

bool LaneCores::send_output(CoreUnit& core, Cycle now) {
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

void LaneCores::book(CoreUnit& core, const Who& who, bool kept, CoreCycle why, const Lane& in_use) {
  core.counters.buffers_in_use += number(in_use);
  const bool main = who[0] == 0;
  const bool other = (!main && who[0] != kNobody) || who[1] != kNobody;
  const bool beside = other && (main || kept);
  if (beside) ++core.counters.beside;
  const bool waits = !main && (!other || beside);
  extend_run(core, core.runs[0], waits ? waiting(why) : who[0], now_, 1);
  if (issue_.two) extend_run(core, core.runs[1], who[1], now_, 1);
  core.acted = core.acted || main || other;
  if (waits) {
    core.waiting_for = why;
    ++core.counters.cycles[why];
    return;
  }
  ++core.counters.cycles[main ? kFma : kReduce];
}

Wavelet LaneCores::take(CoreUnit& core, LinkId queue, std::uint64_t color) {
  if (log_.keeps(kWordTaken)) {
    log_.record(now_, core.ports.unit, kWordTaken, (now_ - links_.front_sent(queue)) << 8U | color);
  }
  log_.record(now_, core.ports.unit, kQueuePop, color);
  ++core.counters.received;
  return links_.pop(queue, now_);
}

void LaneCores::extend_run(const CoreUnit& core, CoreRun& run, unsigned what, Cycle at,
                           Cycle length) {
  if (!log_.enabled()) return;
  if (what == run.of && at == run.begin + run.length) {
    run.length += length;
    return;
  }
  static constexpr std::array<EventKind, kCoreCycles> kKinds{
      kBeatRun,        kScalarRun,   kConflictRun, kResidualRun,   kBeatRun, kDispatchRun,
      kWaitWeightsRun, kWaitSumsRun, kWaitRoomRun, kWaitBufferRun, kBeatRun};
  const bool beats = run.of < kNobody;
  if (beats || run.of > kNobody) {
    log_.record_run(run.begin, run.length, core.ports.unit,
                    beats ? kBeatRun : kKinds.at(run.of - kNobody - 1),
                    run.length << 1U | (beats && run.of != 0 ? 1U : 0U));
  }
  run.of = what;
  run.begin = at;
  run.length = length;
}

}  // namespace lacuna::wse
