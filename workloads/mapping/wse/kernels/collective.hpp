// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/kernels/collective_trees.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

enum class CollectiveOp { broadcast, reduce, allreduce };

/// How vectors are added up. `generated` is the pre-order tree that the published search finds;
/// `ring` is an all-reduce; `snake` one chain through all rows of a rectangle.
enum class ReducePattern { automatic, chain, star, tree, two_phase, generated, ring, snake };

/// A collective over a rectangle of cores, each with a vector of `elements`. The core in the
/// north-west corner is the root: broadcasts start there, reductions end there.
struct Collective {
  CollectiveOp op = CollectiveOp::broadcast;
  ReducePattern pattern = ReducePattern::automatic;  // of reductions
  std::uint32_t columns = 2;
  std::uint32_t rows = 1;
  std::uint32_t elements = 1;
  Element element = Element::fp32;
  unsigned ramp = 2;  // router.ramp, for the choice of a pattern
  bool values = false;
  std::uint64_t seed = 1;
};

/// Words of one core's vector.
std::uint32_t words_of(const Collective& collective);

/// Routes and tasks for it. UnsupportedError if the pattern does not fit: too many colors, a
/// vector that exceeds memory (`memory_bytes`), a ring in two dimensions.
TaskProgram plan_collective(const Collective& collective, std::uint32_t memory_bytes);

/// The pattern that `automatic` stands for: the one with the lowest model_cycles().
ReducePattern best_pattern(const Collective& collective);

/// Cycles by the published model: Luczynski et al., HPDC 2024.
double model_cycles(const Collective& collective);

/// With values: the elements of all cores after a run beside the sum (or what the root had). In a
/// reduction only those of the root count.
LayerComparison compare_collective(const Collective& collective, const WaferMemory& memory);

const char* word(ReducePattern pattern);

}  // namespace lacuna::wse
