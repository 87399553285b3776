// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/machines/wse/request.hpp"

namespace lacuna {

struct RowSample;

/// Cores whose weights are scattered all differ, so that each is simulated. Automatic residency
/// does that for so many tokens times cores, which take a minute or so; of more it samples rows.
inline constexpr std::uint64_t kMostScattered = std::uint64_t{1} << 23U;

/// Of all products of a batch.
inline std::uint64_t tokens_of(const LayerOp& op) { return std::uint64_t{op.n} * op.batch; }

/// Whether the weights of a product are asked to stay, or may be.
bool may_stay(const LayerOp& op);

/// Fills LayerOp::share of all rows: which weights may stay in the cores if nothing is asked, and
/// what those of other rows leave of each core. Sums are of the fullest core of each row, so that
/// the fullest of all holds at most as much.
/// `resident_on` is the wafer as a row with resident weights is laid out.
using ResidentOn = std::function<WseParams(const LayerOp& op, const Mask* mask)>;
void share_wafer(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
                 const ResidentOn& resident_on);

/// run_streamed(), but for what is known of it from before (ProductRuns).
OpResult run_kept(const WaferRequest& request, bool resident, RowSample* sample = nullptr);

/// Runs a product with weights where its row asks for them, or, if that is left open and they may
/// stay, where it is faster; the way of its operands to and from there included, as far as it is
/// known. Says which in a remark.
OpResult run_weights(const WaferRequest& request);

/// About how long a product takes whose scattered weights are asked to stay, of which all rows of
/// cores are then simulated, and what is sooner done; empty if that is soon done.
std::string long_run(const WseParams& params, const LayerOp& op);

/// Cycles that no run of a product with weights can be below, wherever they may live;
/// SimulationError if it is refused there.
Cycle least_cycles_of_weights(const WseParams& params, const LayerOp& op, const Mask* mask);

/// Says what the zeros of X that were left out have bought, beside a `run` with all of X.
void add_filter_remark(const WaferRequest& request, OpResult (*run)(const WaferRequest&),
                       OpResult& result);

}  // namespace lacuna
