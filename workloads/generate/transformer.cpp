// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "workloads/generate/routing.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

using Part = TransformerOptions::Part;

PatternSpec reference(const std::string& id) {
  PatternSpec spec;
  spec.name = "ref";
  spec.args = {{"of", id}};
  return spec;
}

class TransformerMaker {
 public:
  TransformerMaker(const ModelShape& shape, const TransformerOptions& options)
      : shape_(shape),
        options_(options),
        rows_(shape.name, options.dtype, options.mode),
        columns_(options.sequences * (options.part == Part::decode ? 1 : options.tokens)) {}

  WorkloadTrace make() {
    const std::uint32_t layers = options_.layers == 0 ? shape_.layers : options_.layers;
    std::string x = options_.embedding ? embedding() : "";
    for (std::uint32_t l = 0; l < layers; ++l) {
      layer_ = l;
      rows_.begin_layer(fmt::format("l{}", l));
      x = options_.part == Part::weights ? weights_of_layer(x) : layer(x);
    }
    if (options_.heads) heads(x);
    for (const PatternRule& rule : rules_) {
      if (rule.used) continue;
      refuse_request(
          "--sparse {}: no weight of {} has such a name; allowed: names "
          "like l0.ffn1, with * for any text",
          rule.where, shape_.name);
    }
    return rows_.take();
  }

 private:
  bool training() const { return options_.part == Part::training; }
  bool decode() const { return options_.part == Part::decode; }
  bool has_experts() const { return shape_.has_experts(layer_); }
  bool is_bert() const { return shape_.family == ModelFamily::bert || is_group_bert(); }
  bool is_group_bert() const { return shape_.family == ModelFamily::group_bert; }
  std::uint32_t d() const { return shape_.width; }
  std::uint32_t q_width() const { return shape_.query_width(); }
  std::uint32_t kv_width() const { return shape_.kv_width(); }

  static std::vector<std::string> inputs(const std::string& x) {
    return x.empty() ? std::vector<std::string>{} : std::vector<std::string>{x};
  }

  std::string eltwise(const std::string& name, const std::string& fn, std::uint32_t m,
                      std::uint32_t n, std::vector<std::string> from, std::uint32_t batch = 1) {
    return rows_.add("eltwise", name, {m, 0, n, batch}, std::move(from), fn);
  }

  std::string norm(const std::string& name, const std::string& x) {
    return rows_.add(shape_.rms ? "rmsnorm" : "layernorm", name, {d(), 0, columns_}, inputs(x));
  }

  std::string drop(bool drops, const std::string& name, std::uint32_t m, std::uint32_t n,
                   const std::string& x, std::uint32_t batch = 1) {
    return training() && drops ? eltwise(name, "dropout", m, n, inputs(x), batch) : x;
  }

  // The result of a block, on its way to the residual.
  std::string finish(const std::string& name, const std::string& y) {
    std::string x = shape_.post_norms ? norm(name + "_post_ln", y) : y;
    if (shape_.scaled_residual) x = eltwise(name + "_scale", "scale", d(), columns_, {x});
    return drop(shape_.dropout.hidden, name + "_drop", d(), columns_, x);
  }

  // A product with prunable weights; `role` tells generators of trained masks what it is.
  std::string prunable(const std::string& name, const char* role, std::uint32_t m, std::uint32_t k,
                       const std::string& x) {
    return prunable(name, role, m, k, inputs(x));
  }

  std::string prunable(const std::string& name, const char* role, std::uint32_t m, std::uint32_t k,
                       std::vector<std::string> from) {
    std::string id = rows_.add("gemm", name, {m, k, tokens_of_block_}, std::move(from));
    PatternSpec pattern = pattern_of(rows_.last());
    const bool given = find_value(pattern.args, "role") != nullptr;
    if (pattern.name == "magnitude" && !given) pattern.args.emplace_back("role", role);
    rows_.thin_out(std::move(pattern));
    return id;
  }

  // What the last rule says; the mask of the first layer if all share one.
  PatternSpec pattern_of(const LayerOp& row) {
    PatternSpec pattern = ruled(rules_, row.layer, options_.pattern);
    if (!options_.same_mask || pattern.name == "dense") return pattern;
    const std::string name = row.layer.substr(row.layer.find('.') + 1);
    const auto [first, is_new] = first_rows_.emplace(
        fmt::format("{} {}x{} {}", name, row.m, row.k, pattern_label(pattern)), row.id);
    return is_new ? pattern : reference(first->second);
  }

  // The bias of the block's last product is added here, unless something stands between.
  std::string residual(const std::string& name, bool bias, const std::string& block,
                       const std::string& x) {
    std::vector<std::string> from{block};
    if (!x.empty()) from.push_back(x);
    return eltwise(name, bias ? "bias_add" : "add", d(), columns_, std::move(from));
  }

  // What scores and context read: of queries and keys what is rotated, and then all of them if that
  // is a part.
  struct Heads {
    std::vector<std::string> q;
    std::vector<std::string> k;
    std::string v;

    std::vector<std::string> of_scores() const {
      std::vector<std::string> from = {q.front()};
      if (k != q) from.push_back(k.front());
      from.insert(from.end(), q.begin() + 1, q.end());
      from.insert(from.end(), k.begin() + 1, k.end());
      return from;
    }
  };

  Heads projected(const std::string& x) {
    return {{prunable("q", "qkv", q_width(), d(), x)},
            {prunable("k", "qkv", kv_width(), d(), x)},
            prunable("v", "qkv", kv_width(), d(), x)};
  }

  std::string weights_of_layer(const std::string& x) {
    const Heads heads = projected(x);
    const std::string o = prunable("o", "out", d(), q_width(),
                                   std::vector<std::string>{heads.q[0], heads.k[0], heads.v});
    if (!has_experts()) return weights_of_block("", shape_.ffn, o);
    std::vector<std::string> results;
    const std::vector<std::uint32_t> tokens = routed();
    for (std::uint32_t expert = 0; expert < tokens.size(); ++expert) {
      if (tokens[expert] == 0) continue;
      tokens_of_block_ = tokens[expert];
      results.push_back(weights_of_block(expert_name(expert), shape_.experts.ffn, o));
    }
    tokens_of_block_ = columns_;
    if (shape_.experts.shared == 0) return results.back();
    return weights_of_block("shared.", shape_.experts.shared, o);
  }

  std::string weights_of_block(const std::string& name, std::uint32_t inner, const std::string& x) {
    std::vector<std::string> up;
    if (shape_.gated) up.push_back(prunable(name + "gate", "ffn1", inner, d(), x));
    up.push_back(prunable(name + (shape_.gated ? "up" : "ffn1"), "ffn1", inner, d(), x));
    return prunable(name + "ffn2", "ffn2", d(), inner, std::move(up));
  }

  std::string layer(const std::string& x) {
    if (is_group_bert()) {
      const std::string c = convolution(x);
      const std::string f = grouped_ffn("f1", c);
      return grouped_ffn("f2", attention(norm("attn_ln", f), f));
    }
    if (shape_.family == ModelFamily::bert) {  // which normalises after a block
      const std::string ln1 = norm("ln1", attention(x, x));
      return norm("ln2", feed_forward(ln1, ln1));
    }
    const std::string a = attention(shape_.pre_norms ? norm("ln1", x) : x, x);
    const std::string& y = shape_.parallel ? x : a;
    return feed_forward(shape_.pre_norms ? norm("ln2", y) : y, a);
  }

  // Rows 1 to 12: from `x`, normalised or not, to the sum with `skip`.
  std::string attention(const std::string& x, const std::string& skip) {
    Heads heads = projected(x);
    if (shape_.qkv_bias) add_biases(heads);
    if (shape_.qk_norm != QkNorm::none) {
      heads.q = {head_norm("q_norm", q_width(), heads.q)};
      heads.k = {head_norm("k_norm", kv_width(), heads.k)};
    }
    if (shape_.rotates(layer_)) {
      rotate("q_rope", shape_.heads, heads.q);
      rotate("k_rope", shape_.kv_heads, heads.k);
    }
    const std::string ctx = core(heads, kept_scores());
    const std::string o = prunable("o", "out", d(), q_width(), ctx);
    return residual("o_add", shape_.out_bias, finish("o", o), skip);
  }

  // One row for all three, or if they are rotated a row for each.
  void add_biases(Heads& heads) {
    if (shape_.rotated != 0 || shape_.qk_norm != QkNorm::none) {
      heads.q = {eltwise("q_bias", "bias", q_width(), columns_, heads.q)};
      heads.k = {eltwise("k_bias", "bias", kv_width(), columns_, heads.k)};
      heads.v = eltwise("v_bias", "bias", kv_width(), columns_, {heads.v});
      return;
    }
    heads.v = eltwise("qkv_bias", "bias", q_width() + 2 * kv_width(), columns_,
                      {heads.q[0], heads.k[0], heads.v});
    heads.q = heads.k = {heads.v};
  }

  // Every head of every token is normalised for itself, or all heads of a token together.
  std::string head_norm(const std::string& name, std::uint32_t width,
                        const std::vector<std::string>& x) {
    const std::uint32_t alone = shape_.qk_norm == QkNorm::head ? shape_.head_width() : width;
    return rows_.add(shape_.rms ? "rmsnorm" : "layernorm", name,
                     {alone, 0, columns_ * (width / alone)}, x);
  }

  // What is not rotated is read as it was.
  void rotate(const std::string& name, std::uint32_t heads, std::vector<std::string>& x) {
    std::string turned = eltwise(name, "rope", heads * shape_.rotated, columns_, x);
    if (shape_.rotated == shape_.head_width()) x.clear();
    x.insert(x.begin(), std::move(turned));
  }

  // Which scores of this layer are computed.
  PatternSpec kept_scores() const {
    PatternSpec kept = options_.attention;
    const std::uint32_t window = shape_.window(layer_);
    const bool cuts = window != 0 && window < options_.tokens && !decode();
    if (cuts && !options_.attention_given) {
      kept.name = "window";
      kept.args = {{"w", std::to_string(window - 1)}, {"causal", "1"}};
    } else if (options_.causal) {
      kept.name = "causal";
    }
    return kept;
  }

  // Keys that a token meets: while sequences are made all of them.
  std::uint32_t keys() const {
    if (!decode()) return options_.tokens;
    const std::uint32_t window = shape_.window(layer_);
    return window == 0 ? options_.context : std::min(window, options_.context);
  }

  // Scores are scaled and masked, and before that pass a tanh if the model caps them.
  std::string masked(const std::string& scores, std::uint32_t queries, std::uint32_t keys,
                     std::uint32_t batch) {
    std::string s = scores;
    if (shape_.score_cap) {
      s = eltwise("cap_scale", "scale", queries, keys, {s}, batch);
      s = eltwise("cap", "tanh", queries, keys, {s}, batch);
    }
    return eltwise("scale", "scale_mask", queries, keys, {s}, batch);
  }

  // Scores, softmax and context. Query heads that share one key and value head are rows of one
  // product; of sparse scores only what is kept is computed, head by head.
  std::string core(const Heads& heads, const PatternSpec& kept) {
    const bool sparse = kept.name != "dense";
    const std::uint32_t shared = sparse ? 1 : shape_.heads / shape_.kv_heads;
    const std::uint32_t all_heads = options_.sequences * shape_.heads;
    const std::uint32_t queries = decode() ? 1 : options_.tokens;
    const std::uint32_t rows = queries * shared;
    const std::uint32_t groups = all_heads / shared;
    const std::uint32_t width = shape_.head_width();
    const std::string scores =
        rows_.add(sparse ? "sddmm" : "bmm", "scores", {rows, width, keys(), groups},
                  heads.of_scores(), sparse ? "" : "dot");
    rows_.thin_out(kept);
    const PatternSpec same = sparse ? reference(scores) : kept;
    std::string s = masked(scores, queries, keys(), all_heads);
    s = rows_.add("softmax", "softmax", {queries, 0, keys(), all_heads}, {s});
    rows_.thin_out(same);
    s = drop(shape_.dropout.attention, "attn_drop", queries, keys(), s, all_heads);
    std::string ctx = rows_.add("bmm", "ctx", {rows, keys(), width, groups}, {s, heads.v}, "dot");
    rows_.thin_out(same);
    return ctx;
  }

  // Rows 14 to 18.
  std::string feed_forward(const std::string& x, const std::string& skip) {
    const bool routes = has_experts();
    const std::string y = routes ? experts(x) : block("", shape_.ffn, inputs(x));
    const bool bias = shape_.ffn_bias && !routes;
    return residual("f_add", bias, finish("f", y), skip);
  }

  // A feed-forward block, without the bias of its last product.
  std::string block(const std::string& name, std::uint32_t inner,
                    const std::vector<std::string>& x) {
    const std::string h = shape_.gated ? gated(name, inner, x) : plain(name, inner, x);
    return prunable(name + "ffn2", "ffn2", d(), inner, h);
  }

  std::string gated(const std::string& name, std::uint32_t inner,
                    const std::vector<std::string>& x) {
    const std::uint32_t n = tokens_of_block_;
    std::string gate = prunable(name + "gate", "ffn1", inner, d(), x);
    std::string up = prunable(name + "up", "ffn1", inner, d(), x);
    if (shape_.ffn_bias) {
      gate = eltwise(name + "gate_bias", "bias", inner, n, {gate});
      up = eltwise(name + "up_bias", "bias", inner, n, {up});
    }
    if (shape_.activation == "silu") return eltwise(name + "act", "swiglu", inner, n, {gate, up});
    gate = eltwise(name + "gate_act", shape_.activation, inner, n, {gate});
    return eltwise(name + "act", "mul", inner, n, {gate, up});
  }

  std::string plain(const std::string& name, std::uint32_t inner,
                    const std::vector<std::string>& x) {
    const std::uint32_t n = tokens_of_block_;
    std::string h = prunable(name + "ffn1", "ffn1", inner, d(), x);
    if (shape_.ffn_bias && shape_.activation == "gelu") {
      return eltwise(name + "act", "bias_gelu", inner, n, {h});
    }
    if (shape_.ffn_bias) h = eltwise(name + "bias", "bias", inner, n, {h});
    return eltwise(name + "act", shape_.activation, inner, n, {h});
  }

  static std::string expert_name(std::uint32_t expert) { return fmt::format("e{}.", expert); }

  // Tokens of each expert of this layer.
  std::vector<std::uint32_t> routed() const {
    return tokens_of_experts(options_.routing, layer_, shape_.experts.count, shape_.experts.chosen,
                             columns_);
  }

  // Each token goes to its experts, whose results come back weighted and are added up. A single
  // token is where they all are.
  std::string experts(const std::string& x) {
    const std::string chosen = router(x);
    const bool moves = columns_ > 1;
    const std::vector<std::uint32_t> tokens = routed();
    std::vector<std::string> taken = {x, chosen};
    if (moves) taken = moved("dispatch", "gather", tokens, taken);
    std::vector<std::string> results;
    for (std::uint32_t expert = 0; expert < tokens.size(); ++expert) {
      if (tokens[expert] == 0) continue;
      tokens_of_block_ = tokens[expert];
      std::string y = block(expert_name(expert), shape_.experts.ffn, taken);
      if (!moves) y = eltwise(expert_name(expert) + "weigh", "scale", d(), 1, {y, chosen});
      results.push_back(std::move(y));
    }
    tokens_of_block_ = columns_;
    return with_shared(moves ? combined(results, chosen, tokens) : added(results), x);
  }

  // Scores of all experts, of which the largest are taken out one after the other.
  std::string router(const std::string& x) {
    const ExpertShape& e = shape_.experts;
    std::string scores = rows_.add("gemm", "router", {e.count, d(), columns_}, inputs(x));
    if (!e.one_by_one) {
      scores = rows_.add("softmax", "route", {columns_, 0, e.count}, {scores});
      scores = rows_.add("take_max", "choose", {columns_, 0, e.count}, {scores});
      rows_.last().repeat = e.chosen;
      return scores;
    }
    for (std::uint32_t i = 0; i < e.chosen; ++i) {
      scores = rows_.add("softmax", fmt::format("route{}", i), {columns_, 0, e.count}, {scores});
      scores = rows_.add("take_max", fmt::format("choose{}", i), {columns_, 0, e.count}, {scores});
    }
    return scores;
  }

  std::string combined(std::vector<std::string> results, const std::string& chosen,
                       const std::vector<std::uint32_t>& tokens) {
    const std::uint32_t copies = columns_ * shape_.experts.chosen;
    results.push_back(chosen);
    const std::string y = eltwise("weigh", "scale", d(), copies, std::move(results));
    return moved("combine", "scatter_add", tokens, {y}).back();
  }

  // Tokens to experts or back, in as many rounds as a token has choices: each round moves as many
  // copies as there are tokens, in the order of the experts. Rounds that add up follow each other.
  std::vector<std::string> moved(const char* name, const char* fn,
                                 const std::vector<std::uint32_t>& tokens,
                                 const std::vector<std::string>& from) {
    const std::uint32_t rounds = shape_.experts.chosen;
    std::vector<std::string> ids;
    for (std::uint32_t i = 0; i < rounds; ++i) {
      std::vector<std::string> inputs = from;
      if (i != 0 && std::string(fn) == "scatter_add") inputs.push_back(ids.back());
      const std::string id = rounds == 1 ? name : fmt::format("{}{}", name, i);
      ids.push_back(rows_.add("embed", id, {d(), columns_, columns_}, std::move(inputs), fn));
      set_routing(options_.routing, layer_, rounds, tokens, rows_.last());
      if (i != 0) rows_.last().args.emplace_back("round", std::to_string(i));
    }
    return ids;
  }

  std::string added(const std::vector<std::string>& results) {
    std::string sum = results.front();
    for (std::size_t i = 1; i < results.size(); ++i) {
      sum = eltwise(fmt::format("combine{}", i), "add", d(), columns_, {sum, results[i]});
    }
    return sum;
  }

  // The expert that every token takes.
  std::string with_shared(const std::string& sum, const std::string& x) {
    const ExpertShape& e = shape_.experts;
    if (e.shared == 0) return sum;
    std::string y = block("shared.", e.shared, inputs(x));
    if (e.shared_gate) {
      const std::string score = rows_.add("gemm", "shared.router", {1, d(), columns_}, inputs(x));
      const std::string gate = eltwise("shared.route", "sigmoid", 1, columns_, {score});
      y = eltwise("shared.weigh", "scale", d(), columns_, {y, gate});
    }
    return eltwise("shared.add", "add", d(), columns_, {sum, y});
  }

  // The convolution module of GroupBERT: gated, grouped by 16 channels, 7 taps.
  std::string convolution(const std::string& x) {
    constexpr std::uint32_t kGroup = 16;
    constexpr std::uint32_t kTaps = 7;
    std::string h = norm("conv_ln", x);
    h = prunable("conv_glu", "ffn1", 2 * d(), d(), h);
    h = eltwise("conv_gate", "glu", d(), columns_, {h});
    h = rows_.add("gemm", "conv", {kGroup, kGroup * kTaps, columns_, d() / kGroup}, {h});
    rows_.last().args = {{"x_unique", std::to_string(std::uint64_t{kGroup} * columns_)}};
    h = norm("conv_ln2", h);
    h = eltwise("conv_act", "silu", d(), columns_, {h});
    h = prunable("conv_proj", "ffn2", d(), d(), h);
    return residual("conv_add", true, finish("conv", h), x);
  }

  // Of GroupBERT: up, a product in four groups, and a projection.
  std::string grouped_ffn(const std::string& name, const std::string& x) {
    constexpr std::uint32_t kGroups = 4;
    std::string h = norm(name + "_ln", x);
    h = prunable(name + "_up", "ffn1", shape_.ffn, d(), h);
    h = eltwise(name + "_act", "bias_gelu", shape_.ffn, columns_, {h});
    h = rows_.add("gemm", name + "_down", {d() / kGroups, shape_.ffn / kGroups, columns_, kGroups},
                  {h});
    h = prunable(name + "_proj", "ffn2", d(), d(), h);
    return residual(name + "_add", true, finish(name, h), x);
  }

  std::string embedding() {
    rows_.begin_layer("embed");
    std::string x = rows_.add("embed", "tokens", {d(), shape_.vocabulary, columns_}, {}, "gather");
    if (shape_.scaled_embedding) x = eltwise("scale", "scale", d(), columns_, {x});
    if (shape_.position_table) x = eltwise("positions", "add", d(), columns_, {x});
    if (is_bert()) {
      if (shape_.types != 0) x = eltwise("types", "add", d(), columns_, {x});
      x = norm("ln", x);
    }
    return drop(shape_.dropout.embedding, "drop", d(), columns_, x);
  }

  void heads(const std::string& x) {
    rows_.begin_layer("head");
    const std::uint32_t v = shape_.vocabulary;
    if (!is_bert()) {
      const std::string ln = norm("ln", x);
      std::string logits = rows_.add("gemm", "out", {v, d(), columns_}, inputs(ln));
      rows_.thin_out(ruled(rules_, "head.out", {}, true));  // no pattern of all weights is for it
      if (shape_.head_bias) logits = eltwise("bias", "bias", v, columns_, {logits});
      if (shape_.scaled_logits) logits = eltwise("logit_scale", "scale", v, columns_, {logits});
      if (shape_.logit_cap) {
        logits = eltwise("cap_scale", "scale", v, columns_, {logits});
        logits = eltwise("cap", "tanh", v, columns_, {logits});
        logits = eltwise("cap_back", "scale", v, columns_, {logits});
      }
      rows_.add("softmax", "softmax", {columns_, 0, v}, {logits});
      return;
    }
    const std::uint32_t automatic = options_.tokens <= 128 ? 20 : 76;
    const std::uint32_t predictions = options_.predictions == 0 ? automatic : options_.predictions;
    const std::uint32_t p = options_.sequences * predictions;
    const std::uint32_t b = options_.sequences;
    std::string h = rows_.add("gemm", "mlm_dense", {d(), d(), p}, inputs(x));
    h = eltwise("mlm_act", "gelu", d(), p, {h});
    h = rows_.add("layernorm", "mlm_ln", {d(), 0, p}, {h});
    h = rows_.add("gemm", "mlm_out", {v, d(), p}, {h});
    rows_.add("softmax", "mlm_softmax", {p, 0, v}, {h});
    h = rows_.add("gemm", "pooler", {d(), d(), b}, inputs(x));
    h = eltwise("pooler_act", "tanh", d(), b, {h});
    rows_.add("gemm", "nsp", {2, d(), b}, {h});
  }

  const ModelShape& shape_;
  const TransformerOptions& options_;
  std::vector<PatternRule> rules_ = options_.rules;
  std::map<std::string, std::string> first_rows_;  // that have the mask others share
  TraceBuilder rows_;
  std::uint32_t columns_;  // tokens in all
  std::uint32_t layer_ = 0;
  std::uint32_t tokens_of_block_ = columns_;  // of all, or of the expert at hand
};

[[noreturn]] void fail(const ModelShape& shape, const std::string& found,
                       const std::string& allowed) {
  refuse_request("{}: found {}; allowed: {}", shape.name, found, allowed);
}

void check_sizes(const ModelShape& shape, const TransformerOptions& options) {
  if (options.tokens > shape.positions || options.context > shape.positions) {
    fail(shape, fmt::format("{} tokens", std::max(options.tokens, options.context)),
         fmt::format("at most {} tokens in a sequence", shape.positions));
  }
  if (options.layers > shape.layers) {
    fail(shape, fmt::format("{} layers", options.layers), fmt::format("at most {}", shape.layers));
  }
  if (options.sequences == 0 || options.tokens == 0) fail(shape, "no tokens", "at least one token");
  const bool bert = shape.family == ModelFamily::bert || shape.family == ModelFamily::group_bert;
  if (options.predictions != 0 && !(bert && options.heads)) {
    fail(shape, "masked positions to predict",
         bert ? "none without heads" : "none but of BERT's head");
  }
  if (std::uint64_t{options.sequences} * options.tokens > kMostSide) {
    fail(shape, "more than 2^31 - 1 tokens", "fewer sequences or tokens");
  }
  if (options.part == Part::decode && options.context == 0) {
    fail(shape, "decode without context", "a context of at least one token");
  }
}

void check_attention(const ModelShape& shape, const TransformerOptions& options) {
  const bool sparse_attention = options.causal || options.attention.name != "dense";
  if (options.part == Part::decode && sparse_attention) {
    fail(shape, "decode with sparse attention", "decode alone, as it has no hidden tokens");
  }
  if (options.causal && options.attention.name != "dense") {
    fail(shape, "causal attention and another", "one of them; window takes causal=1");
  }
  if (sparse_attention && !options.causal) {
    for (const PatternDiagnostic& problem :
         check_pattern(options.attention, options.tokens, options.tokens)) {
      refuse_request("attention={}: found '{}' ({}); allowed: {}", pattern_label(options.attention),
                     problem.found, problem.cell, problem.allowed);
    }
  }
  if (options.part != Part::training && (options.recipe != Recipe::plain || options.loss_scaling)) {
    fail(shape, "a training recipe", "none without part=training");
  }
  const std::uint64_t heads = std::uint64_t{options.sequences} * options.tokens * shape.heads;
  if (shape.qk_norm == QkNorm::head && heads > kMostSide) {
    fail(shape, "more than 2^31 - 1 heads of tokens", "fewer sequences or tokens");
  }
}

void check_experts(const ModelShape& shape, const TransformerOptions& options) {
  if (shape.experts.count != 0) {
    if (options.part == Part::training) {
      fail(shape, "training of experts", "weights, forward or decode of a model with experts");
    }
    const std::uint64_t tokens = options.part == Part::decode ? 1 : options.tokens;
    if (options.sequences * tokens * shape.experts.chosen > kMostSide) {
      fail(shape, "more than 2^31 - 1 tokens of experts", "fewer sequences or tokens");
    }
  } else if (options.routing_given) {
    fail(shape, "a routing of tokens to experts", "none, as the model has no experts");
  }
}

void check(const ModelShape& shape, const TransformerOptions& options) {
  check_sizes(shape, options);
  check_attention(shape, options);
  check_experts(shape, options);
  if (options.part == Part::weights && shape.family == ModelFamily::group_bert) {
    fail(shape, "the weights alone", "forward or training for this family");
  }
}

}  // namespace

WorkloadTrace make_transformer(const ModelShape& shape, const TransformerOptions& options) {
  check(shape, options);
  WorkloadTrace trace = TransformerMaker(shape, options).make();
  trace.name = shape.name;
  if (options.share_density) share_density(trace);
  if (options.part == Part::training) append_training(trace, options, shape);
  return trace;
}

}  // namespace lacuna
