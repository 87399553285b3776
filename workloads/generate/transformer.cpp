// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

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
      rows_.begin_layer(fmt::format("l{}", l));
      x = options_.part == Part::weights ? weights_of_layer(x) : layer(x);
    }
    if (options_.heads) heads(x);
    for (const PatternRule& rule : rules_) {
      if (rule.used) continue;
      throw RequestError(
          fmt::format("--sparse {}: no weight of {} has such a name; allowed: names "
                      "like l0.ffn1, with * for any text",
                      rule.where, shape_.name));
    }
    return rows_.take();
  }

 private:
  using Shape = TraceBuilder::Shape;

  bool training() const { return options_.part == Part::training; }
  bool decode() const { return options_.part == Part::decode; }
  bool is_llama() const { return shape_.family == ModelFamily::llama; }
  bool is_bert() const { return shape_.family == ModelFamily::bert || is_group_bert(); }
  bool is_group_bert() const { return shape_.family == ModelFamily::group_bert; }
  // BERT normalises after a block, all others before it.
  bool norm_first() const { return shape_.family != ModelFamily::bert; }
  std::uint32_t d() const { return shape_.width; }
  std::uint32_t kv_width() const { return shape_.head_width() * shape_.kv_heads; }

  static std::vector<std::string> inputs(const std::string& x) {
    return x.empty() ? std::vector<std::string>{} : std::vector<std::string>{x};
  }

  std::string eltwise(const std::string& name, const std::string& fn, std::uint32_t m,
                      std::uint32_t n, std::vector<std::string> from, std::uint32_t batch = 1) {
    return rows_.add("eltwise", name, {m, 0, n, batch}, std::move(from), fn);
  }

  std::string norm(const std::string& name, const std::string& x) {
    return rows_.add(is_llama() ? "rmsnorm" : "layernorm", name, {d(), 0, columns_}, inputs(x));
  }

  std::string drop(const std::string& name, std::uint32_t m, std::uint32_t n, const std::string& x,
                   std::uint32_t batch = 1) {
    return training() ? eltwise(name, "dropout", m, n, inputs(x), batch) : x;
  }

  // A product with prunable weights; `role` tells generators of trained masks what it is.
  std::string prunable(const std::string& name, const char* role, std::uint32_t m, std::uint32_t k,
                       const std::string& x) {
    return prunable(name, role, m, k, inputs(x));
  }

  std::string prunable(const std::string& name, const char* role, std::uint32_t m, std::uint32_t k,
                       std::vector<std::string> from) {
    std::string id = rows_.add("gemm", name, {m, k, columns_}, std::move(from));
    PatternSpec pattern = pattern_of(rows_.last());
    const bool given = find_value(pattern.args, "role") != nullptr;
    if (pattern.name == "magnitude" && !given) pattern.args.emplace_back("role", role);
    rows_.thin_out(std::move(pattern));
    return id;
  }

  // What the last rule says; the mask of the first layer if all share one.
  PatternSpec pattern_of(const LayerOp& row) {
    PatternSpec pattern = options_.pattern;
    for (PatternRule& rule : rules_) {
      if (!matches(rule.where, row.layer)) continue;
      rule.used = true;
      pattern = rule.pattern;
    }
    if (!options_.same_mask || pattern.name == "dense") return pattern;
    const std::string name = row.layer.substr(row.layer.find('.') + 1);
    const auto [first, is_new] = first_rows_.emplace(
        fmt::format("{} {}x{} {}", name, row.m, row.k, pattern_label(pattern)), row.id);
    return is_new ? pattern : reference(first->second);
  }

  std::string residual(const std::string& name, const std::string& block, const std::string& x) {
    std::vector<std::string> from{block};
    if (!x.empty()) from.push_back(x);
    return eltwise(name, is_llama() ? "add" : "bias_add", d(), columns_, std::move(from));
  }

  std::string weights_of_layer(const std::string& x) {
    const std::string q = prunable("q", "qkv", d(), d(), x);
    const std::string k = prunable("k", "qkv", kv_width(), d(), x);
    const std::string v = prunable("v", "qkv", kv_width(), d(), x);
    const std::string o = prunable("o", "out", d(), d(), std::vector<std::string>{q, k, v});
    std::vector<std::string> up;
    if (is_llama()) up.push_back(prunable("gate", "ffn1", shape_.ffn, d(), o));
    up.push_back(prunable(is_llama() ? "up" : "ffn1", "ffn1", shape_.ffn, d(), o));
    return prunable("ffn2", "ffn2", d(), shape_.ffn, std::move(up));
  }

  std::string layer(const std::string& x) {
    if (is_group_bert()) {
      const std::string c = convolution(x);
      const std::string f = grouped_ffn("f1", c);
      return grouped_ffn("f2", attention(norm("attn_ln", f), f));
    }
    if (!norm_first()) {
      const std::string ln1 = norm("ln1", attention(x, x));
      return norm("ln2", feed_forward(ln1, ln1));
    }
    const std::string a = attention(norm("ln1", x), x);
    return feed_forward(norm("ln2", a), a);
  }

  // Rows 1 to 12: from `x`, normalised or not, to the sum with `skip`.
  std::string attention(const std::string& x, const std::string& skip) {
    std::string q = prunable("q", "qkv", d(), d(), x);
    std::string k = prunable("k", "qkv", kv_width(), d(), x);
    std::string v = prunable("v", "qkv", kv_width(), d(), x);
    if (is_llama()) {
      q = eltwise("q_rope", "rope", d(), columns_, {q});
      k = eltwise("k_rope", "rope", kv_width(), columns_, {k});
    } else {
      q = k = v = eltwise("qkv_bias", "bias", d() + 2 * kv_width(), columns_, {q, k, v});
    }
    const bool sparse = options_.causal || options_.attention.name != "dense";
    const std::string ctx = sparse ? sparse_core(q, k, v) : full_core(q, k, v);
    const std::string o = prunable("o", "out", d(), d(), ctx);
    return residual("o_add", drop("o_drop", d(), columns_, o), skip);
  }

  // Query heads that share one key and value head are rows of one product.
  std::string full_core(const std::string& q, const std::string& k, const std::string& v) {
    const std::uint32_t groups = options_.sequences * shape_.kv_heads;
    const std::uint32_t queries = decode() ? 1 : options_.tokens;
    const std::uint32_t keys = decode() ? options_.context : options_.tokens;
    const std::uint32_t rows = queries * (shape_.heads / shape_.kv_heads);
    const std::uint32_t all_heads = options_.sequences * shape_.heads;
    std::vector<std::string> from{q};
    if (k != q) from.push_back(k);
    std::string s =
        rows_.add("bmm", "scores", {rows, shape_.head_width(), keys, groups}, from, "dot");
    s = eltwise("scale", "scale_mask", queries, keys, {s}, all_heads);
    s = rows_.add("softmax", "softmax", {queries, 0, keys, all_heads}, {s});
    s = drop("attn_drop", queries, keys, s, all_heads);
    return rows_.add("bmm", "ctx", {rows, keys, shape_.head_width(), groups}, {s, v}, "dot");
  }

  // Only what is kept is computed, head by head.
  std::string sparse_core(const std::string& q, const std::string& k, const std::string& v) {
    const std::uint32_t t = options_.tokens;
    const std::uint32_t batch = options_.sequences * shape_.heads;
    std::vector<std::string> from{q};
    if (k != q) from.push_back(k);
    const std::string scores =
        rows_.add("sddmm", "scores", {t, shape_.head_width(), t, batch}, from);
    PatternSpec kept = options_.attention;
    if (options_.causal) kept.name = "causal";
    rows_.thin_out(std::move(kept));
    std::string s = eltwise("scale", "scale_mask", t, t, {scores}, batch);
    s = rows_.add("softmax", "softmax", {t, 0, t, batch}, {s});
    rows_.thin_out(reference(scores));
    s = drop("attn_drop", t, t, s, batch);
    std::string ctx = rows_.add("bmm", "ctx", {t, t, shape_.head_width(), batch}, {s, v}, "dot");
    rows_.thin_out(reference(scores));
    return ctx;
  }

  // Rows 14 to 18.
  std::string feed_forward(const std::string& x, const std::string& skip) {
    const std::uint32_t f = shape_.ffn;
    std::string h;
    if (is_llama()) {
      const std::string gate = prunable("gate", "ffn1", f, d(), x);
      const std::string up = prunable("up", "ffn1", f, d(), x);
      h = eltwise("act", "swiglu", f, columns_, {gate, up});
    } else if (shape_.family == ModelFamily::opt) {
      h = eltwise("bias", "bias", f, columns_, {prunable("ffn1", "ffn1", f, d(), x)});
      h = eltwise("act", "relu", f, columns_, {h});
    } else {
      h = eltwise("act", "bias_gelu", f, columns_, {prunable("ffn1", "ffn1", f, d(), x)});
    }
    const std::string down = prunable("ffn2", "ffn2", d(), f, h);
    return residual("f_add", drop("f_drop", d(), columns_, down), skip);
  }

  // The convolution module of GroupBERT: gated, grouped by 16 channels, 7 taps.
  std::string convolution(const std::string& x) {
    constexpr std::uint32_t kGroup = 16;
    constexpr std::uint32_t kTaps = 7;
    std::string h = norm("conv_ln", x);
    h = prunable("conv_glu", "ffn1", 2 * d(), d(), h);
    h = eltwise("conv_gate", "glu", d(), columns_, {h});
    h = rows_.add("gemm", "conv", {kGroup, kGroup * kTaps, columns_, d() / kGroup}, {h});
    rows_.last().args = {{"x_unique", fmt::format("{}", std::uint64_t{kGroup} * columns_)}};
    h = norm("conv_ln2", h);
    h = eltwise("conv_act", "silu", d(), columns_, {h});
    h = prunable("conv_proj", "ffn2", d(), d(), h);
    return residual("conv_add", drop("conv_drop", d(), columns_, h), x);
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
    return residual(name + "_add", drop(name + "_drop", d(), columns_, h), x);
  }

  std::string embedding() {
    rows_.begin_layer("embed");
    std::string x = rows_.add("embed", "tokens", {d(), shape_.vocabulary, columns_}, {}, "gather");
    if (!is_llama()) x = eltwise("positions", "add", d(), columns_, {x});
    if (is_bert()) {
      x = eltwise("types", "add", d(), columns_, {x});
      x = norm("ln", x);
    }
    return is_llama() ? x : drop("drop", d(), columns_, x);
  }

  void heads(const std::string& x) {
    rows_.begin_layer("head");
    const std::uint32_t v = shape_.vocabulary;
    if (!is_bert()) {
      const std::string ln = norm("ln", x);
      const std::string logits = rows_.add("gemm", "out", {v, d(), columns_}, inputs(ln));
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
};

void check(const ModelShape& shape, const TransformerOptions& options) {
  const auto fail = [&shape](const std::string& found, const std::string& allowed) {
    throw RequestError(fmt::format("{}: found {}; allowed: {}", shape.name, found, allowed));
  };
  if (options.tokens > shape.positions || options.context > shape.positions) {
    fail(fmt::format("{} tokens", std::max(options.tokens, options.context)),
         fmt::format("at most {} tokens in a sequence", shape.positions));
  }
  if (options.layers > shape.layers) {
    fail(fmt::format("{} layers", options.layers), fmt::format("at most {}", shape.layers));
  }
  if (options.sequences == 0 || options.tokens == 0) fail("no tokens", "at least one token");
  constexpr std::uint64_t kMostColumns = 0x7fffffff;
  if (std::uint64_t{options.sequences} * options.tokens > kMostColumns) {
    fail("more than 2^31 - 1 tokens", "fewer sequences or tokens");
  }
  if (options.part == Part::decode && options.context == 0) {
    fail("decode without context", "a context of at least one token");
  }
  const bool sparse_attention = options.causal || options.attention.name != "dense";
  if (options.part == Part::decode && sparse_attention) {
    fail("decode with sparse attention", "decode alone, as it has no hidden tokens");
  }
  if (options.causal && options.attention.name != "dense") {
    fail("causal attention and another", "one of them; window takes causal=1");
  }
  if (sparse_attention && !options.causal) {
    for (const PatternProblem& problem :
         check_pattern(options.attention, options.tokens, options.tokens)) {
      throw RequestError(fmt::format("attention={}: found '{}' ({}); allowed: {}",
                                     pattern_label(options.attention), problem.found, problem.cell,
                                     problem.allowed));
    }
  }
  if (options.part != Part::training && (options.recipe != Recipe::plain || options.loss_scaling)) {
    fail("a training recipe", "none without part=training");
  }
  if (options.part == Part::weights && shape.family == ModelFamily::group_bert) {
    fail("the weights alone", "forward, training or decode for this family");
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
