// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/schedule/workload_schedule.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What one new pattern costs beside the steps, over all matrices. Only machines with a host side
/// have conversion and transfer.
struct UpdateCost {
  std::uint64_t convert_ns = 0;   // sorting blocks into what the device reads
  std::uint64_t transfer_ns = 0;  // of that to the device
};

/// A sample of a schedule on a machine.
struct SampleRow {
  const SchedulePoint* point = nullptr;
  std::string machine;
  SummaryRow total;
  std::optional<std::uint64_t> propagation;  // steps of blocks that spilled, over all products
  std::optional<UpdateCost> update;
  bool overlap = true;    // conversion and transfer go on behind the steps before the update
  double gradient_s = 0;  // of an update's dense gradient, beyond that of a step

  /// What an update adds to the time of its phase. Hidden behind steps is what the slower of
  /// conversion and transfer does while the steps of a phase run; without overlap nothing is.
  double exposed_s() const;

  /// A step with its share of the updates; nothing if it did not run.
  std::optional<double> step_time() const;
};

/// Nominal energy, where it is known.
std::optional<double> joules_of(const SummaryRow& row);

/// Adds to the samples of one machine, from `first` on, what the dense gradient of an update takes
/// longer than the gradients of kept positions; `dense` is the dense step of that machine.
void add_dense_gradients(std::vector<SampleRow>& rows, std::size_t first,
                         const std::vector<const RunRecord*>& records, const RunRecord& dense);

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

/// Of sparse pre-training and dense fine-tuning: FLOP, and time and energy of each machine. Both
/// phases stand on top of each other, as shares of what all of it would take dense.
Figures phases_figure(const std::vector<SchedulePoint>& points, double dense_flop,
                      const std::vector<SampleRow>& rows, const std::vector<SummaryRow>& dense);

}  // namespace lacuna
