// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// Which units of a machine are shown; empty: the first sixteen with events, and the last.
using UnitPatterns = std::vector<std::string>;

/// The event logs of all operations as Chrome trace events, for Perfetto and
/// chrome://tracing. An operation is a process. A track shows one thing that a unit does
/// (phases, workers), or its waits. Flows lead from sender to receiver; counters show what a
/// unit holds. Time is in microseconds, cycles stand in the arguments. Beyond `limit` bytes
/// whole windows of time are left out, at equal distances, and the file says so. RequestError
/// if one window is too much.
std::string timeline_json(const Runs& records, const UnitPatterns& units, std::size_t limit);

/// The event log of an operation as Value Change Dump (IEEE 1364), in femtoseconds: how many of
/// each thing a unit does are under way, the argument of the last, and what each queue holds.
std::string waves_vcd(const OpRecord& op, const UnitPatterns& units);

/// Gantt charts of operations with event logs: the same tracks over cycles.
Figures gantt_figures(const Runs& records, const UnitPatterns& units);

}  // namespace lacuna
