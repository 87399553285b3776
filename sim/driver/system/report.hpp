// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/system/job.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What a training step came to: times, rates, power, energy.
std::vector<SystemMetric> system_metrics(const SystemMachine& machine,
                                         const system::TrainingParams& training,
                                         const TrainingResult& result);

/// The errors of times of weight updates like this one; none if none like it was measured.
std::optional<TrustErrors> errors_of(const SystemMachine& machine,
                                     const system::TrainingParams& training);

/// The tables of a run: metrics, time stack, stages, memory, energy.
std::string system_text(const SystemMachine& machine, const std::string& name,
                        const system::TrainingParams& training, const TrainingResult& result);

/// What lies on each chip of a replica in each phase.
std::vector<MemoryOfPlace> memory_places(const TrainingResult& result);

/// Quantities, time stack and memory.
std::vector<NamedTable> system_tables(const SystemMachine& machine,
                                      const system::TrainingParams& training,
                                      const TrainingResult& result);

/// Files of a result folder, by name: metrics.csv, time_stack.csv, stages.csv, memory.csv,
/// resources.csv, timeline.json.
std::vector<std::pair<std::string, std::string>> system_files(
    const SystemMachine& machine, const system::TrainingParams& training,
    const TrainingResult& result);

/// What one chip did in one stretch of a program, in ns.
struct PipelineBar {
  std::size_t chip = 0;
  system::Use use = system::Use::forward;
  Cycle from = 0;
  Cycle to = 0;
};

/// The bars of the first replica, one after the other: of steps that repeat the first two, and
/// without the host.
std::vector<PipelineBar> pipeline_bars(const system::TrainingParams& training,
                                       const TrainingResult& result);

/// Pipeline as a Gantt chart, time stack, memory bars.
std::vector<Figure> system_figures(const SystemMachine& machine,
                                   const system::TrainingParams& training,
                                   const TrainingResult& result);

}  // namespace lacuna
