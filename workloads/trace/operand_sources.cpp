// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/operand_sources.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace lacuna {
namespace {

using Kind = OperandSource::Kind;

bool is_product(const LayerOp& op) { return op.op == "gemm" || op.op == "spmm"; }

/// A row whose result is a matrix of features and tokens.
bool gives_activations(const LayerOp& op) {
  static const std::set<std::string> kOps{"gemm",      "spmm",    "eltwise",
                                          "layernorm", "rmsnorm", "embed"};
  return op.batch == 1 && op.n != 0 && op.phase != Phase::upd && kOps.count(op.op) != 0;
}

bool is_attention(const LayerOp& op) { return op.op == "bmm" && op.batch > 1; }

OperandSource activations(const LayerOp& op) {
  OperandSource source;
  source.kind = Kind::activations;
  source.features = op.m;
  source.tokens = op.n;
  source.of_product = is_product(op);
  source.unit = op.fn == "rope" ? 2 : 1;
  return source;
}

class Finder {
 public:
  explicit Finder(WorkloadTrace& trace) : trace_(trace) {
    for (const LayerOp& op : trace.ops) {
      rows_.emplace(op.id, &op);
      if (op.batch > 1 && (op.op == "eltwise" || op.op == "softmax")) {
        scores_.emplace(op.batch, op.m, op.n);
      }
      if (is_attention(op) && op.phase == Phase::fwd) forward_.emplace(op.layer, &op);
    }
  }

  void fill() {
    for (LayerOp& op : trace_.ops) {
      op.sources.clear();
      if (is_attention(op)) {
        fill_attention(op);
      } else if (gives_activations(op) && op.op != "embed") {
        fill_plain(op);
      }
    }
  }

 private:
  std::vector<const LayerOp*> makers_of(const LayerOp& op) const {
    std::vector<const LayerOp*> makers;
    for (const std::string& id : op.depends_on) {
      const auto found = rows_.find(id);
      if (found != rows_.end() && gives_activations(*found->second)) {
        makers.push_back(found->second);
      }
    }
    return makers;
  }

  void fill_plain(LayerOp& op) const;
  void fill_attention(LayerOp& op) const;

  WorkloadTrace& trace_;
  std::map<std::string, const LayerOp*> rows_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> scores_;
  std::map<std::string, const LayerOp*> forward_;
};

/// Operands as wide as the row's, or parts of one.
void Finder::fill_plain(LayerOp& op) const {
  const std::uint32_t width = is_product(op) ? op.k : op.m;
  std::uint64_t together = 0;
  bool whole = true;
  const std::vector<const LayerOp*> makers = makers_of(op);
  for (const LayerOp* maker : makers) {
    if (maker->n != op.n) return;
    whole = whole && maker->m == width;
    together += maker->m;
  }
  if (!whole && together != width) return;
  std::uint32_t place = 0;
  for (const LayerOp* maker : makers) {
    op.sources.push_back(activations(*maker));
    op.sources.back().place = place;
    if (!whole) place += maker->m;
  }
}

void Finder::fill_attention(LayerOp& op) const {
  std::vector<const LayerOp*> makers = makers_of(op);
  if (makers.empty()) {
    const auto forward = forward_.find(op.layer);
    if (forward != forward_.end()) makers = makers_of(*forward->second);
  }
  if (makers.empty()) return;
  const bool of_scores = scores_.count({op.batch, op.m, op.k}) != 0;
  const std::uint32_t length = of_scores ? op.k : op.n;  // tokens of a sequence
  const std::uint32_t width = of_scores ? op.n : op.k;   // of a head
  const std::uint32_t tokens = makers.back()->n;
  if (tokens % length != 0 || op.m % length != 0 || op.batch % (tokens / length) != 0) return;
  const std::uint64_t kept = std::uint64_t{op.batch} / (tokens / length) * width;
  const std::uint64_t asked = kept * (op.m / length);  // queries may share keys and values
  // Of the activations that are as wide, or of queries, keys and values in one.
  const auto part = [&](std::uint64_t features, std::uint64_t before) {
    OperandSource source;
    for (const LayerOp* maker : makers) {
      const bool alone = maker->m == features;
      if (maker->n != tokens || (!alone && maker->m != asked + 2 * kept)) continue;
      source = activations(*maker);
      source.first = alone ? 0 : static_cast<std::uint32_t>(before);
    }
    return source;
  };
  OperandSource scores;
  scores.kind = Kind::scores;
  OperandSource result = scores;
  if (of_scores) {
    result.kind = Kind::activations;
    result.features = static_cast<std::uint32_t>(asked);
    result.tokens = tokens;
  }
  op.sources = {of_scores ? scores : part(asked, 0), part(kept, of_scores ? asked + kept : asked),
                result};
}

}  // namespace

void find_sources(WorkloadTrace& trace) { Finder(trace).fill(); }

}  // namespace lacuna
