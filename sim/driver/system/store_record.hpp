// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/record.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {

/// Called before anything is simulated, if the machine of `point` has such a store.
/// OutOfMemoryError if the store does not hold the weights, their gradients and the state of their
/// optimizer. OutOfMemoryError too if a wafer does not hold what is kept for the backward pass.
void check_weight_store(const Point& point, const RunSettings& common, MaskStore& masks);

/// How systems scale of which each chip does its rows once, without its rows.
Scaling scaling_of_shares(const std::string& workload);

/// A row of it, of a run on a system whose chips share a store.
ScalingRow share_of(const Machine& machine, const SummaryRow& total);

/// What a step of rows came to on wafers that share a store; of a model that is trained there with
/// the words of its description.
SystemRecord record_of(const Machine& machine, const std::string& workload,
                       const WaferSystemRun& run, const SystemWishes& wishes,
                       const system::TrainingParams* training = nullptr);

/// Makes the total of `record`, of the rows of `point` on one chip, that of its system
/// (complete_total), and gives all of that.
std::optional<SystemRecord> complete_record(const Point& point, const RunSettings& common,
                                            const Pricing& pricing, const SystemWishes& wishes,
                                            RunRecord& record);

}  // namespace lacuna
