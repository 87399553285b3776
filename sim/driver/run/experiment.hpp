// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// "clocked" or "event".
const char* engine_name(Engine engine);

/// All parameters of a set with their values, in their order.
std::vector<ParameterValue> values_of(const ParameterSet& parameters);

/// How all points of an experiment are run.
struct RunSettings {
  std::uint64_t seed = 1;
  Execution execution;
  bool completes = true;  // of a system what it takes; else of its rows on one chip, for the caller
};

/// One run of an experiment: a workload, its patterns settled, on a machine.
struct Point {
  std::uint64_t run = 0;
  const Machine* machine = nullptr;
  std::string pattern;  // asked for over the whole workload; empty: the workload's own
  WorkloadTrace workload;
  std::optional<RunSettings> settings = {};  // its own, in place of those of the experiment
  std::vector<std::string> varying = {};     // names of what this experiment varies beside these
  std::vector<std::string> values = {};      // of those, here
  std::string label = {};                    // what of it differs from others; may be empty

  /// What it is called where progress is shown.
  std::string name() const;

  const RunSettings& settings_or(const RunSettings& common) const {
    return settings ? *settings : common;
  }
};

/// Makes each mask of an experiment once, and keeps it: machines share the masks of a workload,
/// and rows that come to the same mask share it too. When all together hold more than a GiB they
/// are forgotten and made again where needed, so a mask is good until the next is asked for.
class MaskStore {
 public:
  explicit MaskStore(std::uint64_t run_seed) : run_seed_(run_seed) {}

  /// The mask of a row of `workload`, or null if the row is dense; of the run's seed, or another.
  const Mask* mask(const LayerOp& op, const WorkloadTrace& workload) {
    return mask(op, workload, run_seed_);
  }
  const Mask* mask(const LayerOp& op, const WorkloadTrace& workload, std::uint64_t seed);

 private:
  std::uint64_t run_seed_;
  std::map<std::string, std::optional<Mask>> masks_;  // nodes stay where they are
  std::uint64_t bytes_ = 0;
};

/// Keeps the operations of a point as they finish, and knows those that were finished before; by
/// their place in the workload, or by OpRecord::content. Either may be empty.
struct OpKeeper {
  std::function<std::optional<OpRecord>(std::size_t place, const std::string& content)> find = {};
  std::function<void(std::size_t place, const OpRecord& op)> add = {};
};

/// All that the result of an operation depends on, beside the machine: two operations of the same
/// content take the same cycles and events.
std::string operation_content(const LayerOp& op, const Mask* mask, std::uint64_t run_seed,
                              const Execution& execution);

/// What a point says of itself before it has run.
RunRecord new_record(const Point& point, const RunSettings& common);

/// Runs `point`, with its own settings if it has any: masks, simulation, checks, prices. An
/// operation that does not fit or is not supported, or a simulation that cannot be completed, is a
/// record without values; RequestError and InternalError are thrown.
RunRecord run_point(const Point& point, const RunSettings& common, MaskStore& masks,
                    const Pricing& pricing, const OpKeeper& keeper = {});

/// A line that says how many operations of `record` were not simulated, as an earlier one has the
/// same shape, types and mask; empty if all were. Results name that operation as `same_as`.
std::string repeated_note(const RunRecord& record);

/// The dense form of an operation: the same shape and type, all weights.
LayerOp dense_form(const LayerOp& op);

/// Gives all rows of `record` the point's columns of what varies.
void add_varying(RunRecord& record, const Point& point);

/// Fills dense_tflops, speedup_vs_dense and energy_vs_dense of all `records` from the dense
/// operations among them and in `extra`: same machine, parameters and layout, shape, types, batch
/// and residency that is asked for. The same row of the same workload, dense throughout, comes
/// first; then, of a dense row, it itself; then any of the shape. A row without such a partner, and
/// a total with such a row, stays as it is.
void compare_with_dense(Runs& records, const Runs& extra);

/// The dense workloads that compare_with_dense() would miss, each once for each machine: whole, as
/// rows share a chip and get operands from each other. Their run numbers follow those of `points`.
std::vector<Point> missing_dense_points(const std::vector<Point>& points);

}  // namespace lacuna
