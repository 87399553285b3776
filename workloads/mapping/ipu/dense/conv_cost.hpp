// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// The work of one ConvPartial1x1Out vertex: `field` elements stream past `in_groups` x
/// `out_groups` groups of channels whose weights are loaded into the AMP unit in turn.
struct ConvVertexShape {
  std::uint64_t field = 0;
  std::uint64_t in_groups = 0;   // of in_channels_per_group()
  std::uint64_t out_groups = 0;  // of conv_out_group()
};

/// Output channels of a group.
inline constexpr unsigned kLeastConvOutGroup = 16;

/// Input channels of a group: what the AMP unit contracts in one pass.
unsigned conv_in_group(const Target& target, const Types& types);

/// AMP columns that work in this mode.
unsigned conv_units(const Target& target, const Types& types);

/// Output channels of a weight block: sixteen, or as many as a wider AMP has columns.
unsigned conv_out_group(const Target& target, const Types& types);

/// AMP bundles for one element of the field in one pass.
unsigned conv_amp_bundles(const Target& target, const Types& types);

/// Bundles of one worker that streams `elements` of the field in one pass. `first` is the pass
/// that starts the sums (it reads no partials). Of two elements and more in FP32 poplin's estimator
/// has fewer bundles than PopSparse's for the same 16 x 8 weights, 37 + 8 (elements - 1), although
/// its vertex does more around them. At run time it is the latter, and the 4 that FP16 takes more
/// here.
std::uint64_t conv_worker_bundles(const Target& target, const Types& types, std::uint64_t elements,
                                  bool first, Form form);

/// The supervisor's fixed parts of the vertex, in clocks, from which conv_vertex_clocks() is put
/// together; see PopLibs poplin/PerformanceEstimation.hpp (MIT).
struct ConvSupervisor {
  Cycle entry;               // prologue
  std::uint64_t keep_first;  // bundles in which every worker sets up what it keeps, once,
  std::uint64_t keep_other;  // and for each further input group
  Cycle first_group;         // before the passes of the first input group
  Cycle other_group;         // before those of every other
  Cycle first_out;           // for each output group of the first input group
  Cycle other_out;           // for each output group of the others
  Cycle first_pass;          // for each pass, without weights and workers
  Cycle other_pass;
  Cycle exit;
  std::uint64_t loads;   // of the AMP weights of one pass
  Cycle weights;         // for them
  Cycle run_ahead;       // the workers' part of a pass is at least shortest worker + this
  std::uint64_t passes;  // for each pair of groups
};
ConvSupervisor conv_supervisor(const Target& target, const Types& types);

/// Clocks of the vertex. The forms differ in FP32 only.
Cycle conv_vertex_clocks(const Target& target, const Types& types, const ConvVertexShape& shape,
                         Form form = Form::planner);

}  // namespace lacuna::ipu
