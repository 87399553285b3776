// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/lane_cores.hpp"

#include "models/wse/fabric/ramp.hpp"
#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse {

bool LaneCores::send_output(Unit& core, Cycle now) {
  const std::vector<CorePort>& out = core.ports.out;
  const bool sent = send_up(
      links_, link_rule_, core.ramp, out.size(), core.next_out, now,
      [&](std::size_t i) { return out[i].queue; }, [&](std::size_t i) { return out[i].ramp; });
  if (sent) ++core.counters.sent;
  return sent;
}

void LaneCores::book(Unit& core, unsigned context, CoreCycle why, const Lane& in_use) {
  extend_run(core, context, now_);
  core.counters.buffers_in_use += number(in_use);
  if (context == kNobody) {
    core.waiting_for = why;
    ++core.counters.cycles[why];
    return;
  }
  core.acted = true;
  ++core.counters.cycles[context == 0 ? kFma : kReduce];
}

void LaneCores::extend_run(Unit& core, unsigned context, Cycle now) {
  if (!log_.enabled()) return;
  if (context == core.run_of && now == core.run_begin + core.run_length) {
    ++core.run_length;
    return;
  }
  if (core.run_of != kNobody) {
    log_.record(core.run_begin, core.ports.unit, kBeatRun,
                std::uint64_t{core.run_length} << 1U | (core.run_of == 0 ? 0U : 1U));
  }
  core.run_of = context;
  core.run_begin = now;
  core.run_length = 1;
}

}  // namespace lacuna::wse
