// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/system/energy.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna {

/// What the reports of all systems have in common, whatever joins their chips.

/// A number of a result, with its unit.
struct SystemMetric {
  std::string name;
  double value = 0;
  std::string unit;
};

/// Columns quantity, value, unit.
NamedTable metrics_table(const std::string& name, const std::vector<SystemMetric>& metrics);

/// Quantities of a run of one system that are counted alike in all.
struct StepNumbers {
  double seconds = 0;  // of a weight update
  double chips = 0;
  double flop = 0;  // useful, of all chips, without what is done again
};

/// global_batch, sequences_per_s, tokens_per_s, tflops, tflops_per_chip.
std::vector<SystemMetric> rate_metrics(const system::TrainingParams& training,
                                       const StepNumbers& step);

/// energy, energy_low, energy_high of one of `steps` steps, and power over the `seconds` of all.
std::vector<SystemMetric> energy_metrics(const EnergyAccount& energy, double steps, double seconds);

/// energy_PART of each part of one of `steps` steps, that of the chips first.
std::vector<SystemMetric> part_metrics(const EnergyAccount& energy, double steps);

/// energy_per_sequence, where a step's energy is `joules`.
SystemMetric energy_per_sequence(const system::TrainingParams& training, double joules);

/// training_time of all steps of a training, if it says how many; else nothing.
std::vector<SystemMetric> whole_training(const system::TrainingParams& training, double seconds);

/// The quantities but for parts of the energy, which have a table of their own.
std::string quantities_text(const std::vector<SystemMetric>& metrics);

/// Columns chip, use, ns: `ns` by chip, and of a chip by use.
NamedTable time_stack_table(const std::string& name, const std::vector<const char*>& uses,
                            const std::vector<std::vector<std::uint64_t>>& ns);

/// What lies where, and how much there is room for: a chip of a phase, or the store.
struct MemoryOfPlace {
  std::string phase;
  std::string place;
  std::vector<std::pair<const char*, std::uint64_t>> parts;  // name and bytes; alike in all
  std::uint64_t capacity = 0;

  std::uint64_t total() const;
};

/// Columns phase, chip, the parts, total, capacity.
NamedTable memory_table(const std::string& name, const std::vector<MemoryOfPlace>& places);

/// A stretch of time of one of the tracks of a timeline, in ns.
struct TimelineBar {
  std::string name;
  std::size_t track = 0;
  Cycle from = 0;
  Cycle to = 0;
};

/// Chrome trace events: tracks by name, beyond those without a name.
std::string timeline_json(const std::string& process, const std::vector<std::string>& tracks,
                          const std::vector<TimelineBar>& bars);

/// A table as the lines of a file.
std::string csv_of(const NamedTable& table);

}  // namespace lacuna
