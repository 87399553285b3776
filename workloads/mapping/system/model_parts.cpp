// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

/// How the operands of a row are cut over chips that share a matrix.
enum class Cut { none, rows, columns, heads, tokens };

struct NameRule {
  const char* name;  // of a row within its layer
  Part part;
  Cut cut;
};

/// Rows that are cut, and rows of attention; others of a layer are feed-forward and whole.
constexpr std::array<NameRule, 27> kRules = {{
    {"q", Part::attention, Cut::rows},
    {"k", Part::attention, Cut::rows},
    {"v", Part::attention, Cut::rows},
    {"qkv_bias", Part::attention, Cut::rows},
    {"q_rope", Part::attention, Cut::rows},
    {"k_rope", Part::attention, Cut::rows},
    {"scores", Part::attention, Cut::heads},
    {"scale", Part::attention, Cut::heads},
    {"softmax", Part::attention, Cut::heads},
    {"attn_drop", Part::attention, Cut::heads},
    {"ctx", Part::attention, Cut::heads},
    {"o", Part::attention, Cut::columns},
    {"o_drop", Part::attention, Cut::none},
    {"o_add", Part::attention, Cut::none},
    {"ln1", Part::attention, Cut::none},
    {"attn_ln", Part::attention, Cut::none},
    {"ffn1", Part::ffn, Cut::rows},
    {"gate", Part::ffn, Cut::rows},
    {"up", Part::ffn, Cut::rows},
    {"bias", Part::ffn, Cut::rows},
    {"act", Part::ffn, Cut::rows},
    {"ffn2", Part::ffn, Cut::columns},
    {"tokens", Part::embedding, Cut::tokens},
    {"mlm_out", Part::head, Cut::rows},
    {"out", Part::head, Cut::rows},
    {"mlm_softmax", Part::head, Cut::tokens},
    {"head_softmax", Part::head, Cut::tokens},
}};

std::string name_in_layer(const LayerOp& op) { return op.layer.substr(op.layer.find('.') + 1); }

NameRule rule_of(const LayerOp& op) {
  const bool embedding = op.layer.rfind("embed.", 0) == 0;
  const bool head = op.layer.rfind("head.", 0) == 0;
  std::string name = name_in_layer(op);
  if (head && name == "softmax") name = "head_softmax";
  const Part otherwise = embedding ? Part::embedding : (head ? Part::head : Part::ffn);
  for (const NameRule& rule : kRules) {
    const bool outer = rule.part == Part::embedding || rule.part == Part::head;
    if (name == rule.name && outer == (embedding || head)) return rule;
  }
  return {"", otherwise, Cut::none};
}

class Cutter {
 public:
  Cutter(unsigned tensor, unsigned attention_parts)
      : tensor_(tensor), attention_parts_(attention_parts) {}

  LayerOp cut(LayerOp op) const {
    const Cut how = rule_of(op).cut;
    if (how == Cut::heads && attention_parts_ > 1) {
      divide(op.batch, tensor_ * attention_parts_, op);
      op.repeat *= attention_parts_;
      return op;
    }
    if (tensor_ == 1 || how == Cut::none) return op;
    if (op.pattern.name != "dense") {
      throw RequestError(fmt::format("tensor = {}: sparse rows such as {} are not cut over chips",
                                     tensor_, op.id));
    }
    if (how == Cut::heads) {
      divide(op.batch, tensor_, op);
    } else if (how == Cut::tokens) {
      round_up(op.op == "softmax" ? op.n : op.k);
    } else if (op.op == "gemm" || op.op == "bmm") {
      cut_product(op, how);
    } else if (op.op == "optim" && how == Cut::columns) {
      round_up(op.k);
    } else {
      round_up(op.m);
    }
    return op;
  }

 private:
  // forward Y = W X; backward dX = W^T dY has the sides of W exchanged, dW = dY X^T has its sides
  // as m and n
  void cut_product(LayerOp& op, Cut how) const {
    const bool dx = op.phase == Phase::bwd && op.op == "gemm";
    const bool dw = op.op == "bmm";
    const bool rows = how == Cut::rows;
    if (dw) return round_up(rows ? op.m : op.n);
    round_up(rows != dx ? op.m : op.k);
  }

  void round_up(std::uint32_t& side) const { side = (side + tensor_ - 1) / tensor_; }

  static void divide(std::uint32_t& heads, unsigned parts, const LayerOp& op) {
    if (heads % parts != 0) {
      throw RequestError(fmt::format(
          "tensor x attention_parts = {} does not divide the {} heads of all sequences in {}",
          parts, heads, op.id));
    }
    heads /= parts;
  }

  unsigned tensor_;
  unsigned attention_parts_;
};

/// The part of the elements that the pattern of a row keeps, its own or that it refers to.
double density_of(const LayerOp& op, const WorkloadTrace& trace) {
  const LayerOp* source = &op;
  while (source->pattern.name == "ref") {
    const auto of = std::find_if(source->pattern.args.begin(), source->pattern.args.end(),
                                 [](const auto& arg) { return arg.first == "of"; });
    source = &*std::find_if(trace.ops.begin(), trace.ops.end(),
                            [&](const LayerOp& row) { return row.id == of->second; });
  }
  return source->pattern.density ? source->pattern.density->value() : 1;
}

/// The row that adds a gradient to those of earlier micro-batches.
LayerOp addition(const LayerOp& gradient, double density) {
  LayerOp row;
  row.op = "eltwise";
  row.fn = "add";
  row.id = gradient.id + "_accumulate";
  row.layer = gradient.layer;
  row.model = gradient.model;
  row.phase = Phase::bwd;
  row.dtype = gradient.dtype;
  row.batch = gradient.batch;
  row.m = gradient.m;
  row.n = gradient.n;
  if (gradient.op == "sddmm") {
    const double kept = std::round(density * gradient.m * gradient.n);
    row.m = static_cast<std::uint32_t>(std::max(kept, 1.0));
    row.n = 1;
  }
  return row;
}

bool is_weight_gradient(const LayerOp& op) {
  const std::string ending = "_dw";
  return op.phase == Phase::bwd && op.id.size() > ending.size() &&
         op.id.compare(op.id.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

const char* part_name(Part part) {
  constexpr std::array<const char*, kParts> kNames = {"embedding", "attention", "ffn", "head"};
  return kNames[static_cast<std::size_t>(part)];
}

ModelParts model_parts(const WorkloadTrace& trace, unsigned layers, unsigned tensor,
                       bool accumulate, unsigned attention_parts) {
  ModelParts model;
  model.trace = trace;
  model.layers = layers;
  const Cutter cutter(tensor, attention_parts);
  for (const LayerOp& op : trace.ops) {
    PartRows& rows = model.parts[static_cast<std::size_t>(rule_of(op).part)];
    const LayerOp cut = cutter.cut(op);
    if (op.phase == Phase::fwd) {
      rows.forward.push_back(cut);
    } else if (op.phase == Phase::upd) {
      rows.update.push_back(cut);
    } else {
      rows.backward.push_back(cut);
      if (accumulate && is_weight_gradient(op)) {
        rows.backward.push_back(addition(cut, density_of(op, trace)));
      }
    }
    const std::string name = name_in_layer(op);
    const bool ends_block = name == "o_add" || name == "f_add" || name == "f2_add";
    if (op.phase == Phase::fwd && ends_block) {
      model.boundary_bytes = std::uint64_t{op.m} * op.n * bytes_of(op.dtype);
    }
  }
  return model;
}

std::uint64_t parameters(const PartRows& rows, const WorkloadTrace& trace) {
  std::uint64_t count = 0;
  for (const LayerOp& op : rows.update) {
    if (op.op != "optim") continue;
    const double all = static_cast<double>(op.m) * op.k * op.batch;
    count += static_cast<std::uint64_t>(std::llround(all * density_of(op, trace)));
  }
  return count;
}

std::uint64_t activation_bytes(const PartRows& rows) {
  std::uint64_t bytes = 0;
  for (const LayerOp& op : rows.forward) {
    const std::string name = name_in_layer(op);
    const bool activation = op.op == "eltwise" && (name == "act" || name == "mlm_act");
    const bool in_place = (op.op == "eltwise" && !activation) || op.op == "softmax";
    // norms are worked out in FP32; their results are FP16
    const bool norm = op.op == "layernorm" || op.op == "rmsnorm";
    const unsigned each = norm ? std::min(2U, bytes_of(op.dtype)) : bytes_of(op.dtype);
    if (!in_place) bytes += std::uint64_t{op.m} * op.n * op.batch * each;
  }
  return bytes;
}

}  // namespace lacuna::system
