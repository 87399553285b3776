// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_rows.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "workloads/trace/op_kind.hpp"

namespace lacuna::wse {
namespace {

using Phase = DecodePhase;
using Product = DecodeRows::Product;

/// Sizes of a row.
struct Size {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  std::uint32_t batch = 1;
};

/// Rows of what one program of cores can be.
bool may_be_in_a_layer(const LayerOp& op) {
  const bool weights = has_weights(op);
  const bool kernel =
      op.mode == Mode::automatic || op.mode == Mode::dense || (weights && op.mode == Mode::static_);
  return op.phase == lacuna::Phase::fwd && op.dtype == DType::fp16 && op.repeat == 1 && kernel &&
         op.residency != Residency::streamed && (weights || op.x_pattern == "dense") &&
         (op.partials == Partials::automatic || op.partials == Partials::fp32) &&
         (weights || op.pattern.name == "dense");
}

/// Reads a layer, row by row; nothing is found if one of them is another.
class LayerReader {
 public:
  LayerReader(const std::vector<LayerOp>& ops, std::size_t at) : ops_(ops), at_(at) {}

  std::optional<DecodeRows> read() {
    if (!starts()) return std::nullopt;
    const bool found = projections() && heads() && attention() && output() && feed_forward();
    if (!found) return std::nullopt;
    return std::move(layer_);
  }

 private:
  using Names = std::vector<std::string>;

  const LayerOp* here(const char* op) const {
    if (at_ >= ops_.size()) return nullptr;
    const LayerOp& row = ops_[at_];
    const bool product = has_weights(row) && std::string(op) == "gemm";
    return (product || row.op == op) && may_be_in_a_layer(row) ? &row : nullptr;
  }

  static bool has(const LayerOp& row, const Size& size) {
    return row.m == size.m && row.k == size.k && row.n == size.n && row.batch == size.batch;
  }

  /// The next row, if it is of this kind, size and dependencies; its name, else empty.
  std::string take(const char* op, std::initializer_list<const char*> functions, const Size& size,
                   const Names& from, std::pair<Phase, Phase> phases, std::uint64_t work = 1) {
    const LayerOp* const row = here(op);
    if (row == nullptr || !has(*row, size)) return "";
    const auto is = [&](const char* function) { return row->fn == function; };
    if (functions.size() != 0 && std::none_of(functions.begin(), functions.end(), is)) return "";
    const auto depends = [&](const std::string& id) {
      return std::find(row->depends_on.begin(), row->depends_on.end(), id) != row->depends_on.end();
    };
    if (!std::all_of(from.begin(), from.end(), depends)) return "";
    layer_.rows.push_back({at_++, phases.first, phases.second, work});
    return row->id;
  }

  std::string product(Product which, const Size& size, const Names& from, Phase phase) {
    layer_.products.at(static_cast<std::size_t>(which)) = at_;
    return take("gemm", {}, size, from, {phase, phase}, std::uint64_t{size.m} * size.k);
  }

  bool starts() {
    const LayerOp* const norm = here("rmsnorm");
    if (norm == nullptr) return false;
    d_ = layer_.model.width = norm->m;
    b_ = layer_.batch = norm->n;
    norm_ = take("rmsnorm", {}, {d_, 0, b_}, {}, {Phase::norm, Phase::norm});
    return !norm_.empty();
  }

  bool projections() {
    if (at_ + 1 >= ops_.size()) return false;
    query_ = ops_[at_].m;
    key_ = ops_[at_ + 1].m;
    q_ = product(Product::q, {query_, d_, b_}, {norm_}, Phase::qkv);
    k_ = product(Product::k, {key_, d_, b_}, {norm_}, Phase::qkv);
    v_ = product(Product::v, {key_, d_, b_}, {norm_}, Phase::qkv);
    return !v_.empty() && !k_.empty() && !q_.empty();
  }

  /// Norms of heads, if there are any, and rotation.
  bool heads() {
    const std::pair phases{Phase::qknorm_rope, Phase::qknorm_rope};
    if (const LayerOp* const norm = here("rmsnorm"); norm != nullptr && norm->m != 0) {
      const std::uint32_t width = layer_.model.head_dim = norm->m;
      layer_.model.qk_norm = true;
      if (query_ % width != 0 || key_ % width != 0) return false;
      q_ = take("rmsnorm", {}, {width, 0, query_ / width * b_}, {q_}, phases, query_);
      k_ = take("rmsnorm", {}, {width, 0, key_ / width * b_}, {k_}, phases, key_);
    }
    q_ = take("eltwise", {"rope"}, {query_, 0, b_}, {q_}, phases, query_);
    k_ = take("eltwise", {"rope"}, {key_, 0, b_}, {k_}, phases, key_);
    return !k_.empty() && !q_.empty();
  }

  bool attention() {
    const LayerOp* const scores = here("bmm");
    if (scores == nullptr || b_ == 0 || scores->batch % b_ != 0) return false;
    DecoderModel& model = layer_.model;
    const std::uint32_t group = scores->m;
    const std::uint32_t width = scores->k;
    const std::uint32_t keys = layer_.context = scores->n;
    model.kv_heads = scores->batch / b_;
    model.heads = model.kv_heads * group;
    if (model.head_dim != 0 && model.head_dim != width) return false;
    model.head_dim = width;
    if (model.heads * width != query_ || model.kv_heads * width != key_) return false;
    std::string s = take("bmm", {"", "dot"}, {group, width, keys, scores->batch}, {q_, k_},
                         {Phase::score, Phase::score});
    // what scales the scores is a part of the softmax, and takes its share of that there
    const std::pair softmax{Phase::softmax_max, Phase::softmax_sum};
    const std::uint32_t matrices = b_ * model.heads;
    s = take("eltwise", {"scale_mask", "scale", "mask"}, {1, 0, keys, matrices}, {s}, softmax, 0);
    s = take("softmax", {}, {1, 0, keys, matrices}, {s}, softmax);
    context_ = take("bmm", {"", "dot"}, {group, keys, width, b_ * model.kv_heads}, {s, v_},
                    {Phase::pv, Phase::pv});
    return !context_.empty() && !s.empty();
  }

  bool output() {
    const std::string o = product(Product::o, {d_, query_, b_}, {context_}, Phase::o_proj);
    sum_ = take("eltwise", {"add"}, {d_, 0, b_}, {o}, {Phase::residual, Phase::residual});
    return !sum_.empty() && !o.empty();
  }

  bool feed_forward() {
    norm_ = take("rmsnorm", {}, {d_, 0, b_}, {sum_}, {Phase::ffn_norm, Phase::ffn_norm});
    if (norm_.empty() || at_ >= ops_.size()) return false;
    const std::uint32_t inner = layer_.model.ffn = ops_[at_].m;
    const std::string gate = product(Product::gate, {inner, d_, b_}, {norm_}, Phase::up_gate);
    const std::string up = product(Product::up, {inner, d_, b_}, {norm_}, Phase::up_gate);
    const std::string unit =
        take("eltwise", {"swiglu"}, {inner, 0, b_}, {gate, up}, {Phase::silu, Phase::silu});
    const std::string down = product(Product::down, {d_, inner, b_}, {unit}, Phase::down);
    const std::string sum =
        take("eltwise", {"add"}, {d_, 0, b_}, {down}, {Phase::ffn_residual, Phase::ffn_residual});
    return !gate.empty() && !up.empty() && !unit.empty() && !down.empty() && !sum.empty();
  }

  const std::vector<LayerOp>& ops_;
  std::size_t at_;
  DecodeRows layer_;
  std::uint32_t d_ = 0;
  std::uint32_t b_ = 0;
  std::uint32_t query_ = 0;  // features of all heads
  std::uint32_t key_ = 0;
  std::string norm_, q_, k_, v_, context_, sum_;  // rows that others take from
};

}  // namespace

std::vector<DecodeRows> find_decode_rows(const WorkloadTrace& trace) {
  std::vector<DecodeRows> found;
  for (std::size_t at = 0; at < trace.ops.size();) {
    std::optional<DecodeRows> layer = LayerReader(trace.ops, at).read();
    at = layer ? layer->rows.back().number + 1 : at + 1;
    if (layer) found.push_back(*std::move(layer));
  }
  return found;
}

}  // namespace lacuna::wse
