// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/move.hpp"

namespace lacuna::wse {
namespace {

using Kind = OperandSource::Kind;

/// One operand of a product of attention, or its result: head by head a matrix of tokens and
/// features, or of scores.
enum class Role { w, x, y };

/// Activations as one role takes them: a matrix for each head of each sequence, or for several
/// heads of one, whose tokens are its rows one after the other.
struct Heads {
  std::uint32_t sequences = 0;
  std::uint32_t groups = 0;  // of heads, each a matrix, of a sequence
  std::uint32_t shared = 1;  // heads of a group
  std::uint32_t length = 1;  // tokens of a sequence that are there
  std::uint32_t first = 0;   // and the place of the first of them in it
};

/// Splits activations into the blocks of heads' products, puts results together again, and brings
/// scores to their softmax and back.
class HeadMoves {
 public:
  HeadMoves(const LayerRequest& request, const ProductShape& shape, const StreamSettings& stream)
      : request_(request),
        op_(request.op),
        shape_(shape),
        stream_(stream),
        layout_(request.setup.wafer, op_.n, op_.m, op_.batch),
        of_scores_(op_.sources[2].by_heads || op_.sources[2].kind == Kind::activations),
        width_(of_scores_ ? op_.n : op_.k),
        element_(op_.dtype == DType::fp32 ? Element::fp32 : Element::fp16) {
    if (request.skips_zeros()) kept_ = request.mask->elements();
  }

  LayerMoves moves() {
    add(Role::w, op_.sources[0], "move W", moves_.before);
    add(Role::x, op_.sources[1], "move X", moves_.before);
    taken_.clear();
    add(Role::y, op_.sources[2], "move Y", moves_.after);
    return std::move(moves_);
  }

 private:
  void add(Role role, const OperandSource& source, const char* name,
           std::vector<LayerStage>& stages) {
    if (source.kind == Kind::activations || source.kind == Kind::cache) {
      add_activations(role, source, name, stages);
    } else if (source.kind == Kind::scores) {
      add_scores(role, source.transposed, name, stages);
    }
  }
  void add_activations(Role role, const OperandSource& source, const char* name,
                       std::vector<LayerStage>& stages);
  void add_scores(Role role, bool transposed, const char* name, std::vector<LayerStage>& stages);
  void finish(const CoreMover& mover, const char* name, const std::vector<CorePlace>& origins,
              std::vector<LayerStage>& stages);
  Heads heads_of(Role role, const OperandSource& source) const;
  Cycle estimate(Role role, std::uint32_t features, const std::vector<TokenPart>& parts) const;
  std::vector<TokenPart> parts(Role role, const Heads& heads, std::uint32_t tokens,
                               const FeatureLayout& whole) const;
  CorePlace block(Role role, const Heads& heads, std::uint32_t feature, std::uint32_t token) const;
  std::uint32_t block_tokens(Role role) const {
    if (role != Role::x) return shape_.rows;
    return of_scores_ ? shape_.inner : shape_.columns;
  }
  /// Rows of the matrices of a role, if tokens are rows.
  std::uint32_t rows(Role role) const {
    if (role != Role::x) return op_.m;
    return of_scores_ ? op_.k : op_.n;
  }
  struct Span {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  struct ScoreShape {
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::uint32_t block_height = 1;
    std::uint32_t block_width = 1;
  };
  struct ScoreRun {
    Span rows;
    std::uint32_t column = 0;
    CorePlace spread;  // for a softmax
    std::uint32_t matrices = 1;
  };
  ScoreShape score_shape(Role role, bool transposed) const;
  void add_run(Role role, bool transposed, const ScoreShape& scores, const ScoreRun& run,
               CoreMover& mover) const;
  bool keeps(Span rows, Span columns) const;

  const LayerRequest& request_;
  const LayerOp& op_;
  const ProductShape& shape_;
  const StreamSettings& stream_;
  LayerLayout layout_;
  bool of_scores_;       // W are scores, X and Y activations; else Y are scores
  std::uint32_t width_;  // features of a head
  Element element_;
  Mask kept_;  // of W or, of an sddmm, of Y
  LayerMoves moves_;
  std::vector<std::uint64_t> taken_;  // bytes of each core
};

Heads HeadMoves::heads_of(Role role, const OperandSource& source) const {
  Heads heads;
  heads.shared = source.shared;
  heads.length = rows(role) / source.shared;
  if (source.kind == Kind::cache) {
    heads.first = heads.length - 1;
    heads.length = 1;
  }
  if (heads.length == 0) return heads;
  heads.sequences = source.tokens / heads.length;
  if (heads.sequences != 0) heads.groups = op_.batch / heads.sequences;
  return heads;
}

/// The core whose block has this feature of all heads and token of all sequences.
CorePlace HeadMoves::block(Role role, const Heads& heads, std::uint32_t feature,
                           std::uint32_t token) const {
  const std::uint32_t group = feature / width_ / heads.shared;
  const std::uint32_t in_head = feature % width_;
  const std::uint32_t in_sequence =
      feature / width_ % heads.shared * heads.length + heads.first + token % heads.length;
  const std::uint32_t slot = (token / heads.length * heads.groups + group) % layout_.slots();
  std::uint32_t row = in_sequence / block_tokens(role);
  std::uint32_t column = in_head / (role == Role::w ? shape_.inner : shape_.columns);
  if (role == Role::x && !of_scores_) {  // keys: features are rows of X, tokens columns
    row = in_head / shape_.inner;
    column = in_sequence / shape_.columns;
  }
  if (role == Role::x && shape_.w_stays) std::swap(row, column);
  return {layout_.slot_row(slot) + row, layout_.slot_column(slot) + column};
}

/// Tokens of each row of cores, and of each group if groups share them, up to where a sequence or
/// a block begins.
std::vector<TokenPart> HeadMoves::parts(Role role, const Heads& heads, std::uint32_t tokens,
                                        const FeatureLayout& whole) const {
  std::set<std::uint32_t> cuts{tokens};
  const std::uint32_t size = block_tokens(role);
  for (std::uint32_t s = 0; s < heads.sequences; ++s) {
    cuts.insert(s * heads.length);
    for (std::uint32_t head = 0; head < heads.shared; ++head) {
      for (std::uint32_t i = 0; i < heads.length; ++i) {
        if ((head * heads.length + heads.first + i) % size == 0) cuts.insert(s * heads.length + i);
      }
    }
  }
  std::vector<TokenPart> parts;
  std::uint32_t token = 0;
  for (const TokenPart& part : token_parts(whole)) {
    const std::uint32_t end = std::min(token + part.length, tokens);
    while (token != end) {
      const std::uint32_t cut = std::min(*cuts.upper_bound(token), end);
      parts.push_back({part.row, part.share, cut - token});
      token = cut;
    }
  }
  return parts;
}

void HeadMoves::finish(const CoreMover& mover, const char* name,
                       const std::vector<CorePlace>& origins, std::vector<LayerStage>& stages) {
  std::vector<LayerStage> made = mover.stages(name, origins);
  const std::uint64_t bytes = mover.most_bytes(taken_, origins);
  if (made.empty()) return;
  moves_.bytes = std::max(moves_.bytes, bytes);
  for (LayerStage& stage : made) stages.push_back(std::move(stage));
}

/// Roughly: all of a row of cores leaves its core, then all of a column. What goes to several cores
/// starts for each. Half of a start is hidden behind what others pass on: fitted to eight moves of
/// 12 heads, which take 0.8 to 1.4 times what it says.
Cycle HeadMoves::estimate(Role role, std::uint32_t features,
                          const std::vector<TokenPart>& parts) const {
  const bool inner = role == Role::w || (role == Role::x && !of_scores_);  // features are summed
  const bool down = role == Role::x && of_scores_ == shape_.w_stays;       // and lie in rows
  const auto each = static_cast<std::uint32_t>(ceil_div(features, request_.setup.wafer.columns));
  const Cycle cores = ceil_div(features, each);
  const Cycle pieces = ceil_div(each, inner ? shape_.inner : shape_.columns);
  const Cycle start = request_.setup.costs.next(2) / 2;
  Cycle longest = 0;
  Cycle all = 0;
  for (std::size_t first = 0; first < parts.size();) {
    Cycle words = 0;
    std::size_t end = first;
    for (; end < parts.size() && parts[end].row == parts[first].row; ++end) {
      words += words_of(source_bytes(element_), each * parts[end].length);
    }
    const Cycle vectors = end - first;
    longest = std::max(longest, words + vectors * (down ? 1 : pieces) * start);
    all += words + vectors * (down ? pieces : 1) * start;
    first = end;
  }
  return cores * longest + all;
}

void HeadMoves::add_activations(Role role, const OperandSource& source, const char* name,
                                std::vector<LayerStage>& stages) {
  const Heads heads = heads_of(role, source);
  if (heads.groups == 0) return;
  const StreamSettings maker = stream_.of_maker(static_cast<std::size_t>(role));
  const FeatureLayout whole = made_layout(request_.setup.wafer, maker, source);
  const std::uint32_t features = heads.groups * width_ * heads.shared;
  if (source.first + features / source.copies > source.features) {
    throw InternalError(fmt::format("{}: {} of heads are {} features, and {} are there", op_.id,
                                    name, features, source.features));
  }
  if (request_.setup.estimates) {
    stages.emplace_back().estimate = estimate(role, features, token_parts(whole));
    return;
  }
  CoreMover mover(request_.setup, element_);
  std::uint32_t token = 0;
  for (const TokenPart& part : parts(role, heads, source.tokens, whole)) {
    for (std::uint32_t f = 0; f < features; ++f) {
      const CorePlace in_block = block(role, heads, f, token);
      const std::uint32_t own = f / width_ / source.copies * width_ + f % width_;
      const std::uint32_t place = whole.column[source.first + own];
      if (role != Role::y) {
        const std::uint32_t from = whole.nearest(place, part.share, in_block.column);
        mover.add({part.row, from}, in_block, f, token, part.length);
        continue;
      }
      std::uint64_t row = f;  // of each group to which a feature goes one of its own
      for (const std::uint32_t to : whole.columns_of(place, part.share)) {
        mover.add(in_block, {part.row, to}, row, token, part.length);
        row += features;
      }
    }
    token += part.length;
  }
  finish(mover, name, {{}}, stages);
}

/// Whether any of these scores is kept, as rows and columns of the product's matrix.
bool HeadMoves::keeps(Span rows, Span columns) const {
  for (std::uint32_t row = rows.first; row < rows.end; ++row) {
    const auto begin = kept_.columns.begin() + static_cast<std::ptrdiff_t>(kept_.offsets[row]);
    const auto end = kept_.columns.begin() + static_cast<std::ptrdiff_t>(kept_.offsets[row + 1]);
    const auto found = std::lower_bound(begin, end, columns.first);
    if (found != end && *found < columns.end) return true;
  }
  return false;
}

/// As its softmax has a matrix of scores, and the blocks of the product.
HeadMoves::ScoreShape HeadMoves::score_shape(Role role, bool transposed) const {
  const bool result = role == Role::y;
  ScoreShape scores{op_.m, result ? op_.n : op_.k, shape_.rows,
                    result ? shape_.columns : shape_.inner};
  if (transposed) {
    std::swap(scores.height, scores.width);
    std::swap(scores.block_height, scores.block_width);
  }
  return scores;
}

/// A run of rows of one column, all in one core and block, of each matrix of a slot.
void HeadMoves::add_run(Role role, bool transposed, const ScoreShape& scores, const ScoreRun& run,
                        CoreMover& mover) const {
  const bool result = role == Role::y;
  const Span one{run.column, run.column + 1};
  const bool masked = request_.skips_zeros() && (op_.op == "sddmm") == result;
  if (masked && !keeps(transposed ? one : run.rows, transposed ? run.rows : one)) return;
  CorePlace in_block{run.rows.first / scores.block_height, run.column / scores.block_width};
  if (transposed) std::swap(in_block.row, in_block.column);
  for (std::uint32_t matrix = 0; matrix < run.matrices; ++matrix) {
    mover.add(result ? in_block : run.spread, result ? run.spread : in_block,
              std::uint64_t{matrix} * scores.width + run.column, run.rows.first,
              run.rows.end - run.rows.first);
  }
}

/// Scores lie as softmax takes them, spread over the whole of their slot, or in the blocks of a
/// product. Slots with as many matrices do the same.
void HeadMoves::add_scores(Role role, bool transposed, const char* name,
                           std::vector<LayerStage>& stages) {
  const ScoreShape scores = score_shape(role, transposed);
  const LayerLayout even(request_.setup.wafer, scores.width, scores.height, op_.batch);
  for (std::uint32_t slot = 0; slot < even.slots();) {
    std::vector<CorePlace> origins;
    const std::uint32_t instances = even.instances(slot);
    for (; slot < even.slots() && even.instances(slot) == instances; ++slot) {
      origins.push_back({even.slot_row(slot), even.slot_column(slot)});
    }
    CoreMover mover(request_.setup, element_);
    std::uint32_t row = 0;
    for (std::uint32_t i = 0; i < scores.height;) {
      while (i >= even.first_token(row) + even.tokens(row)) ++row;
      const std::uint32_t end = std::min((i / scores.block_height + 1) * scores.block_height,
                                         even.first_token(row) + even.tokens(row));
      const bool first = row != 0 && request_.setup.estimates;  // of the columns stands for all
      const std::uint32_t columns = first ? even.features(0) : scores.width;
      for (std::uint32_t j = 0; j < columns; ++j) {
        add_run(role, transposed, scores, {{i, end}, j, {row, j / even.features(0)}, instances},
                mover);
      }
      i = end;
    }
    finish(mover, name, origins, stages);
  }
}

}  // namespace

LayerMoves attention_moves(const LayerRequest& request, const ProductShape& shape,
                           const StreamSettings& stream) {
  if (request.op.sources.size() != 3 || request.op.batch == 1) return {};
  return HeadMoves(request, shape, stream).moves();
}

}  // namespace lacuna::wse
