// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/base/texts.hpp"
#include "workloads/generate/recipe.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/op_kind.hpp"

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

bool is_output(const LayerOp& op) { return op.layer == "head.out" || op.layer == "head.mlm_out"; }

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
  Differentiator(WorkloadTrace& trace, const TransformerOptions& options, const ModelShape& shape)
      : trace_(trace), options_(options), shape_(shape), forward_(trace.ops) {
    for (const LayerOp& op : forward_) by_id_[op.id] = &op;
    for (const LayerOp& op : forward_) {
      const bool both = shape.tied && is_output(op) && by_id_.count("fwd.embed.tokens") != 0;
      if (both) tied_gradient_ = backward_id(op.id, "_dw");
    }
  }

  void run() {
    if (options_.loss_scaling) scale_loss();
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
    LayerOp row = row_like(from, backward_id(from.id, suffix), op);
    row.phase = Phase::bwd;
    set_sides(row, {m, k, n, from.batch});
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

  // One number, from which all gradients follow.
  void scale_loss() {
    LayerOp row = update_row(forward_.back(), "", "eltwise", forward_.back().id);
    row.id = "bwd.loss_scale";
    row.layer = "loss_scale";
    row.phase = Phase::bwd;
    row.fn = "scale";
    row.m = row.n = 1;
    gradients_[forward_.back().id].push_back(put(std::move(row)));
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

  // A row of the phase upd about the parameters of `op`.
  static LayerOp update_row(const LayerOp& op, const std::string& suffix, const std::string& kind,
                            std::string gradient) {
    LayerOp row = row_like(op, "upd." + op.id.substr(op.id.find('.') + 1) + suffix, kind);
    row.phase = Phase::upd;
    row.depends_on = {std::move(gradient)};
    return row;
  }

  // Appends `row` and gives its id.
  std::string put(LayerOp row) {
    trace_.ops.push_back(std::move(row));
    return trace_.ops.back().id;
  }

  struct Sides {
    std::uint32_t m;
    std::uint32_t k;
  };

  void update(const LayerOp& op) {
    const bool product = op.op == "gemm";
    // of the head it may be the table of tokens, which is updated there
    if (product && is_output(op) && !tied_gradient_.empty()) return;
    Sides sides{op.m, 0};
    if (op.op == "embed" || product) {
      sides.k = op.k;
    } else if (op.layer == "embed.positions") {
      sides.k = shape_.positions + (shape_.family == ModelFamily::opt ? 2 : 0);
    } else if (op.layer == "embed.types") {
      sides.k = shape_.types;
    } else if (op.op == "layernorm") {
      sides = {2 * op.m, 1};
    } else if (op.op == "rmsnorm" || starts_with(op.fn, "bias")) {
      sides.k = 1;
    }
    if (sides.k != 0) update_parameters(op, sides, backward_id(op.id, product ? "_dw" : ""));
  }

  // Reduction over replicas, loss scale, the optimizer, and the cast of a master copy.
  void update_parameters(const LayerOp& op, Sides sides, std::string gradient) {
    const PatternSpec pattern = reference(op, false);
    if (options_.replicas > 1) {
      LayerOp row = update_row(op, "_sum", "allreduce", gradient);
      row.fn = "ring";
      row.mode = op.mode;
      set_sides(row, {sides.m, 0, sides.k, op.batch});
      row.pattern = pattern;
      row.args = {{"ranks", std::to_string(options_.replicas)}, {"between", "chips"}};
      gradient = put(std::move(row));
    }
    const std::uint64_t kept = kept_of(op, sides);
    if (options_.loss_scaling) gradient = unscale(op, kept, gradient);
    LayerOp row = update_row(op, "", "optim", gradient);
    if (op.op == "embed" && !tied_gradient_.empty()) row.depends_on.push_back(tied_gradient_);
    const bool is_vector = sides.k == 1;
    row.fn = is_vector ? vector_optimizer() : options_.optimizer;
    row.mode = op.mode;
    set_sides(row, {sides.m, sides.k, 0, op.batch});
    row.pattern = pattern;
    row.dtype = DType::fp32;
    if (options_.recipe == Recipe::ipu_mixed) {
      row.args = {{"weights", "fp16"}, {"rounding", "stochastic"}};
    }
    const std::string updated = put(std::move(row));
    if (options_.recipe != Recipe::conventional || is_vector) return;
    LayerOp cast = update_row(op, "_cast", "eltwise", updated);
    cast.fn = "cast";
    set_elements(cast, kept, op.batch);
    put(std::move(cast));
  }

  // Divides the gradient by the loss scale and sums its squares, which are finite if it is.
  std::string unscale(const LayerOp& op, std::uint64_t kept, const std::string& gradient) {
    LayerOp scale = update_row(op, "_unscale", "eltwise", gradient);
    scale.fn = "scale";
    set_elements(scale, kept, op.batch);
    std::string scaled = put(std::move(scale));
    // In pieces, so that all of a machine has a part in it, and the rest.
    constexpr std::uint64_t kPiece = 1024;
    add_squares(op, "_finite", scaled, std::min(kept, kPiece),
                std::max<std::uint64_t>(kept / kPiece, 1));
    if (kept > kPiece && kept % kPiece != 0) {
      add_squares(op, "_finite_rest", scaled, kept % kPiece, 1);
    }
    return scaled;
  }

  // Sums of the squares of `pieces` runs of `length` elements.
  void add_squares(const LayerOp& op, const char* suffix, const std::string& after,
                   std::uint64_t length, std::uint64_t pieces) {
    LayerOp row = update_row(op, suffix, "bmm", after);
    row.fn = "dot";
    set_sides(row, {1, static_cast<std::uint32_t>(std::max<std::uint64_t>(length, 1)), 1,
                    static_cast<std::uint32_t>(pieces * op.batch)});
    put(std::move(row));
  }

  // `kept` elements of each of `batch` matrices as a column.
  static void set_elements(LayerOp& row, std::uint64_t kept, std::uint32_t batch) {
    set_sides(row, {static_cast<std::uint32_t>(std::max<std::uint64_t>(kept, 1)), 0, 1, batch});
  }

  // Elements of a matrix that its pattern keeps, by the rule of the pattern.
  std::uint64_t kept_of(const LayerOp& op, Sides sides) const {
    const LayerOp* source = &op;
    while (source->pattern.name == "ref")
      source = by_id_.at(*find_value(source->pattern.args, "of"));
    return kept_by_rule(source->pattern, sides.m, sides.k);
  }

  // Weight decay and trust ratio leave vectors out.
  std::string vector_optimizer() const {
    return options_.optimizer == "adamw" || options_.optimizer == "lamb" ? "adam"
                                                                         : options_.optimizer;
  }

  WorkloadTrace& trace_;
  const TransformerOptions& options_;
  const ModelShape& shape_;
  const std::vector<LayerOp> forward_;
  std::map<std::string, const LayerOp*> by_id_;
  std::string tied_gradient_;  // of the head, if it is the table of tokens; else empty
  std::map<std::string, std::vector<std::string>> gradients_;  // of each forward row's result
  std::string gradient_;                                       // of the row at hand
  std::string recomputed_;
};

}  // namespace

void append_training(WorkloadTrace& trace, const TransformerOptions& options,
                     const ModelShape& shape) {
  Differentiator(trace, options, shape).run();
  apply_recipe(trace, options.recipe);
}

}  // namespace lacuna
