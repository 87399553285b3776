// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/stream_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/simulate.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/view/critical_path.hpp"

namespace lacuna {

StreamRun::StreamRun(const WaferRequest& request)
    : request_(request),
      params_(request.params),
      op_(request.op),
      execution_(request.execution),
      hardware_(params_.hardware()),
      into_(params_, execution_, params_.cores()) {}

void StreamRun::note_elements(const wse::StreamPlan& plan, const char* elements) {
  into_.rectangle();
  const auto& held = plan.program.kernel.tokens;
  const auto [least, most] =
      std::minmax_element(held.begin() + plan.program.distribution_rows, held.end());
  into_.note(fmt::format("{} per core", elements),
             *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most));
}

void StreamRun::note_io(const wse::StreamPlan& plan) {
  into_.note("io share", fmt::format("{:.6g} of the wafer, {}/{} wavelets per cycle", plan.io_share,
                                     plan.program.rate.words, plan.program.rate.per));
}

void StreamRun::note_groups(const wse::StreamPlan& plan, const std::string& shared) {
  const wse::ColumnGroups& groups = plan.program.kernel.groups;
  if (groups.count == 1) return;
  into_.note("groups", fmt::format("{} of {} columns{}, {}", groups.count, groups.width,
                                   groups.interleaved ? ", interleaved" : "", shared));
}

void StreamRun::fill_peaks(const wse::StreamPlan& plan) {
  const wse::Rate& rate = plan.program.rate;
  result_.peaks = core_peaks(params_, plan.program.kernel.simd, result_.units);
  result_.peaks.io_bytes_per_cycle = (plan.program.full_duplex ? 8.0 : 4.0) *
                                     static_cast<double>(rate.words) /
                                     static_cast<double>(rate.per);
}

std::vector<Event> StreamRun::records_of(const wse::Program& program, const wse::FoldPlan& fold,
                                         const PathWindow& window) const {
  const wse::Program kept = wse::fold(program, fold);
  const Cycle hop = wse::QueueShapes(params_.router).link().latency;
  PathWindow records = window;
  records.row = 0;
  records.rows = kept.rows;
  Cycle behind = 0;
  std::vector<bool> wanted(kept.rows, false);
  for (std::uint32_t row = window.row; row < window.row + window.rows; ++row) {
    wanted[fold.representative[row]] = true;
    behind = std::max(behind, fold.hops_behind(row) * hop);
  }
  records.from -= std::min(records.from, behind);
  wse::RunOptions recording = with_records(options(), records, kept.columns, kept.rows);
  for (std::size_t i = 0; i < std::size_t{2} * kept.rows * kept.columns; ++i) {
    if (!wanted[i / 2 / kept.columns]) recording.event_scope.units[i] = false;
  }
  recording.cycles = window.to;
  const wse::WaferOutcome outcome = wse::simulate(hardware_, kept, recording);
  require_records(outcome.events_left_out);
  return unfold_records(outcome.events, window, fold, program, hop);
}

CriticalPath StreamRun::path_of(std::vector<Event> records, const wse::Program& program,
                                const PathWindow& window) const {
  const wse::QueueShapes shapes(params_.router);
  return critical_path(window, {std::move(records), program.columns, program.rows,
                                shapes.link().latency, shapes.ramp_up().latency, program.entry});
}

}  // namespace lacuna
