// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/ipu/amp_unit.hpp"
#include "models/ipu/worker_pipeline.hpp"
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
  WorkerPipeline pipeline{6};  // which they share
  std::uint64_t tile_bytes = 638976;
  std::uint64_t plain_bytes = 212992;     // of a tile's memory that is not interleaved
  std::uint64_t planning_bytes = 383385;  // of a tile that a plan may use: 0.6 of it
  unsigned exchange_bytes = 4;            // per clock, each way
  AmpUnit amp;
  unsigned one_stage_depth = 15;   // partials that dense products sum in one stage
  unsigned two_stage_depth = 124;  // and in two
  bool staged_estimate = true;     // chooses dense plans; see PlannerParams
  bool fast_reduce = false;        // sums of dense products read 128 bits
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

  /// Parts that plans of dense and dynamic products are held to; 0: the cheapest plan's.
  struct Parts {
    unsigned columns = 0;
    unsigned rows = 0;
    unsigned contraction = 0;

    bool fixed() const { return columns != 0 || rows != 0 || contraction != 0; }
  };
  Parts dense;
  unsigned dense_row_steps = 0;  // serial ones, likewise
  unsigned dense_column_steps = 0;
  Parts dynamic;

  /// The clocks for which `bundles` of one worker occupy the tile.
  Cycle worker_clocks(std::uint64_t bundles) const { return pipeline.clocks(bundles); }
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

/// How the AMP works on these types.
inline AmpMode amp_mode(const Types& types) {
  if (types.data == DType::fp32) return AmpMode::single;
  const bool wide = types.partials == DType::fp32;
  if (types.data == DType::fp8) return wide ? AmpMode::quarter_mixed : AmpMode::quarter;
  return wide ? AmpMode::mixed : AmpMode::half;
}

/// The results that are rounded to fp16 before `writes` writes of 64 bits of this type.
inline std::uint64_t halves_of(DType type, std::uint64_t writes) {
  return type == DType::fp16 ? 4 * writes : 0;
}

}  // namespace lacuna::ipu
