// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/transposition.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"
#include "workloads/mapping/ipu/dynamic/cost.hpp"

namespace lacuna::ipu {
namespace {

constexpr unsigned kSide = 16;  // of a block: the groups of channels of the AMP

/// A block is read and written once, 64 bits at a time.
std::uint32_t transpose_vertex(ProgramBuilder& builder, const Target& target, const Types& types,
                               std::uint64_t blocks) {
  const std::uint32_t overhead = builder.bundle(Bundle("transpose overhead"));
  const std::uint32_t move =
      builder.bundle(Bundle("transpose").add(Tally::read_weight, 1).add(Tally::write_weight, 1));
  const std::uint64_t vectors = std::uint64_t{kSide} * kSide * types.bytes() / 8;
  const std::uint64_t share = ceil_div(blocks, target.workers);
  std::vector<std::uint32_t> set;
  for (unsigned worker = 0; worker < target.workers; ++worker) {
    const std::uint64_t mine = std::min(share, blocks - std::min(blocks, worker * share));
    const Cycle alone = block_transpose_clocks(target, types, kSide, mine * target.workers);
    const std::uint64_t all = (alone - kTransposeSupervisor) / target.pipeline.slots();
    const std::uint64_t moves = std::min(all, mine * vectors);
    const std::uint32_t code =
        builder.codelet({issue(overhead, count(all - moves)), issue(move, count(moves))});
    set.push_back(builder.worker({{code, {}}}));
  }
  const std::uint32_t supervisor =
      builder.codelet({issue(overhead, count(kTransposeSupervisor)), run(0)});
  return builder.vertex({{supervisor, {}}}, set);
}

}  // namespace

void transpose_first(const ChipParams& chip, const Target& target,
                     const std::vector<std::uint64_t>& operands, const char* phase,
                     PlannedOperation& planned) {
  ProgramBuilder builder(chip);
  builder.program() = std::move(planned.lowered.program);
  std::uint64_t blocks = 0;
  for (const std::uint64_t elements : operands) {
    blocks += ceil_div(elements, std::uint64_t{kSide} * kSide);
  }
  const std::uint64_t each = ceil_div(blocks, target.tiles);
  for (std::uint64_t done = 0; done < blocks; done += each) {
    const std::uint64_t mine = std::min(each, blocks - done);
    const bool last = mine != each;
    if (done == 0 || last) {
      builder.work(static_cast<TileId>(done / each),
                   transpose_vertex(builder, target, planned.types, mine));
    } else {
      builder.work(static_cast<TileId>(done / each),
                   static_cast<std::uint32_t>(builder.program().vertices.size() - 1));
    }
  }
  const std::uint32_t compute = builder.compute_set(phase);
  std::vector<Superstep>& supersteps = builder.program().supersteps;
  supersteps.insert(supersteps.begin(), {compute, kNone});
  planned.lowered.program = builder.take();
  const Cycle clocks =
      chip.tile.launch + block_transpose_clocks(target, planned.types, kSide, each);
  if (planned.estimates.empty()) return;
  planned.estimates.back().second += clocks;  // the total
  planned.estimates.insert(planned.estimates.begin(), {phase, clocks});
}

}  // namespace lacuna::ipu
