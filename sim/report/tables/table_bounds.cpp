// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/ranges.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

bool is_removed(const StackPart& part, const WhatIf& what_if) {
  const std::string layer = layer_name(part.layer);
  return any_of(what_if.without, [&](const std::string& each) {
    return each == layer || each == layer + "." + part.kind;
  });
}

/// The largest of the limits; nothing unless the operation counted them all.
std::optional<double> limit(const OpRecord& op, const std::vector<std::string>& names) {
  std::optional<double> most;
  for (const std::string& name : names) {
    const auto* const found = find_where(op.result.statistics, [&](const StatEntry& entry) {
      return entry.path + "." + entry.name == name;
    });
    if (found == nullptr) return std::nullopt;
    most = std::max(most.value_or(0), static_cast<double>(found->value));
  }
  return most;
}

/// Cycles of an operation that remain.
double remaining(const OpRecord& op, const WhatIf& what_if) {
  if (what_if.of_edge && op.result.io_bytes == 0) return static_cast<double>(op.result.cycles);
  if (const std::optional<double> most = limit(op, what_if.limits)) return *most;
  double cycles = 0;
  for (const StackPart& part : op.result.stack) {
    if (!is_removed(part, what_if)) cycles += static_cast<double>(part.cycles);
  }
  return op.result.units == 0 ? 0 : cycles / static_cast<double>(op.result.units);
}

/// What a run without a cause gained, at the layout of the run itself.
std::optional<double> measured(const RunRecord& run, const std::string& cause) {
  if (!run.why || cause.empty()) return std::nullopt;
  const std::vector<WhyStep>& ladder = run.why->ladder;
  if (ladder.size() > 1 && ladder[1].kind == "layout") return std::nullopt;
  for (const WhyAlone& each : run.why->alone) {
    if (each.cause == cause && each.not_run.empty()) return each.faster;
  }
  if (ladder.size() > 1 && ladder[1].cause == cause) return ladder[1].faster;
  return std::nullopt;
}

double all_cycles(const RunRecord& run) {
  double cycles = 0;
  for (const OpRecord& op : run.ops) cycles += static_cast<double>(op.result.cycles);
  return cycles;
}

}  // namespace

std::vector<Bound> bounds_of(const RunRecord& run, const std::vector<WhatIf>& what_ifs) {
  std::vector<Bound> bounds;
  const double before = all_cycles(run);
  if (run.total.status != Status::ok || !(before > 0)) return bounds;
  for (const WhatIf& what_if : what_ifs) {
    Bound bound{what_if.name, 0, 1};
    for (const OpRecord& op : run.ops) bound.cycles += remaining(op, what_if);
    if (bound.cycles > 0) bound.speedup = before / bound.cycles;
    bound.measured = measured(run, what_if.cause);
    bounds.push_back(bound);
  }
  return bounds;
}

std::string bounds_csv_head() {
  return csv_line({"run", "machine", "pattern", "what_if", "cycles", "speedup", "measured"});
}

std::string bounds_csv_rows(const RunRecord& run, const std::vector<WhatIf>& what_ifs) {
  std::string csv;
  for (const Bound& bound : bounds_of(run, what_ifs)) {
    csv += csv_row(run.run, run.machine, run.pattern, bound.name, bound.cycles,
                   bound.cycles > 0 ? fmt::format("{}", bound.speedup) : "", bound.measured);
  }
  return csv;
}

}  // namespace lacuna
