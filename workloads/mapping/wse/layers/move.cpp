// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/move.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

FeatureLayout product_layout(const WaferParams& wafer, const StreamSettings& stream,
                             std::uint32_t features, std::uint32_t tokens,
                             const std::vector<std::uint64_t>* load) {
  KPartition kind = stream.ws.k_partition;
  if (kind == KPartition::balanced && load == nullptr) kind = KPartition::block;
  const GroupUse use = use_groups(wafer, stream.ws, false);
  const std::uint32_t spread = spread_rows(stream.ws, stream.io, use);
  FeatureLayout made;
  made.column = assign_features(kind, features, use.groups.width,
                                load == nullptr ? std::vector<std::uint64_t>{} : *load);
  made.tokens = deal_tokens(stream.ws.inject, wafer.rows - std::min(spread, wafer.rows.value()),
                            static_cast<std::uint32_t>(ceil_div(tokens, use.element_shares())));
  for (std::uint32_t& each : made.tokens) each *= use.element_shares();
  made.tokens.insert(made.tokens.begin(), spread, 0);
  made.groups = use.groups;
  made.split = use.share_elements;
  if (load != nullptr || use.groups.count == 1 || use.share_elements || use.exchanges) return made;
  // Each result stays in the group that has summed it up.
  const std::vector<std::uint32_t> group = deal_rows(made.column, use.groups);
  for (std::uint32_t f = 0; f < features; ++f) {
    made.column[f] = use.groups.column_of(group[f], made.column[f]);
  }
  made.groups = {};
  return made;
}

namespace {

Element element_of(const LayerOp& op) {
  return op.dtype == DType::fp32 || op.dtype == DType::int8 ? Element::fp32 : Element::fp16;
}

/// Stages that bring each known operand from where its maker left it to `to`.
LayerMoves bring(const LayerRequest& request, const StreamSettings& stream,
                 const FeatureLayout& to) {
  const WaferParams& wafer = request.setup.wafer;
  LayerMoves moves;
  std::vector<std::uint64_t> taken;  // bytes of each core
  const Element element = element_of(request.op);
  const auto finish = [&](const CoreMover& mover) {
    std::vector<LayerStage> stages = mover.stages("move operand");
    const std::uint64_t bytes = mover.most_bytes(taken);
    if (stages.empty()) return;
    moves.bytes = std::max(moves.bytes, bytes);
    for (LayerStage& stage : stages) moves.before.push_back(std::move(stage));
  };
  CoreMover parts(request.setup, element);  // all that lie side by side in one
  for (std::size_t i = 0; i < request.op.sources.size(); ++i) {
    const OperandSource& source = request.op.sources[i];
    if (source.kind != OperandSource::Kind::activations) continue;
    const FeatureLayout from =
        source.of_product
            ? product_layout(wafer, stream.of_maker(i), source.features, source.tokens, nullptr)
            : block_layout(wafer, source.features, source.tokens, source.unit);
    const std::uint32_t count =
        std::min(source.features - source.first,
                 static_cast<std::uint32_t>(to.column.size()) - source.place);
    const bool whole = count == to.column.size();
    CoreMover own(request.setup, element);
    LayoutMove({from, source.first, to, source.place, count, source.tokens})
        .add_to(whole ? own : parts, source_bytes(element));
    if (whole) finish(own);
  }
  finish(parts);
  return moves;
}

}  // namespace

void check_move_bytes(const LayerRequest& request, const LayerMoves& moves) {
  const CoreOverhead overhead = core_overhead(request.setup);
  const std::uint64_t beside = request.op.share.beside;
  const std::uint64_t bytes = moves.bytes + overhead.queues + overhead.code + beside;
  const std::uint64_t limit = std::uint64_t{request.setup.hardware.mem.kib} * 1024;
  if (moves.bytes == 0 || bytes <= limit) return;
  throw OutOfMemoryError(
      fmt::format("{} '{}': a core needs {} bytes of {} while its operands move between layouts: "
                  "operands {} B + queues {} B + code {} B{}",
                  request.op.op, request.op.id, bytes, limit, moves.bytes, overhead.queues,
                  overhead.code, beside_text(beside)));
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

/// What groups hold of resident weights decides where operands and results lie.
void require_one_group(const LayerOp& op, const StreamingParams& ws) {
  if (ws.groups == 1U) return;
  throw UnsupportedError(
      fmt::format("ws.groups = {}: operands and results of '{}', whose weights stay in the cores, "
                  "are not moved to and from groups of columns; residency streamed is",
                  ws.groups.value(), op.id));
}

}  // namespace

LayerMoves resident_operand_moves(const LayerRequest& request, const StreamSettings& stream) {
  const LayerOp& op = request.op;
  const WaferParams& wafer = request.setup.wafer;
  if (op.sources.empty() || op.batch != 1) return {};
  require_one_group(op, stream.ws);
  const std::vector<std::uint64_t> load(op.k, op.n);
  FeatureLayout to = product_layout(wafer, stream, op.k, op.m, &load);
  const auto spread = static_cast<std::uint32_t>(
      std::find_if(to.tokens.begin(), to.tokens.end(), [](std::uint32_t n) { return n != 0; }) -
      to.tokens.begin());
  const auto active = static_cast<std::uint32_t>(to.tokens.size()) - spread;
  to.tokens.assign(spread + entry_row(stream.ws.inject, active) + std::size_t{1}, 0);
  to.tokens.back() = op.n;
  return bring(request, stream, to);
}

namespace {

/// Tokens that follow each other and go from one column of cores to one row of them.
struct TokenRun {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
  std::uint32_t column = 0;
  std::uint32_t row = 0;
};

std::vector<TokenRun> token_runs(const std::vector<std::uint32_t>& columns,
                                 const std::vector<std::uint32_t>& tokens_of_row) {
  std::vector<TokenRun> runs;
  std::uint32_t token = 0;
  for (std::uint32_t row = 0; row < tokens_of_row.size(); ++row) {
    for (std::uint32_t i = 0; i < tokens_of_row[row]; ++i, ++token) {
      const bool goes_on =
          !runs.empty() && runs.back().row == row && runs.back().column == columns[token];
      if (!goes_on) runs.push_back({token, 0, columns[token], row});
      ++runs.back().length;
    }
  }
  return runs;
}

}  // namespace

LayerMoves resident_result_moves(const LayerRequest& request, const StreamSettings& stream) {
  constexpr std::uint64_t kMostVectors = std::uint64_t{1} << 21U;
  const LayerOp& op = request.op;
  const WaferParams& wafer = request.setup.wafer;
  if (op.batch != 1) return {};
  require_one_group(op, stream.ws);
  const FeatureLayout lies = product_layout(wafer, stream, op.n, op.m, nullptr);
  const FeatureLayout to = product_layout(wafer, stream, op.m, op.n, nullptr);
  const std::vector<TokenRun> runs = token_runs(lies.column, to.tokens);
  if (runs.size() * std::uint64_t{op.m} > kMostVectors) {
    throw UnsupportedError(
        fmt::format("resident weights of '{}': its result of {} x {} would go to the next row as "
                    "{} vectors, and at most {} are simulated; residency streamed leaves it there",
                    op.id, op.m, op.n, runs.size() * std::uint64_t{op.m}, kMostVectors));
  }
  const Element element = element_of(op);
  CoreMover mover(request.setup, element);
  std::uint32_t feature = 0;
  for (std::uint32_t row = 0; row < lies.tokens.size(); ++row) {
    for (std::uint32_t i = 0; i < lies.tokens[row]; ++i, ++feature) {
      for (const TokenRun& run : runs) {
        mover.add({row, run.column}, {run.row, to.column[feature]}, feature, run.first, run.length);
      }
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
