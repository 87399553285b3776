// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/move.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/kernels/line_route.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

using Direction = CoreLine::Direction;

/// What of a line decides what its cores do.
using LineKey = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;

LineKey key_of(const std::vector<LineVector>& vectors) {
  LineKey key;
  key.reserve(vectors.size());
  for (const LineVector& v : vectors) key.emplace_back(v.from, v.to, v.length);
  return key;
}

/// The lines of one direction, with the program of each kind once.
class StageMaker {
 public:
  explicit StageMaker(const std::string& name) { stage_.name = name; }

  void add(std::optional<TaskProgram> part) {
    if (part) stage_.parts.push_back(std::move(*part));
    used_ = part.has_value();
  }
  /// One more line like the last that was added.
  void place(const CorePlace& at) {
    if (used_) places_.emplace_back(static_cast<std::uint32_t>(stage_.parts.size() - 1), at);
  }
  void finish(std::vector<LayerStage>& stages) {
    if (stage_.parts.empty()) return;
    stage_.moves = true;
    for (const auto& [part, at] : places_) stage_.places.push_back({part, at.row, at.column});
    stages.push_back(std::move(stage_));
  }

 private:
  LayerStage stage_;
  bool used_ = false;
  std::vector<std::pair<std::uint32_t, CorePlace>> places_;
};

}  // namespace

void CoreMover::hold(const CorePlace& at, std::uint64_t bytes, std::uint64_t stay) {
  const WaferParams& wafer = setup_.wafer;
  if (held_.empty()) held_.resize(std::size_t{wafer.columns} * wafer.rows);
  Held& held = held_[std::size_t{at.row} * wafer.columns + at.column];
  held.bytes += bytes;
  held.stay += stay;
}

std::uint64_t CoreMover::most_bytes(std::vector<std::uint64_t>& before,
                                    const std::vector<CorePlace>& origins) const {
  before.resize(std::max(before.size(), held_.size()));
  std::size_t end = held_.size();
  while (end != 0 && held_[end - 1].bytes == 0) --end;
  std::uint64_t most = 0;
  for (const CorePlace& origin : origins) {
    const std::size_t first = std::size_t{origin.row} * setup_.wafer.columns + origin.column;
    for (std::size_t core = 0; core < end; ++core) {
      most = std::max(most, before[first + core] + held_[core].bytes);
      before[first + core] += held_[core].stay;
    }
  }
  return most;
}

void CoreMover::add(const CorePlace& from, const CorePlace& to, std::uint64_t row,
                    std::uint32_t token, std::uint32_t length) {
  const std::uint64_t bytes = std::uint64_t{length} * source_bytes(element_);
  if (from.row != to.row || from.column != to.column) hold(from, bytes, 0);
  if (from.row != to.row && from.column != to.column) hold({from.row, to.column}, bytes, 0);
  hold(to, bytes, bytes);
  if (from.column != to.column) {
    line(rows_, from.row).push_back({row, token, {from.column, to.column, length, 0, 0}});
  }
  if (from.row != to.row) {
    line(columns_, to.column).push_back({row, token, {from.row, to.row, length, 0, 0}});
  }
}

void CoreMover::add_rows(const std::vector<std::uint32_t>& at,
                         const std::vector<LineVector>& vectors) {
  for (const std::uint32_t row : at) {
    for (std::size_t i = 0; i < vectors.size(); ++i) line(rows_, row).push_back({i, 0, vectors[i]});
  }
}

void CoreMover::add_columns(const std::vector<std::uint32_t>& at,
                            const std::vector<LineVector>& vectors) {
  for (const std::uint32_t column : at) {
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      line(columns_, column).push_back({i, 0, vectors[i]});
    }
  }
}

std::vector<LineVector> CoreMover::joined(std::vector<Part> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.row < b.row; });
  std::vector<Part> runs;
  for (const Part& part : parts) {
    Part* const last = runs.empty() ? nullptr : &runs.back();
    if (last != nullptr && last->row == part.row &&
        last->token + last->vector.length == part.token && last->vector.from == part.vector.from &&
        last->vector.to == part.vector.to) {
      last->vector.length += part.vector.length;
    } else {
      runs.push_back(part);
    }
  }
  // The same tokens of several features: a second dimension of the instruction's operand.
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;
  std::vector<Way> ways;
  ways.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const LineVector& v = runs[i].vector;
    ways.emplace_back(v.from, v.to, runs[i].token, v.length, i);
  }
  std::sort(ways.begin(), ways.end());
  std::size_t first = 0;  // of the same way
  for (std::size_t i = 1; i < ways.size(); ++i) {
    const auto way = [&](std::size_t at) {
      const auto& [from, to, token, length, run] = ways[at];
      return std::tie(from, to, token, length);
    };
    if (way(i) != way(first)) {
      first = i;
      continue;
    }
    LineVector& one = runs[std::get<4>(ways[i])].vector;
    runs[std::get<4>(ways[first])].vector.length += one.length;
    one.length = 0;
  }
  std::vector<LineVector> vectors;
  for (const Part& run : runs) {
    if (run.vector.length != 0) vectors.push_back(run.vector);
  }
  return vectors;
}

std::vector<LayerStage> CoreMover::stages(const std::string& name,
                                          const std::vector<CorePlace>& origins) const {
  std::vector<LayerStage> stages;
  add_stages(rows_, Direction::columns, name, origins, stages);
  add_stages(columns_, Direction::rows, name, origins, stages);
  return stages;
}

void CoreMover::add_stages(const Lines& lines, Direction direction, const std::string& name,
                           const std::vector<CorePlace>& origins,
                           std::vector<LayerStage>& stages) const {
  struct Kind {
    std::vector<LineVector> vectors;
    std::vector<std::uint32_t> lines;
  };
  std::map<LineKey, Kind> kinds;
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    if (lines[line].empty()) continue;
    std::vector<LineVector> vectors = joined(lines[line]);
    Kind& kind = kinds[key_of(vectors)];
    if (kind.lines.empty()) kind.vectors = std::move(vectors);
    kind.lines.push_back(line);
  }
  StageMaker ahead(name);
  StageMaker back(name);
  for (const auto& [key, kind] : kinds) {
    const std::vector<LineVector>& vectors = kind.vectors;
    std::uint32_t cores = 0;
    for (const LineVector& v : vectors) cores = std::max({cores, v.from + 1, v.to + 1});
    const unsigned issue = setup_.scalar.vec_issue;
    LineMove move = move_along(vectors, cores, direction, element_, issue);
    for (const bool way : {true, false}) {
      auto routed = route_along(vectors, cores, direction, way, element_, issue);
      if (routed) (way ? move.ahead : move.back) = std::move(routed);
    }
    ahead.add(std::move(move.ahead));
    back.add(std::move(move.back));
    for (const CorePlace& origin : origins) {
      for (const std::uint32_t line : kind.lines) {
        const CorePlace at = direction == Direction::columns
                                 ? CorePlace{origin.row + line, origin.column}
                                 : CorePlace{origin.row, origin.column + line};
        ahead.place(at);
        back.place(at);
      }
    }
  }
  ahead.finish(stages);
  back.finish(stages);
}

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
  const std::uint32_t spread = rows_at_edge(stream.ws, stream.io, wafer.columns);
  FeatureLayout made{
      assign_features(kind, features, wafer.columns,
                      load == nullptr ? std::vector<std::uint64_t>{} : *load),
      deal_tokens(stream.ws.inject, wafer.rows - std::min(spread, wafer.rows.value()), tokens)};
  made.tokens.insert(made.tokens.begin(), spread, 0);
  return made;
}

namespace {

/// Moves `count` features of `from`, beginning with `first`, to `to`, where they begin with
/// `place`.
class LayoutMove {
 public:
  LayoutMove(const FeatureLayout& from, std::uint32_t first, const FeatureLayout& to,
             std::uint32_t place, std::uint32_t count)
      : from_(from), to_(to), first_(first), place_(place), count_(count) {
    move_tokens();
  }

  void add_to(CoreMover& mover, unsigned bytes) const {
    add_rows(mover);
    add_columns(mover);
    hold(mover, bytes);
  }

 private:
  std::uint32_t source(std::uint32_t feature) const { return from_.column[first_ + feature]; }
  std::uint32_t target(std::uint32_t feature) const { return to_.column[place_ + feature]; }

  /// Rows of as many tokens do the same.
  void add_rows(CoreMover& mover) const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> rows;
    for (std::uint32_t r = 0; r < from_.tokens.size(); ++r) {
      if (from_.tokens[r] != 0) rows[from_.tokens[r]].push_back(r);
    }
    for (const auto& [tokens, at] : rows) {
      std::vector<LineVector> vectors;
      for (std::uint32_t f = 0; f < count_; ++f) {
        if (source(f) != target(f)) vectors.push_back({source(f), target(f), tokens, 0, 0});
      }
      mover.add_rows(at, vectors);
    }
  }

  /// Columns of as many features do the same.
  void add_columns(CoreMover& mover) const {
    if (moved_.empty()) return;
    std::map<std::uint32_t, std::uint32_t> owned;  // features by column
    for (std::uint32_t f = 0; f < count_; ++f) ++owned[target(f)];
    std::map<std::uint32_t, std::vector<std::uint32_t>> columns;
    for (const auto& [column, count] : owned) columns[count].push_back(column);
    for (const auto& [count, at] : columns) {
      std::vector<LineVector> vectors;
      for (std::uint32_t i = 0; i < count; ++i) {
        vectors.insert(vectors.end(), moved_.begin(), moved_.end());
      }
      mover.add_columns(at, vectors);
    }
  }

  /// The tokens of each feature that change their row.
  void move_tokens() {
    std::uint32_t to = 0;
    std::uint32_t room = to_.tokens.empty() ? 0 : to_.tokens[0];
    for (std::uint32_t from = 0; from < from_.tokens.size(); ++from) {
      for (std::uint32_t left = from_.tokens[from]; left != 0;) {
        while (room == 0) room = to_.tokens[++to];
        const std::uint32_t length = std::min(left, room);
        if (from != to) moved_.push_back({from, to, length, 0, 0});
        left -= length;
        room -= length;
      }
    }
  }

  /// What is in each core: features that leave along its row, with all tokens; those that come,
  /// likewise; and of these and the ones that stay the tokens that leave or come along its column.
  void hold(CoreMover& mover, unsigned bytes) const {
    std::map<std::uint32_t, Features> columns;
    for (std::uint32_t f = 0; f < count_; ++f) {
      if (source(f) != target(f)) ++columns[source(f)].leave;
      ++(source(f) == target(f) ? columns[target(f)].stay : columns[target(f)].come);
    }
    const std::size_t rows = std::max(from_.tokens.size(), to_.tokens.size());
    std::vector<std::uint64_t> here(from_.tokens.begin(), from_.tokens.end());
    std::vector<std::uint64_t> leave(rows, 0);
    std::vector<std::uint64_t> come(rows, 0);
    here.resize(rows, 0);
    for (const LineVector& tokens : moved_) {
      leave[tokens.from] += tokens.length;
      come[tokens.to] += tokens.length;
    }
    for (const auto& [column, features] : columns) {
      for (std::uint32_t r = 0; r < rows; ++r) {
        const std::uint64_t all = features.come + features.stay;
        const std::uint64_t stay = all * (here[r] - leave[r] + come[r]);
        mover.hold({r, column}, bytes * (features.leave * here[r] + all * (here[r] + come[r])),
                   bytes * stay);
      }
    }
  }

  struct Features {
    std::uint64_t leave = 0;
    std::uint64_t come = 0;
    std::uint64_t stay = 0;
  };

  const FeatureLayout& from_;
  const FeatureLayout& to_;
  std::uint32_t first_;
  std::uint32_t place_;
  std::uint32_t count_;
  std::vector<LineVector> moved_;  // along columns, of one feature
};

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
  for (const OperandSource& source : request.op.sources) {
    if (source.kind != OperandSource::Kind::activations) continue;
    const FeatureLayout from =
        source.of_product ? product_layout(wafer, stream, source.features, source.tokens, nullptr)
                          : block_layout(wafer, source.features, source.tokens, source.unit);
    const std::uint32_t count =
        std::min(source.features - source.first,
                 static_cast<std::uint32_t>(to.column.size()) - source.place);
    const bool whole = count == to.column.size();
    CoreMover own(request.setup, element);
    LayoutMove(from, source.first, to, source.place, count)
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

LayerMoves resident_operand_moves(const LayerRequest& request, const StreamSettings& stream) {
  const LayerOp& op = request.op;
  const WaferParams& wafer = request.setup.wafer;
  if (op.sources.empty() || op.batch != 1) return {};
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
