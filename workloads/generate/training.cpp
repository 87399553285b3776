// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "workloads/generate/transformer.hpp"

namespace lacuna {
namespace {

// "fwd.l0.q" with "_dx" is "bwd.l0.q_dx".
std::string backward_id(const std::string& id, const std::string& suffix = "") {
  return "bwd." + id.substr(id.find('.') + 1) + suffix;
}

std::string layer_of(const LayerOp& op) {
  const std::size_t start = op.id.find('.') + 1;
  return op.id.substr(start, op.id.find('.', start) - start);
}

PatternSpec reference(const LayerOp& op, bool transposed) {
  PatternSpec spec;
  if (op.pattern.name == "dense") return spec;
  spec.name = "ref";
  spec.args = {{"of", op.id}};
  if (transposed) spec.args.emplace_back("transpose", "1");
  return spec;
}

class Differentiator {
 public:
  Differentiator(WorkloadTrace& trace, const TransformerOptions& options)
      : trace_(trace), options_(options), forward_(trace.ops) {}

  void run() {
    for (auto op = forward_.rbegin(); op != forward_.rend(); ++op) {
      if (options_.recompute && layer_of(*op) != recomputed_) recompute(layer_of(*op));
      gradient_ = sum_gradients(*op);
      differentiate(*op);
    }
    for (const LayerOp& op : forward_) update(op);
  }

 private:
  // Adds a row made from a forward row.
  LayerOp& add(const LayerOp& from, const std::string& suffix, const std::string& op,
               std::uint32_t m, std::uint32_t k, std::uint32_t n) {
    LayerOp row;
    row.id = backward_id(from.id, suffix);
    row.op = op;
    row.model = from.model;
    row.layer = from.layer;
    row.phase = Phase::bwd;
    row.m = m;
    row.k = k;
    row.n = n;
    row.batch = from.batch;
    row.dtype = from.dtype;
    row.mode = from.mode;
    if (op == "bmm") row.fn = "dot";
    if (!gradient_.empty()) row.depends_on = {gradient_};
    trace_.ops.push_back(std::move(row));
    return trace_.ops.back();
  }

  // A value that r rows read has r gradients, which r - 1 additions bring together. The parts of
  // the joint bias of q, k and v are read by one row each, so there is nothing to add.
  std::string sum_gradients(const LayerOp& op) {
    const std::vector<std::string> parts = gradients_[op.id];
    if (parts.empty()) return "";
    const bool split =
        op.op == "eltwise" && op.fn == "bias" && op.id.find("qkv") != std::string::npos;
    if (split || parts.size() == 1) return parts.back();
    std::string sum = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      gradient_ = "";
      LayerOp& row = add(op, fmt::format("_sum{}", i), "eltwise", op.m, 0, op.n);
      row.fn = "add";
      row.depends_on = {sum, parts[i]};
      sum = row.id;
    }
    return sum;
  }

  void give(const LayerOp& op, std::size_t input, const std::string& gradient) {
    if (op.depends_on.empty()) return;
    const std::size_t last = op.depends_on.size() - 1;
    gradients_[op.depends_on[std::min(input, last)]].push_back(gradient);
  }

  void differentiate(const LayerOp& op) {
    if (op.op == "gemm") return gemm(op);
    if (op.op == "sddmm") return scores(op);
    if (op.op == "bmm" && op.id.find("scores") != std::string::npos) return scores(op);
    if (op.op == "bmm") return context(op);
    LayerOp& row = add(op, "", op.op, op.m, op.k, op.n);
    row.fn = op.op == "embed" ? "scatter_add" : op.fn;
    if (op.pattern.name != "dense") {
      row.pattern = op.pattern.name == "ref" ? op.pattern : reference(op, false);
    }
    const std::string id = row.id;
    // The gradient of a sum is that of each part.
    for (std::size_t i = 0; i < op.depends_on.size(); ++i) give(op, i, id);
  }

  void gemm(const LayerOp& op) {
    LayerOp& dx = add(op, "_dx", "gemm", op.k, op.m, op.n);
    dx.pattern = reference(op, true);
    give(op, 0, dx.id);
    // Sparse weights that stay sparse need the gradient of kept positions only.
    const bool sparse = op.pattern.name != "dense";
    LayerOp& dw = add(op, "_dw", sparse ? "sddmm" : "bmm", op.m, op.n, op.k);
    dw.pattern = reference(op, false);
  }

  // S = Q K^T: dQ = dS K and dK = dS^T Q.
  void scores(const LayerOp& op) {
    LayerOp& dq = add(op, "_dq", "bmm", op.m, op.n, op.k);
    dq.pattern = reference(op, false);
    give(op, 0, dq.id);
    LayerOp& dk = add(op, "_dk", "bmm", op.n, op.m, op.k);
    dk.pattern = reference(op, true);
    give(op, 1, dk.id);
  }

  // C = P V: dP = dC V^T and dV = P^T dC.
  void context(const LayerOp& op) {
    const bool sparse = op.pattern.name != "dense";
    LayerOp& dp = add(op, "_dp", sparse ? "sddmm" : "bmm", op.m, op.n, op.k);
    if (sparse) dp.fn = "";
    dp.pattern = reference(op, false);
    give(op, 0, dp.id);
    LayerOp& dv = add(op, "_dv", "bmm", op.k, op.m, op.n);
    dv.pattern = reference(op, true);
    give(op, 1, dv.id);
  }

  // The forward rows of a layer once more, under names of the backward phase.
  void recompute(const std::string& layer) {
    recomputed_ = layer;
    if (layer == "head" || layer == "embed") return;
    for (const LayerOp& op : forward_) {
      if (layer_of(op) != layer) continue;
      LayerOp row = op;
      row.id = backward_id(op.id, "_again");
      if (op.pattern.name != "dense" && op.pattern.name != "ref")
        row.pattern = reference(op, false);
      row.depends_on = {trace_.ops.back().id};
      trace_.ops.push_back(std::move(row));
    }
  }

  void update(const LayerOp& op) {
    const bool table = op.op == "embed";
    if (op.op != "gemm" && !table) return;
    LayerOp row;
    row.model = op.model;
    row.layer = op.layer;
    row.phase = Phase::upd;
    row.batch = op.batch;
    row.mode = op.mode;
    row.pattern = reference(op, false);
    std::string gradient = backward_id(op.id, table ? "" : "_dw");
    const std::string name = op.id.substr(op.id.find('.') + 1);
    if (options_.replicas > 1) {
      LayerOp reduce = row;
      reduce.id = "upd." + name + "_sum";
      reduce.op = "allreduce";
      reduce.fn = "ring";
      reduce.dtype = op.dtype;
      reduce.m = op.m;
      reduce.n = op.k;
      reduce.args = {{"ranks", fmt::format("{}", options_.replicas)}};
      reduce.depends_on = {gradient};
      gradient = reduce.id;
      trace_.ops.push_back(std::move(reduce));
    }
    row.id = "upd." + name;
    row.op = "optim";
    row.fn = options_.optimizer;
    row.dtype = DType::fp32;
    row.m = op.m;
    row.k = op.k;
    row.depends_on = {gradient};
    trace_.ops.push_back(std::move(row));
  }

  WorkloadTrace& trace_;
  const TransformerOptions& options_;
  const std::vector<LayerOp> forward_;
  std::map<std::string, std::vector<std::string>> gradients_;  // of each forward row's result
  std::string gradient_;                                       // of the row at hand
  std::string recomputed_;
};

}  // namespace

void append_training(WorkloadTrace& trace, const TransformerOptions& options) {
  Differentiator(trace, options).run();
}

}  // namespace lacuna
