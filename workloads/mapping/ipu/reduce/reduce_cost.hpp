// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// Clocks of ReduceAdd on a tile: `outputs` sums of `depth` partials, cast to `out`. Used by the
/// dense and the dynamic planner and at run time.
Cycle reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                    DType partials, DType out);

/// Bundles of each worker of that vertex: ReduceAdd gives all of them the same.
std::uint64_t reduce_worker_bundles(const Target& target, std::uint64_t outputs,
                                    std::uint64_t depth, DType partials, DType out);

/// The same for ReduceAdd with one contiguous input of `depth` partials, a multiple of the vector
/// width long, added to sums on the tile. It takes 33 clocks of the supervisor and its busiest
/// worker's bundles, one per 128 bits of interleaved memory (Target::fast_reduce), else two.
inline constexpr Cycle kContiguousReduceEntry = 33;
std::uint64_t contiguous_reduce_bundles(const Target& target, std::uint64_t outputs,
                                        std::uint64_t depth, DType partials, DType out);

/// Whether a dense product's sums of `outputs` elements are made that way. They are a multiple of
/// the vector width, and what the tile receives is less than a sixteenth of its memory. PopLibs
/// poplin ConvReducePlan, checkPartialsSizeForSingleInputReduce (MIT).
bool sums_contiguously(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                       DType partials);

/// Clocks of a dense product's sums on a tile, one way or the other.
Cycle dense_reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                          DType partials, DType out);

/// The static planner's estimate of a reduction of `outputs` sums of `factor` partials.
Cycle static_reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t factor,
                           const Types& types);

/// Bundles of a worker of popops' strided reduction: `loops` vectors of 64 bits of the output, each
/// the sum of `depth` partials. In the estimator's form, which measured times bear out; the
/// assembly of halves has 6 bundles less around them and 2 less for each vector
/// (Target::long_sums).
std::uint64_t strided_reduce_bundles(const Target& target, std::uint64_t loops, std::uint64_t depth,
                                     DType partials, DType out);

/// The planner's estimate of a cast of `outputs` elements.
Cycle cast_clocks(const Target& target, std::uint64_t outputs, DType from, DType to);

}  // namespace lacuna::ipu
