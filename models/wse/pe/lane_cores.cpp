// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/lane_cores.hpp"

#include "models/wse/fabric/ramp.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

Lanes<std::int64_t> LaneCores::may_begin(const Unit& core) const {
  unsigned full = 0;
  for (const CorePort& port : core.ports.out) full += links_.can_push(port.queue, now_) ? 0 : 1;
  return flag(Dispatch::may_begin(full));
}

Lanes<std::int64_t> LaneCores::take_task(Unit& core, const Lane& lanes) {
  if (lanes[0] == 0) return Lane{};
  core.task = links_.pop(core.ports.weights, now_);
  core.acted = true;
  ++core.counters.received;
  log_.record(now_, core.ports.unit, kQueuePop, static_cast<std::uint64_t>(core.task.color));
  return flag(core.task.control);
}

bool LaneCores::send_output(Unit& core, Cycle now) {
  const std::vector<CorePort>& out = core.ports.out;
  const bool sent = send_up(
      links_, link_rule_, core.ramp, out.size(), core.next_out, now,
      [&](std::size_t i) { return out[i].queue; }, [&](std::size_t i) { return out[i].ramp; });
  if (sent) ++core.counters.sent;
  return sent;
}

void LaneCores::book(Unit& core, const Who& who, bool kept, CoreCycle why, const Lane& in_use) {
  for (unsigned slot = 0; slot < who.size(); ++slot) {
    extend_run(core, core.runs[slot], who[slot], now_);
    core.acted = core.acted || who[slot] != kNobody;
  }
  core.counters.buffers_in_use += number(in_use);
  const bool main = who[0] == 0;
  const bool other = (!main && who[0] != kNobody) || who[1] != kNobody;
  const bool beside = other && (main || kept);
  if (beside) ++core.counters.beside;
  if (!main && (!other || beside)) {
    core.waiting_for = why;
    ++core.counters.cycles[why];
    return;
  }
  ++core.counters.cycles[main ? kFma : kReduce];
}

void LaneCores::extend_run(Unit& core, Run& run, unsigned context, Cycle now) {
  if (!log_.enabled()) return;
  if (context == run.of && now == run.begin + run.length) {
    ++run.length;
    return;
  }
  if (run.of != kNobody) {
    log_.record(run.begin, core.ports.unit, kBeatRun,
                std::uint64_t{run.length} << 1U | (run.of == 0 ? 0U : 1U));
  }
  run.of = context;
  run.begin = now;
  run.length = 1;
}

}  // namespace lacuna::wse
