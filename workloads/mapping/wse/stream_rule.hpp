// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/mapping/wse/block_loads.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"
#include "workloads/mapping/wse/streaming_setup.hpp"

namespace lacuna::wse {

/// What the rule has to know of W beside its shape.
struct WeightCounts {
  double density = 1;
  bool sparse = false;  // zeros are not streamed, or not held
  std::uint32_t block_rows = 1;
  std::uint32_t block_cols = 1;
  bool even = false;     // N:M: every row keeps as many of each few columns
  double x_density = 1;  // of X, whose zeros are not streamed past weights that stay
  std::shared_ptr<const BlockLoads> blocks = nullptr;  // null: not counted
};

/// Of a mask, null: dense. Blocks are counted, for as long as the mask is there.
WeightCounts weight_counts(const Mask* mask);

/// A layout of a streamed product whose sums go by chains, with rows in natural order and groups
/// interleaved: what is left to choose of it.
struct StreamLayout {
  bool resident = false;
  std::uint32_t columns = 1;  // of all groups
  std::uint32_t rows = 1;
  std::uint32_t groups = 1;
  Share share = Share::rows;
  Inject inject = Inject::column_top;
  KPartition partition = KPartition::block;
  std::uint32_t lookahead = 64;
  bool keeps_zeros = false;  // of sparse weights: they are streamed, or held
  bool gradient = false;     // of a sampled one: groups side by side, rows in the order of the ring
  double cycles = 0;         // estimated

  std::uint64_t cores() const { return std::uint64_t{columns} * rows; }
};

bool operator==(const StreamLayout& a, const StreamLayout& b);

/// Words of a layout that are given. What is not is chosen.
struct GivenLayout {
  std::optional<std::uint32_t> groups;
  std::optional<std::uint32_t> lookahead;
  std::optional<Share> share;
  std::optional<Inject> inject;
  std::optional<KPartition> partition;
  bool may_keep_zeros = true;
};

/// The layouts of streamed or of resident weights on a rectangle of at most setup.wafer, in the
/// order of their estimates. A layout has the whole I/O of its rectangle, room in the cores'
/// memories, and the words that are given. The estimates are within 10 % of the run in most cases.
/// They are of no use for sums, orders and groups other than those of StreamLayout.
std::vector<StreamLayout> stream_layouts(const StreamingJob& job, const WeightCounts& counts,
                                         const GivenLayout& given, const StreamingSetup& setup);

/// What a row takes in a layout, by counts; infinite if it has no room there.
using RowCost = std::function<double(const StreamLayout&)>;

/// Of a product with streamed weights, whose zeros are kept where that is faster.
RowCost product_cost(const StreamingJob& job, const WeightCounts& counts, const GivenLayout& given,
                     const StreamingSetup& setup);

/// Bytes of the fullest core: of what it holds of the operand at rest, and all.
struct CoreBytes {
  std::uint64_t weights = 0;
  std::uint64_t all = 0;
};
using RowBytes = std::function<CoreBytes(const StreamLayout&)>;

/// Of a product with resident weights, by counts.
RowBytes staying_bytes(const StreamingJob& job, const WeightCounts& counts,
                       const StreamingSetup& setup);

/// A row among some that follow each other, each with all of a rectangle.
struct SharedRow {
  RowCost cost;                // of what is streamed
  std::uint32_t features = 1;  // that columns own,
  std::uint32_t elements = 1;  // and rows of cores
  double times = 1;            // that it is executed
  RowCost staying = nullptr;   // with its weights in the cores; null: they may not
  RowBytes bytes = nullptr;
  std::uint32_t held = 1;  // elements that rows of cores own then

  /// In the faster place that the layout allows.
  double cycles(const StreamLayout& at) const;
};

/// Whether the weights of all rows that may keep them fit beside what a row works on, which is at
/// least `working` bytes.
bool weights_fit(const std::vector<SharedRow>& rows, const StreamLayout& at, std::uint64_t working,
                 const StreamingSetup& setup);

/// The layouts that such rows can have together, by the sums of what they take. `resident` ones
/// have room for the weights of all rows that may stay, where each row takes the faster place.
std::vector<StreamLayout> shared_layouts(const std::vector<SharedRow>& rows,
                                         const GivenLayout& given, const StreamingSetup& setup);

/// Of `layouts` the one with the least cores among those within 3 % of the least estimate.
const StreamLayout& least_of(const std::vector<StreamLayout>& layouts);

}  // namespace lacuna::wse
