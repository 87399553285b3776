// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "workloads/mapping/wse/layer_layout.hpp"
#include "workloads/mapping/wse/layer_move.hpp"

namespace lacuna::wse {
namespace {

using Kind = OperandSource::Kind;

/// One operand of a product of attention, or its result: head by head a matrix of tokens and
/// features, or of scores.
enum class Role { w, x, y };

/// Splits activations into the blocks of heads' products, puts results together again, and brings
/// scores to their softmax and back.
class HeadMoves {
 public:
  HeadMoves(const LayerRequest& request, const ProductShape& shape)
      : request_(request),
        op_(request.op),
        shape_(shape),
        layout_(request.setup.wafer, op_.n, op_.m, op_.batch),
        of_scores_(op_.sources[2].kind == Kind::activations),
        length_(of_scores_ ? op_.k : op_.n),
        width_(of_scores_ ? op_.n : op_.k) {
    for (const OperandSource& source : op_.sources) {
      if (source.kind == Kind::activations) tokens_ = source.tokens;
    }
  }

  LayerMoves moves() const {
    LayerMoves moves;
    add(Role::w, op_.sources[0], "move W", moves.before);
    add(Role::x, op_.sources[1], "move X", moves.before);
    add(Role::y, op_.sources[2], "move Y", moves.after);
    return moves;
  }

 private:
  std::uint32_t sequences() const { return tokens_ / length_; }
  std::uint32_t heads() const { return op_.batch / sequences(); }  // of keys and values
  /// Queries of so many heads are the rows of one product.
  std::uint32_t shared() const { return op_.m / length_; }

  void add(Role role, const OperandSource& source, const char* name,
           std::vector<LayerStage>& stages) const {
    if (source.kind == Kind::activations && sequences() != 0 && heads() != 0) {
      add_activations(role, source, name, stages);
    } else if (source.kind == Kind::scores) {
      add_scores(role, name, stages);
    }
  }
  void add_activations(Role role, const OperandSource& source, const char* name,
                       std::vector<LayerStage>& stages) const;
  void add_scores(Role role, const char* name, std::vector<LayerStage>& stages) const;
  std::vector<std::uint32_t> cuts(Role role, const FeatureLayout& whole) const;
  CorePlace block(Role role, std::uint32_t feature, std::uint32_t token) const;
  std::uint32_t block_tokens(Role role) const {
    if (role != Role::x) return shape_.rows;
    return of_scores_ ? shape_.inner : shape_.columns;
  }

  const LayerRequest& request_;
  const LayerOp& op_;
  const ProductShape& shape_;
  LayerLayout layout_;
  bool of_scores_;        // W are scores, X and Y activations; else Y are scores
  std::uint32_t length_;  // tokens of a sequence
  std::uint32_t width_;   // features of a head
  std::uint32_t tokens_ = 0;
};

/// The core whose block has this feature of all heads and token of all sequences.
CorePlace HeadMoves::block(Role role, std::uint32_t feature, std::uint32_t token) const {
  const std::uint32_t queries = role == Role::x ? 1 : shared();
  const std::uint32_t head = feature / width_ / queries;
  const std::uint32_t in_head = feature % width_;
  const std::uint32_t in_sequence = feature / width_ % queries * length_ + token % length_;
  const std::uint32_t slot = (token / length_ * heads() + head) % layout_.slots();
  std::uint32_t row = in_sequence / block_tokens(role);
  std::uint32_t column = in_head / (role == Role::w ? shape_.inner : shape_.columns);
  if (role == Role::x && !of_scores_) {  // keys: features are rows of X, tokens columns
    row = in_head / shape_.inner;
    column = in_sequence / shape_.columns;
  }
  if (role == Role::x && shape_.w_stays) std::swap(row, column);
  return {layout_.slot_row(slot) + row, layout_.slot_column(slot) + column};
}

/// Tokens at which a row of cores, a sequence or a block begins; and the end.
std::vector<std::uint32_t> HeadMoves::cuts(Role role, const FeatureLayout& whole) const {
  std::set<std::uint32_t> cuts{tokens_};
  std::uint32_t first = 0;
  for (const std::uint32_t count : whole.tokens) {
    cuts.insert(first);
    first += count;
  }
  const std::uint32_t size = block_tokens(role);
  const std::uint32_t queries = role == Role::x ? 1 : shared();
  for (std::uint32_t s = 0; s < sequences(); ++s) {
    cuts.insert(s * length_);
    for (std::uint32_t q = 0; q < queries; ++q) {
      for (std::uint32_t i = 0; i < length_; ++i) {
        if ((q * length_ + i) % size == 0) cuts.insert(s * length_ + i);
      }
    }
  }
  return {cuts.begin(), cuts.end()};
}

void HeadMoves::add_activations(Role role, const OperandSource& source, const char* name,
                                std::vector<LayerStage>& stages) const {
  const FeatureLayout whole =
      block_layout(request_.setup.wafer, source.features, source.tokens, source.unit);
  const std::vector<std::uint32_t> at = cuts(role, whole);
  const std::uint32_t features = heads() * width_ * (role == Role::x ? 1 : shared());
  CoreMover mover(request_.setup, op_.dtype == DType::fp32 ? Element::fp32 : Element::fp16);
  std::uint32_t row = 0;
  std::uint32_t end = whole.tokens.empty() ? 0 : whole.tokens[0];  // of the row's tokens
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    while (at[i] >= end) end += whole.tokens[++row];
    for (std::uint32_t f = 0; f < features; ++f) {
      const CorePlace in_whole{row, whole.column[source.first + f]};
      const CorePlace in_block = block(role, f, at[i]);
      const bool result = role == Role::y;
      mover.add(result ? in_block : in_whole, result ? in_whole : in_block, f, at[i],
                at[i + 1] - at[i]);
    }
  }
  for (LayerStage& stage : mover.stages(name)) stages.push_back(std::move(stage));
}

/// Scores lie as softmax takes them, spread over the whole of their slot, or in the blocks of a
/// product. Slots with as many matrices do the same.
void HeadMoves::add_scores(Role role, const char* name, std::vector<LayerStage>& stages) const {
  const bool result = role == Role::y;
  const std::uint32_t width = result ? op_.n : op_.k;
  const LayerLayout even(request_.setup.wafer, width, op_.m, op_.batch);
  const std::uint32_t block_width = result ? shape_.columns : shape_.inner;
  for (std::uint32_t slot = 0; slot < even.slots();) {
    std::vector<CorePlace> origins;
    const std::uint32_t instances = even.instances(slot);
    for (; slot < even.slots() && even.instances(slot) == instances; ++slot) {
      origins.push_back({even.slot_row(slot), even.slot_column(slot)});
    }
    CoreMover mover(request_.setup, op_.dtype == DType::fp32 ? Element::fp32 : Element::fp16);
    std::uint32_t row = 0;
    for (std::uint32_t i = 0; i < op_.m;) {  // rows of the matrix, a run of one core and block
      while (i >= even.first_token(row) + even.tokens(row)) ++row;
      const std::uint32_t end =
          std::min((i / shape_.rows + 1) * shape_.rows, even.first_token(row) + even.tokens(row));
      for (std::uint32_t j = 0; j < width; ++j) {
        const CorePlace spread{row, j / even.features(0)};
        const CorePlace in_block{i / shape_.rows, j / block_width};
        for (std::uint32_t matrix = 0; matrix < instances; ++matrix) {
          mover.add(result ? in_block : spread, result ? spread : in_block,
                    std::uint64_t{matrix} * width + j, i, end - i);
        }
      }
      i = end;
    }
    for (LayerStage& stage : mover.stages(name, origins)) stages.push_back(std::move(stage));
  }
}

}  // namespace

LayerMoves attention_moves(const LayerRequest& request, const ProductShape& shape) {
  if (request.op.sources.size() != 3 || request.op.batch == 1) return {};
  return HeadMoves(request, shape).moves();
}

}  // namespace lacuna::wse
