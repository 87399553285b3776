// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/cycle.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

/// Where the partials of static products are summed: as the vendor's rule says for each class of
/// equally deep sums, or all where the result belongs, or all spread over the tiles.
enum class SumsAt { rule, home, spread };

/// What planners and codelet costs need to know of a chip; the defaults are those of a GC200.
struct Target {
  unsigned tiles = 1472;
  unsigned workers = 6;
  unsigned issue_interval = 1;  // slots without a worker stay empty
  std::uint64_t tile_bytes = 638976;
  std::uint64_t plain_bytes = 212992;     // of a tile's memory that is not interleaved
  std::uint64_t planning_bytes = 383385;  // of a tile that a plan may use: 0.6 of it
  unsigned exchange_bytes = 4;            // per clock, each way
  unsigned units_half = 16;               // AMP columns, FP16 partials
  unsigned units_mixed = 8;               // AMP columns, FP16 data and FP32 partials
  unsigned units_single = 16;             // AMP columns, FP32 data
  bool has_fp8 = false;
  unsigned units_quarter = 16;     // AMP columns, FP8 data
  unsigned weight_bytes = 8;       // with which the supervisor fills the weight store, per clock
  unsigned store_bytes = 8;        // of a worker's bundle
  unsigned one_stage_depth = 15;   // partials that dense products sum in one stage
  unsigned two_stage_depth = 124;  // and in two
  bool staged_estimate = false;    // chooses dense plans
  bool long_single_passes = true;  // of dense FP32 products, at run time; see PlannerParams

  // What the lowering of static products may do otherwise; see PlannerParams.
  bool lone_pairs = true;
  bool short_pairs = true;
  bool order_elements = true;
  SumsAt sums = SumsAt::rule;
  unsigned sums_delay = 126;  // that the rule reckons with for an exchange
  bool few_workers = true;
  bool single_step = true;
  bool copy_sums = true;
  bool long_sums = true;
  unsigned static_parts = 0;  // of the columns of static products; 0: the cheapest plan's
  unsigned static_bands = 0;  // likewise

  /// Issue slots, one for each worker and the empty ones.
  unsigned slots() const { return workers > issue_interval ? workers : issue_interval; }

  /// Loads with which the supervisor puts `bytes` into the weight store: of 128 bits, or of 64.
  std::uint64_t weight_loads(std::uint64_t bytes) const {
    const std::uint64_t load = weight_bytes >= 16 ? 16 : 8;
    return (bytes + load - 1) / load;
  }

  /// Clocks that takes: one for each load, more if the store takes less in a clock than a load has.
  Cycle weight_clocks(std::uint64_t bytes) const {
    return std::max<Cycle>(weight_loads(bytes), (bytes + weight_bytes - 1) / weight_bytes);
  }

  /// The clocks for which `bundles` of one worker occupy the tile.
  Cycle worker_clocks(std::uint64_t bundles) const { return std::uint64_t{slots()} * bundles; }
};

/// Which of two counts is meant: the estimator that PopLibs plans with, or the bundles on the
/// path of the assembly codelet, which is what hardware issues.
enum class Form { planner, run_time };

/// Data and accumulation types of a product.
struct Types {
  DType data = DType::fp16;
  DType partials = DType::fp16;

  bool half() const { return data != DType::fp32; }
  bool half_partials() const { return partials == DType::fp16; }
  unsigned bytes() const { return bytes_of(data); }
  unsigned partial_bytes() const { return bytes_of(partials); }
};

/// Products the AMP forms in a clock.
inline unsigned amp_macs(const Target& target, const Types& types) {
  if (!types.half()) return target.units_single;
  return 4 * (types.half_partials() ? target.units_half : target.units_mixed);
}

/// The results that are rounded to fp16 before `writes` writes of 64 bits of this type.
inline std::uint64_t halves_of(DType type, std::uint64_t writes) {
  return type == DType::fp16 ? 4 * writes : 0;
}

}  // namespace lacuna::ipu
