// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/kernels/line_move.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/product.hpp"

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

  /// The memory of a core: `bytes` leave it, come to it or wait in it on their way, of which
  /// `stay` are there in the end. add() says so itself.
  void hold(const CorePlace& at, std::uint64_t bytes, std::uint64_t stay);

  /// What the fullest core needs while all goes its way, if `before` bytes of each core, by core of
  /// the rectangle, are taken. Adds to these what stays.
  std::uint64_t most_bytes(std::vector<std::uint64_t>& before,
                           const std::vector<CorePlace>& origins = {{}}) const;

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
  using Lines = std::vector<std::vector<Part>>;  // by line

  static std::vector<Part>& line(Lines& lines, std::uint32_t at) {
    if (lines.size() <= at) lines.resize(at + std::size_t{1});
    return lines[at];
  }

  static std::vector<LineVector> joined(std::vector<Part> parts);

  void add_stages(const Lines& lines, CoreLine::Direction direction, const std::string& name,
                  const std::vector<CorePlace>& origins, std::vector<LayerStage>& stages) const;

  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t stay = 0;
  };

  const LayerSetup& setup_;
  Element element_;
  Lines rows_;
  Lines columns_;
  std::vector<Held> held_;  // by core of the rectangle, row-major; empty: none
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
  std::uint64_t bytes = 0;  // of operands and what is on its way, in the fullest core
};

/// OutOfMemoryError if a core had not enough memory for what moves.
void check_move_bytes(const LayerRequest& request, const LayerMoves& moves);

/// Of a row that works on features in blocks.
LayerMoves function_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product with streamed weights.
LayerMoves product_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product with resident weights: its operand to the row of cores where it enters the columns,
LayerMoves resident_operand_moves(const LayerRequest& request, const StreamSettings& stream);

/// and its result, of which rows of cores have output features and columns have tokens, to where
/// one with streamed weights leaves it. UnsupportedError if that is more vectors than are planned.
LayerMoves resident_result_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product of activations or scores that runs in blocks of `shape`. Of scores with a mask what
/// a core has in one block goes there if any of it is kept.
LayerMoves attention_moves(const LayerRequest& request, const ProductShape& shape,
                           const StreamSettings& stream);

}  // namespace lacuna::wse
