// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/critical_path.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/power_over_time.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/tables/table_bounds.hpp"

namespace lacuna {

/// The costs that a machine of this kind can be imagined without.
std::vector<WhatIf> what_ifs(const std::string& machine_kind);

/// The cycles of --interval; 0 without it.
Cycle interval_of(const Options& options);

/// The steps of --view; 0 without it.
std::uint64_t view_steps_of(const Options& options);

/// The window of --view-path; nothing if there is none.
std::optional<PathWindow> view_path_of(const Options& options);

/// RequestError of --view-steps or --view-path where no machine is a wafer.
[[noreturn]] void refuse_view_words(const Options& options);

/// True if an option asks for something that is made of event logs.
bool needs_events(const Options& options);

/// The timeline of units and *.vcd, as far as they are asked for, power.csv and intervals.csv of
/// operations that have intervals, and bounds.csv.
void write_event_files(const Options& options, const Runs& records, ResultFolder& folder,
                       const std::string& timeline = "timeline.json");

/// Gantt charts, power and bandwidth over time, likewise.
Figures event_figures(const Options& options, const Runs& records);

/// Peak and mean power of each operation with intervals.
std::string power_text(const Runs& records);

}  // namespace lacuna
