// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/move.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/group_use.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/layout_move.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {

FeatureLayout block_layout(const WaferParams& wafer, std::uint32_t features, std::uint32_t tokens,
                           std::uint32_t unit) {
  const LayerLayout layout(wafer, features, tokens, 1, unit);
  FeatureLayout made;
  for (std::uint32_t c = 0; c < layout.columns(); ++c) {
    made.column.insert(made.column.end(), layout.features(c), c);
  }
  for (std::uint32_t r = 0; r < layout.rows(); ++r) made.tokens.push_back(layout.tokens(r));
  return made;
}

namespace {

/// The place in its group of each row of sums. Nothing is known of what follows, so `balanced`
/// gives them in blocks.
std::vector<std::uint32_t> result_places(const StreamingParams& ws, std::uint32_t rows,
                                         std::uint32_t width) {
  const bool balanced = ws.k_partition == KPartition::balanced;
  return assign_features(balanced ? KPartition::block : ws.k_partition.value(), rows, width, {});
}

}  // namespace

FeatureLayout product_layout(const WaferParams& wafer, const StreamSettings& stream,
                             std::uint32_t features, std::uint32_t tokens,
                             const std::vector<std::uint64_t>* load, bool resident) {
  const GroupUse use = use_groups(wafer, stream.ws, resident);
  const std::uint32_t distribution = distribution_rows(stream.ws, stream.io, use);
  FeatureLayout made;
  made.column = load == nullptr
                    ? result_places(stream.ws, features, use.groups.width)
                    : assign_features(stream.ws.k_partition, features, use.groups.width, *load);
  made.tokens =
      deal_tokens(stream.ws.inject, wafer.rows - std::min(distribution, wafer.rows.value()),
                  static_cast<std::uint32_t>(ceil_div(tokens, use.element_shares())));
  for (std::uint32_t& each : made.tokens) each *= use.element_shares();
  made.tokens.insert(made.tokens.begin(), distribution, 0);
  made.groups = use.groups;
  made.split = use.share_elements;
  if (load != nullptr || use.groups.count == 1 || use.share_elements || use.exchanges) return made;
  // Each result stays in the group that has summed it up.
  made.column = GroupRows(use, made.column).keepers();
  made.groups = {};
  return made;
}

FeatureLayout made_layout(const WaferParams& wafer, const StreamSettings& maker,
                          const OperandSource& source) {
  return source.of_product ? product_layout(wafer, maker, source.features, source.tokens, nullptr)
                           : block_layout(wafer, source.features, source.tokens, source.unit);
}

namespace {

Element element_of(const LayerOp& op) {
  return op.dtype == DType::fp32 || op.dtype == DType::int8 ? Element::fp32 : Element::fp16;
}

/// Moves of operands, one after the other.
class Bringing {
 public:
  /// Of an operand by itself.
  void add(const LayerRequest& request, const LayoutChange& change) {
    const Element element = element_of(request.op);
    CoreMover mover(request.setup, element);
    LayoutMove(change).add_to(mover, source_bytes(element));
    add(mover);
  }
  void add(const CoreMover& mover) {
    std::vector<LayerStage> stages = mover.stages("move operand");
    const std::uint64_t bytes = mover.most_bytes(taken_);
    if (stages.empty()) return;
    moves_.bytes = std::max(moves_.bytes, bytes);
    for (LayerStage& stage : stages) moves_.before.push_back(std::move(stage));
  }
  /// What was moved is no longer there.
  void forget() { taken_.clear(); }
  LayerMoves take() { return std::move(moves_); }

 private:
  LayerMoves moves_;
  std::vector<std::uint64_t> taken_;  // bytes of each core
};

/// Stages that bring each known operand from where its maker left it to `to`.
LayerMoves bring(const LayerRequest& request, const StreamSettings& stream,
                 const FeatureLayout& to) {
  const WaferParams& wafer = request.setup.wafer;
  Bringing moves;
  const Element element = element_of(request.op);
  CoreMover parts(request.setup, element);  // all that lie side by side in one
  for (std::size_t i = 0; i < request.op.sources.size(); ++i) {
    const OperandSource& source = request.op.sources[i];
    if (source.kind != OperandSource::Kind::activations) continue;
    const FeatureLayout from = made_layout(wafer, stream.of_maker(i), source);
    const std::uint32_t count =
        std::min(source.features - source.first,
                 static_cast<std::uint32_t>(to.column.size()) - source.place);
    const bool whole = count == to.column.size();
    CoreMover own(request.setup, element);
    LayoutMove({from, source.first, to, source.place, count, source.tokens})
        .add_to(whole ? own : parts, source_bytes(element));
    if (whole) moves.add(own);
  }
  moves.add(parts);
  return moves.take();
}

}  // namespace

void check_move_bytes(const LayerRequest& request, const LayerMoves& moves) {
  if (moves.bytes == 0) return;
  checked_core_bytes(request, moves.bytes, "operands", " while its operands move between layouts");
}

LayerMoves function_moves(const LayerRequest& request, const StreamSettings& stream) {
  const LayerOp& op = request.op;
  if (op.sources.empty() || op.batch != 1) return {};
  const std::uint32_t unit = op.fn == "rope" ? 2 : 1;
  return bring(request, stream, block_layout(request.setup.wafer, op.m, op.n, unit));
}

LayerMoves product_moves(const LayerRequest& request, const StreamSettings& stream) {
  const LayerOp& op = request.op;
  if (op.sources.empty() || op.batch != 1) return {};
  std::vector<std::uint64_t> load(op.k, request.mask == nullptr ? op.m : 0);
  if (request.mask != nullptr && stream.ws.k_partition == KPartition::balanced) {
    for_each_kept(request.mask, op.m, op.k,
                  [&](std::uint32_t /*i*/, std::uint32_t j) { ++load[j]; });
  }
  return bring(request, stream, product_layout(request.setup.wafer, stream, op.k, op.n, &load));
}

namespace {

/// Where dY (the first) or X of the gradient of a weight is; nothing where that is not known.
std::optional<FeatureLayout> gradient_operand(const LayerRequest& request,
                                              const StreamSettings& stream, std::size_t i) {
  const LayerOp& op = request.op;
  const bool of_y = i == 0;
  const std::uint32_t features = of_y ? op.m : op.n;
  OperandSource source = op.sources[i];
  if (source.kind == OperandSource::Kind::unknown || source.features != features) return {};
  source.tokens = op.k;  // of a part of the row, those of as much of its maker
  const WaferParams& wafer = request.setup.wafer;
  const StreamSettings maker = stream.of_maker(i);
  if (source.kind != OperandSource::Kind::held) return made_layout(wafer, maker, source);
  // dX streams the columns of what is masked here as its rows
  std::vector<std::uint64_t> load(features, request.mask == nullptr ? 1 : 0);
  if (request.mask != nullptr && maker.ws.k_partition == KPartition::balanced) {
    for_each_kept(request.mask, op.m, op.n,
                  [&](std::uint32_t r, std::uint32_t c) { ++load[of_y ? r : c]; });
  }
  return product_layout(wafer, maker, features, source.tokens, &load);
}

/// What is not zero of each feature of X, which is streamed, if that decides where they go; null:
/// all of it.
std::vector<std::uint64_t> streamed_loads(const StreamingParams& ws, const Mask* x_mask,
                                          std::uint32_t features) {
  std::vector<std::uint64_t> load(features, 1);
  if (x_mask == nullptr || ws.k_partition != KPartition::balanced) return load;
  const Mask x = x_mask->elements();  // a row for each feature
  for (std::uint32_t j = 0; j < features; ++j)
    load[j] = x.offsets[j + std::size_t{1}] - x.offsets[j];
  return load;
}

}  // namespace

namespace {

/// visit(operand, features, where it is) for dY and X, as far as that is known.
template <class Visit>
LayerMoves move_gradient_operands(const LayerRequest& request, const StreamSettings& stream,
                                  const Visit& visit) {
  if (request.op.sources.size() != 2) return {};
  Bringing moves;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<FeatureLayout> from = gradient_operand(request, stream, i);
    if (from) visit(i, i == 0 ? request.op.m : request.op.n, *from, moves);
  }
  return moves.take();
}

}  // namespace

LayerMoves gradient_moves(const LayerRequest& request, const StreamSettings& stream,
                          const GradientLayouts& to) {
  return move_gradient_operands(
      request, stream,
      [&](std::size_t i, std::uint32_t features, const FeatureLayout& from, Bringing& moves) {
        moves.add(request, {from, 0, i == 0 ? to.dy : to.x, 0, features, request.op.k});
      });
}

LayerMoves dense_gradient_moves(const LayerRequest& request, const StreamSettings& stream,
                                bool streams_x) {
  const std::uint32_t tokens = request.op.k;
  const WaferParams& wafer = request.setup.wafer;
  return move_gradient_operands(
      request, stream,
      [&](std::size_t i, std::uint32_t features, const FeatureLayout& from, Bringing& moves) {
        const FeatureLayout blocks = block_layout(wafer, features, tokens);
        moves.add(request, {from, 0, blocks, 0, features, tokens});
        moves.forget();
        if ((i == 1) == streams_x) return;
        const std::vector<std::uint64_t> load =
            streamed_loads(stream.ws, streams_x ? request.x_mask : nullptr, tokens);
        const FeatureLayout turned = block_layout(wafer, tokens, features);
        const FeatureLayout to = product_layout(wafer, stream, tokens, features, &load, streams_x);
        moves.add(request, {turned, 0, to, 0, tokens, features});
      });
}

FeatureLayout entry_layout(const WaferParams& wafer, const StreamSettings& stream,
                           const std::vector<std::uint64_t>& load, std::uint32_t tokens,
                           std::uint32_t outputs) {
  const GroupUse use = use_groups(wafer, stream.ws, true);
  const auto features = static_cast<std::uint32_t>(load.size());
  FeatureLayout to = product_layout(wafer, stream, features, outputs, &load, true);
  const auto distribution = static_cast<std::uint32_t>(
      std::find_if(to.tokens.begin(), to.tokens.end(), [](std::uint32_t n) { return n != 0; }) -
      to.tokens.begin());
  const auto active = static_cast<std::uint32_t>(to.tokens.size()) - distribution;
  if (active == 0) return to;  // the product is refused: no row is left below those that copy
  to.tokens.assign(distribution + entry_row(stream.ws.inject, active) + std::size_t{1}, 0);
  to.tokens.back() = tokens;
  to.split = false;
  if (use.copies) {
    const std::vector<std::uint32_t> from = stream_sources(stream.ws, use);
    for (std::uint32_t& column : to.column) column = from[use.groups.column_of(0, column)];
    to.groups = {};
  } else if (use.groups.count != 1 && !use.share_elements) {
    to.dealt = deal_rows(result_places(stream.ws, tokens, use.groups.width), use.groups);
  }
  return to;
}

LayerMoves resident_operand_moves(const LayerRequest& request, const StreamSettings& stream) {
  const LayerOp& op = request.op;
  if (op.sources.empty() || op.batch != 1) return {};
  const std::vector<std::uint64_t> load = streamed_loads(stream.ws, request.x_mask, op.k);
  return bring(request, stream, entry_layout(request.setup.wafer, stream, load, op.n, op.m));
}

namespace {

/// Tokens that follow each other and go from one place of columns to one row of cores, there to a
/// group if groups share them.
struct TokenRun {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
  std::uint32_t place = 0;
  std::uint32_t row = 0;
  std::uint32_t share = 0;
};

std::vector<TokenRun> token_runs(const std::vector<std::uint32_t>& places,
                                 const FeatureLayout& to) {
  std::vector<TokenRun> runs;
  std::uint32_t token = 0;
  for (const TokenPart& part : token_parts(to)) {
    for (std::uint32_t i = 0; i < part.length && token < places.size(); ++i, ++token) {
      const bool goes_on = i != 0 && runs.back().place == places[token];
      if (!goes_on) runs.push_back({token, 0, places[token], part.row, part.share});
      ++runs.back().length;
    }
  }
  return runs;
}

/// One feature of a result, which lies in this row of cores, of groups with this share of it, to
/// each group that is to have it.
void add_result(const FeatureLayout& lies, const TokenPart& at, const FeatureLayout& to,
                std::uint32_t feature, const std::vector<TokenRun>& runs, CoreMover& mover) {
  const std::uint32_t copies = to.shared() ? 1 : to.groups.count;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (const TokenRun& run : runs) {
      const std::uint32_t target = to.columns_of(to.column[feature], run.share)[copy];
      const std::uint32_t source = lies.nearest(run.place, at.share, target);
      mover.add({at.row, source}, {run.row, target}, feature, run.first, run.length);
    }
  }
}

}  // namespace

LayerMoves resident_result_moves(const LayerRequest& request, const StreamSettings& stream) {
  constexpr std::uint64_t kMostVectors = std::uint64_t{1} << 21U;
  const LayerOp& op = request.op;
  const WaferParams& wafer = request.setup.wafer;
  if (op.batch != 1) return {};
  const FeatureLayout lies = product_layout(wafer, stream, op.n, op.m, nullptr, true);
  const FeatureLayout to = product_layout(wafer, stream, op.m, op.n, nullptr);
  const std::vector<TokenRun> runs = token_runs(lies.column, to);
  const std::uint64_t vectors =
      runs.size() * std::uint64_t{op.m} * (to.shared() ? 1 : to.groups.count);
  if (vectors > kMostVectors) {
    throw UnsupportedError(
        fmt::format("resident weights of '{}': its result of {} x {} would go to the next row as "
                    "{} vectors, and at most {} are simulated; residency streamed leaves it there",
                    op.id, op.m, op.n, vectors, kMostVectors));
  }
  const Element element = element_of(op);
  CoreMover mover(request.setup, element);
  std::uint32_t feature = 0;
  for (const TokenPart& part : token_parts(lies)) {
    for (std::uint32_t i = 0; i < part.length && feature < op.m; ++i, ++feature) {
      add_result(lies, part, to, feature, runs, mover);
    }
  }
  LayerMoves moves;
  std::vector<std::uint64_t> taken;
  moves.bytes = mover.most_bytes(taken);
  moves.after = mover.stages("move result");
  if (moves.after.empty()) moves.bytes = 0;
  return moves;
}

}  // namespace lacuna::wse
