// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/model_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

namespace {

std::string name_of(const LayerOp& op) { return op.layer.substr(op.layer.find('.') + 1); }

TransformerOptions options_of(const PassRequest& request, bool decode) {
  TransformerOptions options;
  options.part = decode ? TransformerOptions::Part::decode : TransformerOptions::Part::forward;
  options.sequences = request.batch;
  options.tokens = request.tokens;
  options.context = decode ? request.context : 0;
  options.layers = 1;
  options.embedding = true;
  options.heads = decode;
  options.pattern = request.weights;
  options.routing = request.routing;
  return options;
}

LayerOp row_like(const LayerOp& like, const char* name, const char* op, const char* fn) {
  LayerOp row;
  row.op = op;
  row.fn = fn;
  row.model = like.model;
  row.layer = like.layer.substr(0, like.layer.find('.') + 1) + name;
  row.id = "fwd." + row.layer;
  row.dtype = like.dtype;
  row.depends_on = {like.id};
  return row;
}

/// A new key or value of each sequence goes to where the cache has its place: a table of all
/// positions of all sequences, one row of which is written for each. Of a prompt all rows are.
LayerOp appended(const LayerOp& made, const char* name, const LayerKind& kind,
                 const PassRequest& request) {
  LayerOp row = row_like(made, name, request.decode ? "embed" : "eltwise",
                         request.decode ? "scatter_add" : "copy");
  row.m = kind.shape.kv_width();
  row.n = request.batch * request.tokens;
  if (request.decode) row.k = request.capacity * request.batch;
  return row;
}

/// Keys as they are kept: after their rotation, their norm, their bias or the product.
bool makes_last(const WorkloadTrace& trace, const std::vector<const char*>& names,
                const LayerOp& op) {
  for (const char* const name : names) {
    for (const LayerOp& row : trace.ops) {
      if (name_of(row) == name && row.layer[0] == 'l') return &row == &op;
    }
  }
  return false;
}

WorkloadTrace with_cache(const WorkloadTrace& trace, const LayerKind& kind,
                         const PassRequest& request) {
  WorkloadTrace all = trace;
  all.ops.clear();
  for (const LayerOp& op : trace.ops) {
    all.ops.push_back(op);
    if (makes_last(trace, {"k_rope", "k_norm", "qkv_bias", "k"}, op)) {
      all.ops.push_back(appended(op, "k_append", kind, request));
    }
    if (makes_last(trace, {"qkv_bias", "v"}, op)) {
      all.ops.push_back(appended(op, "v_append", kind, request));
    }
  }
  return all;
}

/// Of experts too: "l0.e3.ffn2".
void set_inputs(const InputZeros& inputs, WorkloadTrace& trace) {
  for (LayerOp& op : trace.ops) {
    const auto zeros = inputs.find(op.layer.substr(op.layer.rfind('.') + 1));
    if (zeros == inputs.end() || op.op != "gemm" || op.layer[0] != 'l') continue;
    op.x_pattern = "bernoulli";
    op.x_density = zeros->second;
  }
}

/// "e3" of the first row of an expert, "e3.gate"; empty if there is none.
std::string expert_of(const LayerOp& op) {
  const std::string name = name_of(op);
  const bool expert = name.size() > 1 && name[0] == 'e' && name[1] >= '0' && name[1] <= '9';
  return expert ? name.substr(0, name.find('.')) : "";
}

std::string first_expert(const WorkloadTrace& trace) {
  for (const LayerOp& op : trace.ops) {
    if (std::string name = expert_of(op); !name.empty()) return name;
  }
  return "";
}

}  // namespace

std::vector<LayerKind> kinds_of_layers(const ModelShape& model) {
  std::vector<LayerKind> kinds;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const std::uint32_t window = model.window(layer);
    const bool experts = model.has_experts(layer);
    const bool rotates = model.rotates(layer);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& each) {
      return each.window == window && each.shape.has_experts(0) == experts &&
             each.shape.rotates(0) == rotates;
    });
    if (same != kinds.end()) {
      same->layers.push_back(layer);
      continue;
    }
    LayerKind kind{model, window, {layer}};
    kind.shape.windows = window == 0 ? std::vector<std::uint32_t>() : std::vector{window};
    kind.shape.unrotated.assign(1, !rotates);
    kind.shape.experts.dense.clear();
    if (model.experts.count != 0 && !experts) kind.shape.experts.dense = {true};
    kinds.push_back(kind);
  }
  return kinds;
}

system::ModelParts pass_rows(const LayerKind& kind, const PassRequest& request, unsigned tensor) {
  WorkloadTrace trace =
      with_cache(make_transformer(kind.shape, options_of(request, request.decode)), kind, request);
  if (!request.decode) {
    // of a prompt the last token of each sequence alone has logits
    TransformerOptions one = options_of(request, true);
    one.routing = {};  // experts are those of the prompt
    for (const LayerOp& op : make_transformer(kind.shape, one).ops) {
      if (op.layer.rfind("head.", 0) == 0) trace.ops.push_back(op);
    }
  }
  set_inputs(request.inputs, trace);
  LayerOp choice = row_like(trace.ops.back(), "choose", "take_max", "");
  choice.m = request.batch;
  choice.n = kind.shape.vocabulary;
  trace.ops.push_back(choice);
  system::PartCuts cuts;
  cuts.tensor = tensor;
  return system::model_parts(trace, 1, cuts);
}

std::uint64_t copies_stored(const LayerOp& op, const LayerKind& kind, const WorkloadTrace& trace) {
  const std::string expert = expert_of(op);
  if (expert.empty()) return 1;
  return expert == first_expert(trace) ? kind.shape.experts.count : 0;
}

std::uint64_t cache_operand(const LayerOp& op) {
  const std::string name = name_of(op);
  if (name == "scores" || name == "ctx") {
    return std::uint64_t{op.k} * op.n * op.batch * bytes_of(op.dtype);
  }
  const bool append = name == "k_append" || name == "v_append";
  if (!append) return 0;
  return std::uint64_t{op.m} * std::max(op.k, op.n) * bytes_of(op.dtype);
}

}  // namespace lacuna
