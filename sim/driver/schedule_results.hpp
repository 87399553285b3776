// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/workload_schedule.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/summary.hpp"

namespace lacuna {

/// What the host does for a new pattern, over all matrices. Only machines with a host side have it.
struct UpdateCost {
  std::uint64_t convert_ns = 0;   // sorting blocks into what the device reads
  std::uint64_t transfer_ns = 0;  // of that to the device
  std::uint64_t exposed_ns = 0;   // of both, not hidden by products
};

/// A sample of a schedule on a machine.
struct SampleRow {
  const SchedulePoint* point = nullptr;
  std::string machine;
  SummaryRow total;
  std::optional<std::uint64_t> propagation;  // steps of blocks that spilled, over all products
  std::optional<UpdateCost> update;
};

/// Nominal energy, where it is known.
std::optional<double> joules_of(const SummaryRow& row);

/// `record` as the sample of `point`.
SampleRow sample_row(const SchedulePoint& point, const RunRecord& record);

std::string results_csv(const std::vector<SampleRow>& rows);
std::string results_table(const std::vector<SampleRow>& rows);

/// Time of a step against the update, a line for each machine.
Figure time_figure(const std::vector<SampleRow>& rows);

/// Of schedules that prune: density, FLOP, and cycles and bytes of each machine against the round,
/// as shares of the dense step. `dense` holds that step on each machine, in their order.
Figure rounds_figure(const std::vector<SchedulePoint>& points, double dense_flop,
                     const std::vector<SampleRow>& rows, const std::vector<SummaryRow>& dense);

/// Of sparse pre-training and dense fine-tuning: FLOP, and time and energy of each machine, of
/// both phases on top of each other, as shares of what all of it would take dense.
std::vector<Figure> phases_figure(const std::vector<SchedulePoint>& points, double dense_flop,
                                  const std::vector<SampleRow>& rows,
                                  const std::vector<SummaryRow>& dense);

}  // namespace lacuna
