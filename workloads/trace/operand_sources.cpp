// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/operand_sources.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

using Kind = OperandSource::Kind;

struct Source : OperandSource {
  std::string maker;  // id of the row that made it; empty: none did, or it is a result
};

/// A row whose result is a matrix of features and tokens.
bool gives_activations(const LayerOp& op) {
  static const std::set<std::string> kOps{"gemm",      "spmm",    "eltwise",
                                          "layernorm", "rmsnorm", "embed"};
  return op.batch == 1 && op.n != 0 && op.phase != Phase::upd && kOps.count(op.op) != 0;
}

bool gives_scores(const LayerOp& op) {
  return op.batch > 1 && (op.op == "eltwise" || op.op == "softmax");
}

bool is_attention(const LayerOp& op) {
  return (op.op == "bmm" || op.op == "sddmm") && op.batch > 1 && op.phase != Phase::upd;
}

/// The gradient of a weight: W, X and Y are dY, X and dW.
bool is_weight_gradient(const LayerOp& op) {
  const bool dense =
      op.op == "bmm" && op.pattern.name == "dense" && (op.fn.empty() || op.fn == "dot");
  return (op.op == "sddmm" || dense) && op.batch == 1 && op.phase == Phase::bwd;
}

/// Whether the weights of a product surely stay on the chip, and X is what is streamed.
bool weights_stay(const LayerOp& op) {
  return op.residency == Residency::resident || residency_of_kernel(op.mode) == Residency::resident;
}

/// What a product with weights works on, where it does.
Source held_by(const LayerOp& op) {
  Source source;
  source.kind = Kind::held;
  source.features = op.k;
  source.tokens = op.n;
  source.of_product = true;
  source.maker = op.id;
  return source;
}

Source activations(const LayerOp& op) {
  Source source;
  source.kind = Kind::activations;
  source.features = op.m;
  source.tokens = op.n;
  source.of_product = has_weights(op);
  source.unit = op.fn == "rope" ? 2 : 1;
  source.maker = op.id;
  return source;
}

Source scores(bool transposed = false) {
  Source source;
  source.kind = Kind::scores;
  source.transposed = transposed;
  return source;
}

/// Where the gradient of an operand has to be: as it was, but for what only weights do.
Source gradient_of(Source source) {
  source.of_product = false;
  source.maker.clear();
  // those of heads that share an operand are added up somewhere, no row says where
  if (source.copies != 1) source.kind = Kind::unknown;
  return source;
}

bool has_sides(const LayerOp& op, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  return op.m == m && op.k == k && op.n == n;
}

class Finder {
 public:
  explicit Finder(WorkloadTrace& trace) : trace_(trace) {
    for (const LayerOp& op : trace.ops) {
      rows_.emplace(op.id, &op);
      if (gives_scores(op)) scores_.emplace(op.batch, op.m, op.n);
      if (op.phase == Phase::fwd) forward_.emplace(op.layer, &op);
    }
  }

  void fill() {
    for (LayerOp& op : trace_.ops) {
      sources_[op.id].clear();
      if (has_weights(op) && op.batch == 1) products_[op.layer].push_back(&op);
      if (is_weight_gradient(op)) {
        fill_weight_gradient(op);
      } else if (is_attention(op)) {
        if (!fill_gradient(op)) fill_attention(op);
      } else if (gives_activations(op) && op.op != "embed") {
        fill_plain(op);
      }
      const std::vector<Source>& found = sources_[op.id];
      op.sources.assign(found.begin(), found.end());
    }
  }

  /// Of a row, the ids of the rows that made its sources.
  std::vector<std::string> makers(const LayerOp& op) {
    std::vector<std::string> makers;
    for (const Source& source : sources_[op.id]) makers.push_back(source.maker);
    return makers;
  }

 private:
  /// The rows that `op` depends on and that give what `gives` says.
  template <class Gives>
  std::vector<const LayerOp*> makers_of(const LayerOp& op, const Gives& gives) const {
    std::vector<const LayerOp*> makers;
    for (const std::string& id : op.depends_on) {
      const auto* const row = value_in(rows_, id);
      if (row != nullptr && gives(**row)) makers.push_back(*row);
    }
    return makers;
  }
  const LayerOp* forward_of(const LayerOp& op) const {
    const auto* const row = value_in(forward_, op.layer);
    return row == nullptr ? nullptr : *row;
  }

  std::vector<Source> results_for(const LayerOp& op);

  struct Scores {
    bool taken = false;
    bool fit = true;        // they are as many as the product takes,
    bool lie_alike = true;  // and in as many matrices
  };
  Scores scores_of(const LayerOp& op) const;
  static Source part_of(const std::vector<const LayerOp*>& makers, std::uint64_t features,
                        std::uint64_t before, std::uint64_t all);
  static Source taken_of(const std::vector<const LayerOp*>& makers, std::uint64_t asked,
                         std::uint64_t kept, std::uint64_t heads, bool keys);

  void fill_plain(LayerOp& op);
  bool fill_part(LayerOp& op);
  void fill_attention(LayerOp& op);
  bool fill_gradient(LayerOp& op);
  void fill_gradient_of_context(LayerOp& op, const std::vector<Source>& of, const Source& gradients,
                                bool is_first);
  const LayerOp* product_of(const LayerOp& op, Phase phase, std::uint32_t m, std::uint32_t k) const;
  void fill_weight_gradient(LayerOp& op);

  WorkloadTrace& trace_;
  std::map<std::string, const LayerOp*> rows_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> scores_;  // sizes
  std::map<std::string, const LayerOp*> forward_;                             // by layer
  std::map<std::string, const LayerOp*> gradients_;     // the first of a product of attention
  std::map<std::string, std::vector<Source>> sources_;  // of the rows so far, by id
  std::map<std::string, std::vector<const LayerOp*>> products_;  // with weights so far, by layer
};

/// The activations that the rows before `op` leave, heads put together among them.
std::vector<Source> Finder::results_for(const LayerOp& op) {
  std::vector<Source> results;
  for (const LayerOp* maker : makers_of(op, [](const LayerOp& /*any*/) { return true; })) {
    if (gives_activations(*maker)) results.push_back(activations(*maker));
    const std::vector<Source>& sources = sources_[maker->id];
    if (!is_attention(*maker) || sources.size() != 3) continue;
    if (sources[2].kind != Kind::activations) continue;
    results.push_back(sources[2]);
    results.back().first = 0;
    results.back().shared = 1;
    results.back().maker = maker->id;
  }
  return results;
}

/// Operands as wide as the row's, or parts of one.
void Finder::fill_plain(LayerOp& op) {
  const std::uint32_t width = has_weights(op) ? op.k : op.m;
  std::uint64_t together = 0;
  bool whole = true;
  std::vector<Source> results = results_for(op);
  for (const Source& result : results) {
    if (result.tokens != op.n) return;
    whole = whole && result.features == width;
    together += result.features;
  }
  if (results.size() == 1 && !whole && fill_part(op)) return;
  if (!whole && together != width) return;
  std::uint32_t place = 0;
  for (Source& result : results) {
    result.place = place;
    if (!whole) place += result.features;
  }
  sources_[op.id] = std::move(results);
}

/// Of one wider row: halves of a gated unit, or the gradient of the part that `op`'s forward row
/// made. Of one half as wide, the two gradients of a gated unit.
bool Finder::fill_part(LayerOp& op) {
  const std::vector<const LayerOp*> makers = makers_of(op, gives_activations);
  if (makers.empty()) return false;
  const LayerOp& maker = *makers[0];
  const std::uint32_t width = has_weights(op) ? op.k : op.m;
  Source source = activations(maker);
  if (op.fn == "glu" && maker.m == 2 * std::uint64_t{width} && op.phase == Phase::fwd) {
    sources_[op.id] = {source, source};
    sources_[op.id][1].first = width;
    return true;
  }
  if (maker.fn == "glu" && maker.phase == Phase::bwd && width == 2 * std::uint64_t{maker.m}) {
    sources_[op.id] = {source, source};
    sources_[op.id][1].place = maker.m;
    return true;
  }
  const LayerOp* const made = forward_of(op);
  const LayerOp* const joined = forward_of(maker);
  if (op.phase != Phase::bwd || made == nullptr || joined == nullptr || maker.m <= width) {
    return false;
  }
  for (const LayerOp* part : makers_of(*joined, gives_activations)) {
    if (part == made && part->m == width && source.first + width <= maker.m) {
      sources_[op.id] = {source};
      return true;
    }
    source.first += part->m;
  }
  return false;
}

/// What is known of the scores that a forward product takes, if it does. Queries that share keys
/// are rows of one matrix, and matrices of their own in a softmax.
Finder::Scores Finder::scores_of(const LayerOp& op) const {
  Scores scores;
  scores.taken =
      scores_.count({op.batch, op.m, op.k}) != 0 && scores_.count({op.batch, op.m, op.n}) == 0;
  for (const LayerOp* maker : makers_of(op, gives_scores)) {
    scores.taken = true;
    scores.lie_alike = scores.lie_alike && maker->batch == op.batch;
    const std::uint64_t rows = std::uint64_t{maker->batch} * maker->m;
    scores.fit = scores.fit && maker->n == op.k && rows == std::uint64_t{op.batch} * op.m;
  }
  return scores;
}

/// Activations of so many features: all of a row, or of the `all` of queries, keys and values in
/// one those after `before`.
Source Finder::part_of(const std::vector<const LayerOp*>& makers, std::uint64_t features,
                       std::uint64_t before, std::uint64_t all) {
  Source source;
  for (const LayerOp* maker : makers) {
    const bool alone = maker->m == features;
    if (maker->n != makers.back()->n || (!alone && maker->m != all)) continue;
    source = activations(*maker);
    source.first = alone ? 0 : static_cast<std::uint32_t>(before);
  }
  return source;
}

/// Keys or values, of `kept` features in all heads: each head's own, or those that several take.
Source Finder::taken_of(const std::vector<const LayerOp*>& makers, std::uint64_t asked,
                        std::uint64_t kept, std::uint64_t heads, bool keys) {
  Source source;
  for (std::uint64_t copies = 1; copies <= heads; ++copies) {
    if (heads % copies != 0) continue;
    const std::uint64_t own = kept / copies;
    source = part_of(makers, own, keys ? asked : asked + own, asked + 2 * own);
    source.copies = static_cast<std::uint32_t>(copies);
    if (source.kind != Kind::unknown) return source;
  }
  return {};
}

void Finder::fill_attention(LayerOp& op) {
  const std::vector<const LayerOp*> makers = makers_of(op, gives_activations);
  if (makers.empty() || op.phase == Phase::bwd) return;
  const Scores taken_scores = scores_of(op);
  if (!taken_scores.fit) return;
  const bool takes_scores = taken_scores.taken;
  const std::uint32_t keys = takes_scores ? op.k : op.n;   // of a sequence
  const std::uint32_t width = takes_scores ? op.n : op.k;  // of a head
  const std::uint32_t tokens = makers.back()->n;
  // Without a whole sequence there is a token of each.
  const bool cached = tokens % keys != 0;
  const std::uint32_t length = cached ? 1 : keys;
  if (op.m % length != 0 || op.batch % (tokens / length) != 0) return;
  const std::uint32_t shared = op.m / length;
  const std::uint64_t heads = std::uint64_t{op.batch} / (tokens / length);
  const std::uint64_t kept = heads * width;
  const std::uint64_t asked = kept * shared;
  // queries come before keys; matrices of one head each may take keys and values of fewer heads
  std::vector<const LayerOp*> of_keys = makers;
  std::vector<const LayerOp*> of_queries = makers;
  if (!takes_scores && makers.size() > 1) {
    of_keys.erase(of_keys.begin());
    of_queries.pop_back();
  }
  Source taken = taken_of(of_keys, asked, kept, shared == 1 ? heads : 1, !takes_scores);
  const std::uint64_t all = asked + 2 * kept / taken.copies;
  Source queries = takes_scores ? Source() : part_of(of_queries, asked, 0, all);
  queries.shared = shared;
  queries.by_heads = taken.by_heads = true;
  if (cached && taken.kind == Kind::activations) taken.kind = Kind::cache;
  const Source lying = taken_scores.lie_alike && shared == 1 ? scores() : Source();
  if (!takes_scores) {
    sources_[op.id] = {queries, taken, lying};
    return;
  }
  Source result;
  result.kind = Kind::activations;
  result.features = static_cast<std::uint32_t>(asked);
  result.tokens = tokens;
  result.shared = shared;
  result.by_heads = true;
  sources_[op.id] = {lying, taken, result};
}

/// S = Q K^T: dQ = dS K and dK = dS^T Q. C = P V: dP = dC V^T and dV = P^T dC. Scores and their
/// gradients lie alike, and so do operands and theirs. Returns whether `op` is such a row.
bool Finder::fill_gradient(LayerOp& op) {
  const LayerOp* const forward = forward_of(op);
  if (op.phase != Phase::bwd || forward == nullptr || !is_attention(*forward)) return false;
  const auto [known, is_first] = gradients_.emplace(op.layer, &op);
  const LayerOp& of = *forward;
  const std::vector<Source>& taken = sources_[of.id];
  if (taken.size() != 3) return true;
  const bool of_scores = !taken[2].by_heads;  // else it takes them
  if (is_first ? !has_sides(op, of.m, of.n, of.k)
               : !has_sides(op, of_scores ? of.n : of.k, of.m, of_scores ? of.k : of.n)) {
    return true;
  }
  const bool known_scores = taken[of_scores ? 2 : 0].kind == Kind::scores;
  const Source gradients = known_scores ? scores(!is_first) : Source();
  if (of_scores) {
    sources_[op.id] = {gradients, taken[is_first ? 1 : 0], gradient_of(taken[is_first ? 0 : 1])};
  } else {
    fill_gradient_of_context(op, taken, gradients, is_first);
  }
  return true;
}

/// dP, the first, or dV.
void Finder::fill_gradient_of_context(LayerOp& op, const std::vector<Source>& of,
                                      const Source& gradients, bool is_first) {
  // what comes back lies as it went, and is whole: that of the row it comes from
  Source back = of[2];
  for (const LayerOp* maker : makers_of(op, gives_activations)) {
    if (maker->m != back.features || maker->n != back.tokens) continue;
    back.of_product = has_weights(*maker);
    back.maker = maker->id;
  }
  if (is_first) {
    sources_[op.id] = {back, of[1], gradients};
  } else {
    sources_[op.id] = {gradients, back, gradient_of(of[1])};
  }
}

/// The last product before `op`, of its layer and tokens, that has this phase and weights; null if
/// there is none.
const LayerOp* Finder::product_of(const LayerOp& op, Phase phase, std::uint32_t m,
                                  std::uint32_t k) const {
  const auto* const products = value_in(products_, op.layer);
  if (products == nullptr || op.layer.empty()) return nullptr;
  const LayerOp* last = nullptr;
  for (const LayerOp* each : *products) {
    if (each->phase == phase && has_sides(*each, m, k, op.k)) last = each;
  }
  return last;
}

/// dW = dY X^T, of which dense weights have all: X lies where Y = W X had it, and dY where dX = W^T
/// dY did, or, without such a row before, where its maker left it.
void Finder::fill_weight_gradient(LayerOp& op) {
  const LayerOp* const forward = product_of(op, Phase::fwd, op.m, op.n);
  const LayerOp* const back = product_of(op, Phase::bwd, op.n, op.m);
  // as likely one of a product of activations
  if (op.op == "bmm" && forward == nullptr && back == nullptr) return;
  Source x;
  Source dy;
  if (forward != nullptr && !weights_stay(*forward)) x = held_by(*forward);
  if (back != nullptr && !weights_stay(*back)) dy = held_by(*back);
  for (const LayerOp* maker : makers_of(op, gives_activations)) {
    if (back != nullptr || maker->m != op.m || maker->n != op.k) continue;
    dy = activations(*maker);
  }
  if (x.kind == Kind::unknown && dy.kind == Kind::unknown) return;
  sources_[op.id] = {dy, x};
}

}  // namespace

void find_sources(WorkloadTrace& trace) { Finder(trace).fill(); }

std::vector<std::vector<std::string>> source_makers(const WorkloadTrace& trace) {
  WorkloadTrace filled = trace;
  Finder finder(filled);
  finder.fill();
  std::vector<std::vector<std::string>> makers;
  for (const LayerOp& op : filled.ops) makers.push_back(finder.makers(op));
  return makers;
}

}  // namespace lacuna
