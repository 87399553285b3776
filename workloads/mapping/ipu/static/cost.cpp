// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/cost.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

// Bundles and clocks of PopSparse's static codelets, PopLibs 7eac0f26 (MIT). E: as the estimates of
// popsparse/StaticMatMulPartitioner.cpp have them, matmulComputeCycles and zeroingCycles, restated
// (confidence H that they are these; M that hardware issues as many). A: counted on the path
// through the assembly of the codelet (H).

// For a further non-zero: with two vectors of the dense operand two multiplications by it and one
// accumulation, with one vector one of each. E, A of halves.
constexpr std::uint64_t kWideNonzero = 3;
constexpr std::uint64_t kNarrowNonzero = 2;

/// A worker with more columns: two vectors at a time, and at most one group of one vector; each
/// group walks the row again.
struct ElementWiseLoops {
  std::uint64_t entry;
  std::uint64_t row;     // beside its groups
  std::uint64_t wide;    // for a group of two vectors
  std::uint64_t narrow;  // for one of a single vector
};

constexpr ElementWiseBundles kFourHalves{31, 7, kNarrowNonzero};        // E, A
constexpr ElementWiseBundles kEightHalves{30, 10, kWideNonzero};        // A
constexpr ElementWiseBundles kEightHalvesPlanned{31, 8, kWideNonzero};  // E
constexpr ElementWiseLoops kHalves{33, 12, 14, 9};                      // A
constexpr ElementWiseLoops kHalvesPlanned{33, 11, 14, 9};               // E
constexpr ElementWiseBundles kTwoSingles{29, 5, kNarrowNonzero};        // E
constexpr ElementWiseBundles kFourSingles{30, 6, kWideNonzero};         // E
constexpr ElementWiseLoops kSingles{31, 12, 10, 10};                    // E

/// `width`: elements of a vector of 64 bits.
ElementWiseBundles in_groups(const ElementWiseLoops& loops, std::uint64_t columns,
                             std::uint64_t width) {
  const std::uint64_t wide = columns / (2 * width);
  const std::uint64_t narrow = columns % (2 * width) != 0 ? 1 : 0;
  return {loops.entry, loops.row + wide * loops.wide + narrow * loops.narrow,
          wide * kWideNonzero + narrow * kNarrowNonzero};
}

ElementWiseBundles half_bundles(std::uint64_t columns, Form form) {
  const bool run_time = form == Form::run_time;
  if (columns == 4) return kFourHalves;
  if (columns == 8) return run_time ? kEightHalves : kEightHalvesPlanned;
  return in_groups(run_time ? kHalves : kHalvesPlanned, columns, 4);
}

ElementWiseBundles single_bundles(std::uint64_t columns) {
  if (columns == 2) return kTwoSingles;
  if (columns == 4) return kFourSingles;
  return in_groups(kSingles, columns, 2);
}

/// Bundles of a worker for a block: with its first column, and for each more.
struct BlockWorker {
  std::uint64_t first;
  std::uint64_t more;

  constexpr std::uint64_t of(std::uint64_t columns) const { return first + more * (columns - 1); }
};

// On the AMP that the codelets were written for. E; those of 8 and 16 halves also A.
constexpr BlockWorker kFewOfFourHalves{8, 1};  // up to kFew columns
constexpr std::uint64_t kFew = 2;
constexpr BlockWorker kFourHalvesBlock{14, 1};
constexpr BlockWorker kFourSinglesBlock{12, 4};
constexpr BlockWorker kEightHalvesBlock{14, 2};
constexpr BlockWorker kEightSinglesBlock{19, 8};
constexpr BlockWorker kSixteenHalvesBlock{19, 4};
constexpr BlockWorker kSixteenSinglesPass{37, 8};   // two of them
constexpr std::uint64_t kOneOfSixteenSingles = 58;  // both, of a single column

// Of a vertex with blocks: clocks of the supervisor at the entry and for a row. E.
constexpr Cycle kStaticBlockEntry = 30;
constexpr Cycle kStaticBlockRow = 17;

// Bundles of each of its workers at the entry, and for the first block of a row. E; the one of
// halves also A.
constexpr std::uint64_t kWorkerEntry = 13;
constexpr std::uint64_t kWorkerEntryFourHalves = 17;
constexpr std::uint64_t kWorkerEntrySixteenSingles = 16;
constexpr std::uint64_t kRowStart = 1;
constexpr std::uint64_t kRowStartSingles = 4;

constexpr std::uint64_t kZeroPartials = 12;  // bundles of a worker beside its stores. E

std::uint64_t counted_bundles(const Types& types, unsigned block, std::uint64_t columns) {
  const bool half = types.half();
  switch (block) {
    case 4:
      if (!half) return kFourSinglesBlock.of(columns);
      return (columns <= kFew ? kFewOfFourHalves : kFourHalvesBlock).of(columns);
    case 8:
      return (half ? kEightHalvesBlock : kEightSinglesBlock).of(columns);
    case 16:
      if (half) return kSixteenHalvesBlock.of(columns);
      return columns == 1 ? kOneOfSixteenSingles : 2 * kSixteenSinglesPass.of(columns);
    default:
      throw InternalError("no static codelet for blocks of this side");
  }
}

}  // namespace

ElementWiseBundles element_wise_bundles(const Types& types, std::uint64_t columns, Form form) {
  return types.half() ? half_bundles(columns, form) : single_bundles(columns);
}

BlockCost block_cost(const Target& target, const Types& types, unsigned block) {
  BlockCost cost{};
  cost.entry = kStaticBlockEntry;
  cost.row = kStaticBlockRow;
  cost.block = kBeforeWeights + kBlockLaunch + kSyncAndNext;
  cost.loads = target.amp.weight_loads(std::uint64_t{block} * block * types.bytes());
  cost.weights = target.amp.weight_clocks(std::uint64_t{block} * block * types.bytes());
  const bool half = types.half();
  cost.entry_bundles = kWorkerEntry;
  if (half && block == 4) cost.entry_bundles = kWorkerEntryFourHalves;
  if (!half && block == 16) cost.entry_bundles = kWorkerEntrySixteenSingles;
  cost.row_bundles = half || block == 4 ? kRowStart : kRowStartSingles;
  return cost;
}

// The two passes over the inputs of a block of 16 in FP32 are one of the codelet.
unsigned block_passes(const Target& target, const Types& types, unsigned block) {
  const unsigned own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  return static_cast<unsigned>(ceil_div(target.amp.passes(amp_mode(types), block, block), own));
}

// A bundle of these codelets takes in 64 bits, and stores as many.
unsigned amp_bundles(const Target& target, const Types& types, unsigned block) {
  const unsigned own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  return std::max(
      own * target.amp.bundles(types.half() ? AmpMode::half : AmpMode::single, block, block),
      block * types.bytes() / 8);
}

std::uint64_t block_worker_bundles(const Target& target, const Types& types, unsigned block,
                                   std::uint64_t columns) {
  if (columns == 0) return 1;
  const AmpMode mode = amp_mode(types);
  const std::uint64_t own = types.data == DType::fp32 && block == 16 ? 2 : 1;
  const auto fill = static_cast<std::uint64_t>(target.amp.more_fill(mode, block, block));
  const std::uint64_t counted =
      counted_bundles(types, block, columns) - columns * amp_bundles(Target(), types, block);
  return counted + columns * amp_bundles(target, types, block) + own * fill;
}

Cycle block_vertex_clocks(const Target& target, const Types& types, unsigned block,
                          std::uint64_t rows, std::uint64_t blocks, std::uint64_t columns) {
  const BlockCost cost = block_cost(target, types, block);
  const Cycle workers = target.worker_clocks(block_worker_bundles(target, types, block, columns));
  const std::uint64_t passes = block_passes(target, types, block);
  const Cycle row = passes * target.worker_clocks(cost.row_bundles) + cost.row +
                    blocks * (passes * (cost.block + workers) + cost.weights);
  return cost.entry + target.worker_clocks(cost.entry_bundles) + rows * row;
}

Cycle block_zero_clocks(const Target& target, const Types& types, unsigned block,
                        std::uint64_t bytes) {
  if (types.half() || block < 8) return 0;
  return target.worker_clocks(kZeroPartials + ceil_div(ceil_div(bytes, 8), target.workers));
}

}  // namespace lacuna::ipu
