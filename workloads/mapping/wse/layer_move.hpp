// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/mapping/wse/layer_plan.hpp"
#include "workloads/mapping/wse/layer_product.hpp"
#include "workloads/mapping/wse/line_move.hpp"

namespace lacuna::wse {

/// A core of the rectangle.
struct CorePlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// Collects vectors that have to go from core to core: along the rows of cores to the column where
/// they belong, then along the columns to the row. Lines of which every core does the same have
/// one program.
class CoreMover {
 public:
  CoreMover(const LayerSetup& setup, Element element) : setup_(setup), element_(element) {}

  /// `length` tokens of `row`, a feature (of one matrix), from `token` on. What follows in the same
  /// row and goes the same way is one vector with it, and so are the same tokens of other features.
  void add(const CorePlace& from, const CorePlace& to, std::uint64_t row, std::uint32_t token,
           std::uint32_t length);

  /// The same vectors along all rows (columns) `at`.
  void add_rows(const std::vector<std::uint32_t>& at, const std::vector<LineVector>& vectors);
  void add_columns(const std::vector<std::uint32_t>& at, const std::vector<LineVector>& vectors);

  /// A stage for each direction in which anything goes, each at `origins` of as many rectangles.
  std::vector<LayerStage> stages(const std::string& name,
                                 const std::vector<CorePlace>& origins = {{}}) const;

 private:
  struct Part {
    std::uint64_t row = 0;
    std::uint32_t token = 0;
    LineVector vector;
  };
  using Lines = std::map<std::uint32_t, std::vector<Part>>;

  static std::vector<LineVector> joined(std::vector<Part> parts);

  void add_stages(const Lines& lines, CoreLine::Direction direction, const std::string& name,
                  const std::vector<CorePlace>& origins, std::vector<LayerStage>& stages) const;

  const LayerSetup& setup_;
  Element element_;
  Lines rows_;
  Lines columns_;
};

/// How a matrix of features and tokens lies if columns own features and rows of cores own tokens.
struct FeatureLayout {
  std::vector<std::uint32_t> column;  // of each feature
  std::vector<std::uint32_t> tokens;  // of each row of cores, in order
};

/// What decides where a product with streamed weights has its operands.
struct StreamSettings {
  const StreamingParams& ws;
  const IoParams& io;
};

/// As functions take and leave activations: features in equal blocks, of a multiple of `unit`, the
/// first rows one token more.
FeatureLayout block_layout(const WaferParams& wafer, std::uint32_t features, std::uint32_t tokens,
                           std::uint32_t unit = 1);

/// As a product with streamed weights leaves its result or takes its operand (`load`: non-zeros of
/// each feature, for `balanced`; null: a result).
FeatureLayout product_layout(const WaferParams& wafer, const StreamSettings& stream,
                             std::uint32_t features, std::uint32_t tokens,
                             const std::vector<std::uint64_t>* load);

/// Stages that bring the operands of a row of a trace to where it takes them, and its result to
/// where the next rows do; none where the layouts are equal, or where nothing is known of them.
struct LayerMoves {
  std::vector<LayerStage> before;
  std::vector<LayerStage> after;
};

/// Of a row that works on features in blocks.
LayerMoves function_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product with streamed weights.
LayerMoves product_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product of activations or scores that runs in blocks of `shape`.
LayerMoves attention_moves(const LayerRequest& request, const ProductShape& shape);

}  // namespace lacuna::wse
