// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/options.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/power_over_time.hpp"
#include "sim/report/summary.hpp"
#include "sim/report/table_bounds.hpp"

namespace lacuna {

/// What the kinds of events of a machine ("ipu", "wse") tell of its activity.
ActivityRules activity_rules(const std::string& machine_kind);

/// The costs that a machine of this kind can be imagined without.
std::vector<WhatIf> what_ifs(const std::string& machine_kind);

/// True if an option asks for something that is made of event logs.
bool needs_events(const Options& options);

/// RequestError if --timeline, --waves or --interval cannot be.
void check_event_options(const Options& options);

/// timeline.json, *.vcd and power.csv, as far as they are asked for, and bounds.csv.
void write_event_files(const Options& options, const std::vector<RunRecord>& records,
                       ResultFolder& folder);

/// Gantt charts and power over time, likewise.
std::vector<Figure> event_figures(const Options& options, const std::vector<RunRecord>& records);

/// Peak and mean power of each operation, if --interval asks; else nothing.
std::string power_text(const Options& options, const std::vector<RunRecord>& records);

}  // namespace lacuna
