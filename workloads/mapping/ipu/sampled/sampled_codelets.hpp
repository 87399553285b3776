// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

// What a tile takes for the kept blocks of A B, after PopSparse's gradient of sparse weights: each
// block is the product of a row of blocks of A and a column of blocks of B, over `depth` elements
// of the contraction that the tile has. Partials are FP32.
// Source: PopLibs popsparse/PerformanceEstimation.cpp, sparseDenseGradW... (MIT).

/// Depths of a tile are multiples of this: a 64-bit vector for elements, one for blocks.
unsigned sampled_grain(const Types& types, unsigned block);

/// True if the AMP unit can form blocks of this side at this depth.
bool sampled_amp_fits(const Types& types, unsigned block, std::uint64_t depth);

/// Bundles of a worker that makes, in `rows` rows, `blocks` blocks in all without the AMP.
std::uint64_t sampled_bundles(const Types& types, unsigned block, std::uint64_t rows,
                              std::uint64_t blocks, std::uint64_t depth);

/// Clocks of a tile for `rows` rows with `blocks` blocks in all, in one launch, by the AMP.
Cycle sampled_amp_clocks(const Target& target, const Types& types, unsigned block,
                         std::uint64_t rows, std::uint64_t blocks, std::uint64_t depth);

/// Clocks for transposing `blocks` blocks of `depth` of the operands, as the AMP needs them.
Cycle sampled_transpose_clocks(const Target& target, const Types& types, unsigned block,
                               std::uint64_t blocks, std::uint64_t depth);

/// Writes these vertices into a program.
class SampledCodelets {
 public:
  SampledCodelets(ProgramBuilder& builder, const Target& target, const Types& types, unsigned block,
                  std::uint64_t depth, bool amp);

  /// A vertex that makes the blocks of `pieces`, each a launch: the numbers of blocks in its rows.
  /// With `search`, a piece is what it finds in a bucket.
  std::uint32_t vertex(const std::vector<std::vector<std::uint32_t>>& pieces, bool search);

  /// Transposes `blocks` blocks of the operands, for the AMP.
  std::uint32_t transpose_vertex(std::uint64_t blocks);

 private:
  void make_bundles();
  std::uint32_t clocks(std::uint64_t n);
  std::uint32_t launch(std::uint32_t set);
  std::uint32_t row_codelet();
  void add_piece(const std::vector<std::uint32_t>& rows, std::vector<Call>& supervisor,
                 std::vector<std::uint32_t>& sets);
  void add_amp_piece(const std::vector<std::uint32_t>& rows, std::vector<Call>& supervisor);
  void add_amp_sets(std::vector<std::uint32_t>& sets);

  ProgramBuilder& builder_;
  const Target target_;
  const Types types_;
  const unsigned block_;
  const std::uint64_t depth_;
  const bool amp_;
  std::uint32_t overhead_ = 0;
  std::uint32_t meta_ = 0;
  std::uint32_t load_ = 0;
  std::uint32_t mac_ = 0;
  std::uint32_t store_ = 0;
  std::uint32_t weights_ = 0;
  std::uint32_t start_ = 0;
  std::uint32_t row_ = kNone;
  std::uint32_t amp_block_ = kNone;
  std::map<std::uint64_t, std::uint32_t> clocks_;
  std::map<std::uint32_t, std::uint32_t> launches_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> workers_;
  std::map<std::pair<std::vector<std::vector<std::uint32_t>>, bool>, std::uint32_t> vertices_;
  std::map<std::uint64_t, std::uint32_t> transposes_;
};

}  // namespace lacuna::ipu
