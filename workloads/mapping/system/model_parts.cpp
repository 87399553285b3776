// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::system {

namespace {

/// How the operands of a row are cut over chips that share a matrix.
enum class Cut { none, rows, columns, heads, each_head, tokens };

struct NameRule {
  const char* name;  // of a row within its layer
  Part part;
  Cut cut;
};

/// Rows that are cut, and rows of attention; others of a layer are feed-forward and whole.
constexpr std::array<NameRule, 37> kRules = {{
    {"q", Part::attention, Cut::rows},
    {"k", Part::attention, Cut::rows},
    {"v", Part::attention, Cut::rows},
    {"qkv_bias", Part::attention, Cut::rows},
    {"q_rope", Part::attention, Cut::rows},
    {"k_rope", Part::attention, Cut::rows},
    {"q_norm", Part::attention, Cut::each_head},
    {"k_norm", Part::attention, Cut::each_head},
    {"k_append", Part::attention, Cut::rows},
    {"v_append", Part::attention, Cut::rows},
    {"scores", Part::attention, Cut::heads},
    {"scale", Part::attention, Cut::heads},
    {"softmax", Part::attention, Cut::heads},
    {"attn_drop", Part::attention, Cut::heads},
    {"ctx", Part::attention, Cut::heads},
    {"o", Part::attention, Cut::columns},
    {"o_drop", Part::attention, Cut::none},
    {"o_scale", Part::attention, Cut::none},
    {"o_add", Part::attention, Cut::none},
    {"ln1", Part::attention, Cut::none},
    {"attn_ln", Part::attention, Cut::none},
    {"ffn1", Part::ffn, Cut::rows},
    {"gate", Part::ffn, Cut::rows},
    {"up", Part::ffn, Cut::rows},
    {"bias", Part::ffn, Cut::rows},
    {"gate_bias", Part::ffn, Cut::rows},
    {"up_bias", Part::ffn, Cut::rows},
    {"gate_act", Part::ffn, Cut::rows},
    {"act", Part::ffn, Cut::rows},
    {"ffn2", Part::ffn, Cut::columns},
    {"tokens", Part::embedding, Cut::tokens},
    {"mlm_out", Part::head, Cut::rows},
    {"out", Part::head, Cut::rows},
    {"logit_scale", Part::head, Cut::rows},
    {"choose", Part::head, Cut::tokens},
    {"mlm_softmax", Part::head, Cut::tokens},
    {"head_softmax", Part::head, Cut::tokens},
}};

/// Blocks of experts have rows of the same names, "l0.e3.gate".
std::string name_in_layer(const LayerOp& op) { return op.layer.substr(op.layer.rfind('.') + 1); }

NameRule rule_of(const LayerOp& op) {
  const bool embedding = starts_with(op.layer, "embed.");
  const bool head = starts_with(op.layer, "head.");
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
  explicit Cutter(const PartCuts& cuts)
      : cuts_(cuts),
        tensor_(cuts.tensor),
        rows_(cuts.tensor / cuts.columns),
        columns_(cuts.columns) {}

  LayerOp cut(LayerOp op) const {
    const NameRule rule = rule_of(op);
    if (rule.cut == Cut::heads && cuts_.attention_parts > 1) {
      divide(op.batch, rows_ * cuts_.attention_parts, op);
      cut_queries(op);
      op.repeat *= cuts_.attention_parts;
      return op;
    }
    if (tensor_ > 1) cut_over_chips(op, rule);
    if (rule.part == Part::head) cut_tokens_of_head(op);
    if (cuts_.gradient_parts > 1 && is_weight_gradient(op) && op.op == "bmm") {
      round_up(op.m, cuts_.gradient_parts);
      op.repeat *= cuts_.gradient_parts;
    }
    return op;
  }

 private:
  void cut_over_chips(LayerOp& op, const NameRule& rule) const {
    if (rule.cut == Cut::none) {
      if (!is_block(rule.part) || is_product(op)) return;
      round_up(op.m, columns_);  // features
      if (cuts_.share_sequence && op.phase != Phase::upd) share_tokens(op);
    } else if (rule.cut == Cut::heads) {
      divide(op.batch, rows_, op);
      cut_queries(op);
    } else if (rule.cut == Cut::each_head) {
      if (op.phase != Phase::upd) round_up(op.n, rows_);  // a head of a token by itself
    } else if (rule.cut == Cut::tokens) {
      round_up(op.op == "softmax" || op.op == "take_max" ? op.n : op.k, tensor_);
    } else if (op.op == "gemm" || is_weight_gradient(op)) {
      cut_product(op, rule);
    } else if (op.op == "optim" && rule.cut == Cut::columns) {
      round_up(op.k, tensor_);
    } else {
      round_up(op.m, tensor_);
    }
    check_blocks(op);
  }

  static bool is_block(Part part) { return part == Part::attention || part == Part::ffn; }
  static bool is_product(const LayerOp& op) { return op.op == "gemm" || op.op == "bmm"; }

  /// Of norms, residuals, dropout.
  void share_tokens(LayerOp& op) const {
    if (op.n % rows_ != 0) {
      throw RequestError(fmt::format("share_sequence: {} chips do not divide the {} tokens in {}",
                                     rows_, op.n, op.id));
    }
    op.n /= rows_;
  }

  /// Scores and what follows have a row for each query; gradients of keys and values sum over them.
  void cut_queries(LayerOp& op) const {
    round_up(ends_with(op.id, "_dk") || ends_with(op.id, "_dv") ? op.k : op.m, columns_);
  }

  /// Logits are the largest results of most models: of a part of the tokens at a time.
  void cut_tokens_of_head(LayerOp& op) const {
    const std::string name = name_in_layer(op);
    const bool logits =
        name == "out" || name == "mlm_out" || name == "softmax" || name == "mlm_softmax";
    if (cuts_.head_parts == 1 || op.phase == Phase::upd || !logits) return;
    const bool down = op.op == "softmax";  // tokens x vocabulary
    const bool deep = op.op == "bmm";      // the gradient sums over tokens
    divide(down ? op.m : (deep ? op.k : op.n), cuts_.head_parts, op);
    op.repeat *= cuts_.head_parts;
  }

  // forward Y = W X; backward dX = W^T dY has the sides of W exchanged, dW = dY X^T has its sides
  // as m and n
  void cut_product(LayerOp& op, const NameRule& rule) const {
    const unsigned columns = is_block(rule.part) ? columns_ : 1;
    const unsigned rows = tensor_ / columns;
    const bool dx = op.phase == Phase::bwd && op.op == "gemm";
    const bool first = (rule.cut == Cut::rows) != dx;  // by rows, and its depth by columns
    std::uint32_t& other = is_weight_gradient(op) ? op.n : op.k;
    round_up(op.m, first ? rows : columns);
    round_up(other, first ? columns : rows);
  }

  static void round_up(std::uint32_t& side, unsigned parts) { side = (side + parts - 1) / parts; }

  /// A share of a matrix of blocks has whole blocks.
  static void check_blocks(const LayerOp& op) {
    if (op.pattern.name == "file") {
      throw RequestError(fmt::format("{}: the mask of a file is not cut over chips", op.id));
    }
    const std::uint32_t rows = op.pattern.block_rows;
    const std::uint32_t cols = op.pattern.block_cols;
    if (rows * cols <= 1 || (op.m % rows == 0 && op.k % cols == 0)) return;
    throw RequestError(fmt::format("{}: the {} x {} share of a chip has no whole blocks of {} x {}",
                                   op.id, op.m, op.k, rows, cols));
  }

  static void divide(std::uint32_t& side, unsigned parts, const LayerOp& op) {
    if (side % parts != 0) {
      throw RequestError(fmt::format(
          "the {} {} in {} do not come out even in {} parts", side,
          rule_of(op).cut == Cut::heads ? "heads of all sequences" : "tokens", op.id, parts));
    }
    side /= parts;
  }

  PartCuts cuts_;
  unsigned tensor_;
  unsigned rows_;  // of tensor_ = rows_ x columns_
  unsigned columns_;
};

}  // namespace

double kept_share(const LayerOp& op, const WorkloadTrace& trace) {
  const LayerOp* source = &op;
  while (source->pattern.name == "ref") {
    const std::string& of = *find_value(source->pattern.args, "of");
    source = find_where(trace.ops, [&](const LayerOp& row) { return row.id == of; });
  }
  const PatternSpec& pattern = source->pattern;
  if (pattern.density) return pattern.density->value();
  const auto number = [&](const char* name) {
    const std::string* const value = find_value(pattern.args, name);
    return value == nullptr ? 1 : std::stod(*value);
  };
  return pattern.name == "nm" ? number("keep") / number("of") : 1;
}

bool is_weight_gradient(const LayerOp& op) {
  return op.phase == Phase::bwd && ends_with(op.id, "_dw");
}

namespace {

/// The row that adds a gradient to those of earlier micro-batches.
LayerOp addition(const LayerOp& gradient, double density) {
  LayerOp row;
  row.op = "eltwise";
  row.fn = "add";
  row.id = gradient.id + kAddition;
  row.layer = gradient.layer;
  row.model = gradient.model;
  row.phase = Phase::bwd;
  row.dtype = gradient.dtype;
  row.batch = gradient.batch;
  row.m = gradient.m;
  row.n = gradient.n;
  row.repeat = gradient.repeat;
  row.depends_on = {gradient.id};
  if (gradient.op == "sddmm") {
    const double kept = std::round(density * gradient.m * gradient.n);
    row.m = static_cast<std::uint32_t>(std::max(kept, 1.0));
    row.n = 1;
  }
  return row;
}

/// Gradients that go around a block are there until it is done.
void find_wanted(ModelParts& model) {
  std::map<std::string, Part> part_of;
  for (std::size_t i = 0; i < kParts; ++i) {
    for (const LayerOp& op : model.parts[i].backward) part_of[op.id] = static_cast<Part>(i);
  }
  for (const LayerOp& op : model.trace.ops) {
    if (op.phase != Phase::bwd) continue;
    for (const std::string& id : op.depends_on) {
      const auto found = part_of.find(id);
      if (found == part_of.end() || found->second == part_of[op.id]) continue;
      model.parts[found->second].wanted.push_back(id);
    }
  }
}

/// What the row `op`, cut to `cut`, makes its chips exchange: what the first products of a block
/// make, and what its last one takes, whole; of a norm the sums over features, of the mean and the
/// variance, or of the mean square, in FP32; their gradients have as many. Of the logits what they
/// are made of.
void add_exchanges(const LayerOp& whole, const LayerOp& op, const PartCuts& cuts,
                   ModelParts& model) {
  if (op.phase != Phase::fwd) return;
  constexpr std::uint64_t kSum = 4;
  const NameRule rule = rule_of(op);
  if (op.op == "gemm") {
    const std::uint64_t bytes = std::uint64_t{whole.n} * bytes_of(op.dtype);
    if (rule.cut == Cut::rows) model.first_bytes[rule.part] += whole.m * bytes;
    if (rule.cut == Cut::columns) model.last_bytes[rule.part] += whole.k * bytes;
  }
  const bool block = rule.part == Part::attention || rule.part == Part::ffn;
  if (block && cuts.columns > 1 && (op.op == "layernorm" || op.op == "rmsnorm")) {
    SharedNorms& norms = model.norms[rule.part];
    ++norms.count;
    norms.bytes = std::max(norms.bytes, (op.op == "rmsnorm" ? 1 : 2) * kSum * op.n);
  }
  if (rule.part == Part::head && rule.cut == Cut::rows && cuts.tensor > 1) {
    model.logits = {op.repeat, std::uint64_t{op.k} * op.n * bytes_of(op.dtype), kSum * op.n};
  }
}

}  // namespace

const char* part_name(Part part) {
  constexpr OfParts<const char*> kNames = {{"embedding", "attention", "ffn", "head"}};
  return kNames[part];
}

ModelParts model_parts(const WorkloadTrace& trace, unsigned layers, const PartCuts& cuts) {
  ModelParts model;
  model.trace = trace;
  model.layers = layers;
  const Cutter cutter(cuts);
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    const LayerOp& op = trace.ops[i];
    PartRows& rows = model.parts[rule_of(op).part];
    const LayerOp cut = cutter.cut(op);
    model.trace.ops[i] = cut;  // masks are those of a chip's share
    if (op.phase == Phase::fwd) {
      rows.forward.push_back(cut);
    } else if (op.phase == Phase::upd) {
      rows.update.push_back(cut);
    } else {
      rows.backward.push_back(cut);
      if (cuts.accumulate && is_weight_gradient(op)) {
        rows.backward.push_back(addition(cut, kept_share(op, trace)));
      }
    }
    add_exchanges(op, cut, cuts, model);
    constexpr std::array<const char*, 3> kEnds = {"o_add", "f_add", "f2_add"};  // of blocks
    if (op.phase == Phase::fwd && contains(kEnds, name_in_layer(op))) {
      model.value_bytes = bytes_of(op.dtype);
      model.boundary_bytes = std::uint64_t{op.m} * op.n * bytes_of(op.dtype);
    }
  }
  model.tied = !any_of(model.of(Part::head).update, [](const LayerOp& op) {
    return op.op == "optim" && rule_of(op).cut == Cut::rows;
  });
  find_wanted(model);
  return model;
}

unsigned optimizer_bytes(const std::string& optimizer) {
  if (optimizer == "sgd") return 0;
  return optimizer == "sgdm" ? 4 : 8;
}

bool is_table(const LayerOp& op) { return op.layer == "embed.tokens"; }

std::uint64_t packed_bytes(const LayerOp& op, std::uint64_t elements, std::uint64_t bytes_each,
                           const WorkloadTrace& trace) {
  if (op.pattern.name == "dense") return elements * bytes_each;
  constexpr double kPlace = 2;  // bytes, of a block
  const double block = std::max(1U, op.pattern.block_rows * op.pattern.block_cols);
  const double each = static_cast<double>(bytes_each) + kPlace / block;
  return static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(elements) * kept_share(op, trace) * each));
}

std::uint64_t stored_bytes(const LayerOp& op, const WorkloadTrace& trace) {
  const std::uint64_t size = bytes_of(op.dtype);
  if (op.op == "rmsnorm") return op.m * size;
  if (op.op == "layernorm") return std::uint64_t{2} * op.m * size;
  if (op.op == "embed" && op.layer == "embed.tokens") return std::uint64_t{op.m} * op.k * size;
  if (op.op != "gemm" && op.op != "spmm") return 0;
  return packed_bytes(op, std::uint64_t{op.m} * op.k * op.batch, size, trace);
}

namespace {

/// The numbers that a row of an optimizer updates. Weights have the type that a master copy is cast
/// to, that the row says, or that their layer has; among FP8 products they are kept as they are
/// updated. Gradients have the type of the row that makes them, those of norms that of
/// the weights; products of FP8 give FP16.
Trained numbers_of(const LayerOp& op, const WorkloadTrace& trace, const std::string& optimizer) {
  const auto row_of_layer = [&](const auto& is) {
    return find_where(trace.ops,
                      [&](const LayerOp& row) { return row.layer == op.layer && is(row); });
  };
  const auto* const forward =
      row_of_layer([](const LayerOp& row) { return row.phase == Phase::fwd; });
  const auto* const cast = row_of_layer([](const LayerOp& row) { return row.fn == "cast"; });
  const auto* const gradient = find_where(trace.ops, [&](const LayerOp& row) {
    return !op.depends_on.empty() && row.id == op.depends_on.front();
  });
  const bool is_fp8 = any_of(trace.ops, [](const LayerOp& row) { return row.dtype == DType::fp8; });
  std::uint64_t each = bytes_of(op.dtype);
  if (cast != nullptr) {
    each = bytes_of(cast->dtype);
  } else if (find_value(op.args, "weights") != nullptr) {
    each = 2;
  } else if (forward != nullptr && !is_fp8) {
    each = bytes_of(forward->dtype);
  }
  std::uint64_t of_gradient = each;
  if (gradient != nullptr && gradient->op != "layernorm" && gradient->op != "rmsnorm") {
    of_gradient = std::max(bytes_of(gradient->dtype), 2U);
  }
  const std::uint64_t all = std::uint64_t{op.m} * op.k * op.batch;
  Trained made;
  made.elements =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(all) * kept_share(op, trace)));
  const bool packed = forward != nullptr && forward->pattern.name != "dense";
  made.weights = packed ? packed_bytes(*forward, all, each, trace) : made.elements * each;
  made.gradients = made.elements * of_gradient;
  made.state =
      made.elements * (optimizer_bytes(optimizer) + (cast == nullptr ? 0 : bytes_of(op.dtype)));
  return made;
}

}  // namespace

Trained trained_numbers(const std::vector<LayerOp>& update, const WorkloadTrace& trace,
                        const std::string& optimizer) {
  Trained sum;
  for (const LayerOp& op : update) {
    if (op.op == "optim") sum += numbers_of(op, trace, optimizer);
  }
  return sum;
}

}  // namespace lacuna::system
