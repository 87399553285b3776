// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/layers/core_mover.hpp"
#include "workloads/mapping/wse/layers/feature_layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/product.hpp"

namespace lacuna::wse {

/// What decides where a product with streamed weights has its operands.
struct StreamSettings {
  const StreamingParams& ws;
  const IoParams& io;

  /// By operand (LayerOp::sources) how the row that made it was laid out; null, or not there: as
  /// this one.
  std::vector<const StreamingParams*> makers = {};

  /// Of the row that made an operand.
  StreamSettings of_maker(std::size_t source) const {
    const bool told = source < makers.size() && makers[source] != nullptr;
    return {told ? *makers[source] : ws, io};
  }
};

/// As functions take and leave activations: features in equal blocks, of a multiple of `unit`, the
/// first rows one token more.
FeatureLayout block_layout(const WaferParams& wafer, std::uint32_t features, std::uint32_t tokens,
                           std::uint32_t unit = 1);

/// As a product leaves its result or holds its operand (`load`: non-zeros of each feature, for
/// `balanced`; null: a result). Of `resident` weights the tokens of a result have columns and its
/// outputs rows of cores.
FeatureLayout product_layout(const WaferParams& wafer, const StreamSettings& stream,
                             std::uint32_t features, std::uint32_t tokens,
                             const std::vector<std::uint64_t>* load, bool resident = false);

/// Where the row that made activations left them, `maker` its settings.
FeatureLayout made_layout(const WaferParams& wafer, const StreamSettings& maker,
                          const OperandSource& source);

/// Where activations that are streamed to resident weights enter the columns, of features with
/// these non-zeros.
FeatureLayout entry_layout(const WaferParams& wafer, const StreamSettings& stream,
                           const std::vector<std::uint64_t>& load, std::uint32_t tokens,
                           std::uint32_t outputs);

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

/// Of the gradient of a sparse weight: dY and X, to `to`.
LayerMoves gradient_moves(const LayerRequest& request, const StreamSettings& stream,
                          const GradientLayouts& to);

/// Of the gradient of a dense weight, a product that streams one of its operands, dY or
/// (`streams_x`) X, and holds the other with its tokens along columns. Both go to where functions
/// have them; from there one leaves the wafer and the other is turned, which is not charged, and
/// that goes from such blocks of tokens to where the product holds it.
LayerMoves dense_gradient_moves(const LayerRequest& request, const StreamSettings& stream,
                                bool streams_x);

/// Of a product with resident weights: its operand to the row of cores where it enters the columns,
/// to that of a group if routers copy it from there,
LayerMoves resident_operand_moves(const LayerRequest& request, const StreamSettings& stream);

/// and its result, of which rows of cores have output features and columns have tokens, to where
/// one with streamed weights leaves it. UnsupportedError if that is more vectors than are planned.
LayerMoves resident_result_moves(const LayerRequest& request, const StreamSettings& stream);

/// Of a product of activations or scores that runs in blocks of `shape`. Of scores with a mask what
/// a core has in one block goes there if any of it is kept.
LayerMoves attention_moves(const LayerRequest& request, const ProductShape& shape,
                           const StreamSettings& stream);

}  // namespace lacuna::wse
