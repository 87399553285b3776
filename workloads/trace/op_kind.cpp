// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/op_kind.hpp"

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using Masked = OpKind::Masked;
using Type = ArgKey::Type;

const std::vector<std::string>& eltwise_functions() {
  static const std::vector<std::string> kFunctions = {
      "relu", "gelu", "silu",      "tanh",       "sigmoid", "swiglu", "add",
      "mul",  "bias", "scale",     "mask",       "cast",    "copy",   "bias_add",
      "glu",  "rope", "bias_gelu", "scale_mask", "dropout"};
  return kFunctions;
}

OpKind collective(const char* name) {
  OpKind kind{name, "mn"};
  kind.n_is_optional = true;
  kind.masked = Masked::m_by_n;
  kind.functions = {"ring", "tree", "hier"};
  // how vectors are added up on a mesh of cores
  for (const char* mesh : {"auto", "chain", "star", "two_phase", "generated", "snake"}) {
    kind.functions.emplace_back(mesh);
  }
  kind.default_function = "ring";
  kind.keys = {{"ranks", Type::count, {}, true},
               {"rows", Type::count},
               {"from", Type::index},
               {"to", Type::index},
               {"between", Type::word, {"cores", "chips"}}};  // what the ranks are
  return kind;
}

std::vector<OpKind> products() {
  const ArgKey fp8 = {"fp8", Type::word, {"e4m3", "e5m2"}};  // of X; that of W is e4m3
  const std::vector<ArgKey> gemm_keys = {{"x_unique", Type::count}, fp8};
  return {
      {"gemm", "mkn", {}, "", gemm_keys, Masked::m_by_k, false, true},
      {"spmm", "mkn", {}, "", gemm_keys, Masked::m_by_k, false, true},
      {"bmm", "mkn", {"dot", "l1", "l2"}, "dot", {fp8}, Masked::m_by_k, false, true},
      {"sddmm", "mkn", {}, "", {fp8}, Masked::m_by_n},
  };
}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<OpKind> make_kinds() {
  std::vector<OpKind> kinds = products();
  kinds.push_back({"softmax", "mn", {}, "", {}, Masked::m_by_n});
  kinds.push_back({"take_max", "mn"});
  kinds.push_back({"layernorm", "mn"});
  kinds.push_back({"rmsnorm", "mn"});
  kinds.push_back({"eltwise", "mn", eltwise_functions()});
  kinds.push_back({"embed",
                   "mkn",
                   {"gather", "scatter_add"},
                   "gather",
                   {{"index", Type::distribution},
                    {"routing", Type::routing},
                    {"experts", Type::count},
                    {"chosen", Type::count},
                    {"layer", Type::index},
                    {"round", Type::index}}});
  for (const char* name :
       {"allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "reduce", "p2p"}) {
    kinds.push_back(collective(name));
  }
  for (const char* name : {"axpy", "dot", "mul", "stencil"}) {
    kinds.push_back({name, "mn"});
    kinds.back().n_is_optional = true;
  }
  kinds.push_back({"gemv", "mk"});
  kinds.push_back({"optim",
                   "mk",
                   {"sgd", "sgdm", "adam", "adamw", "lamb"},
                   "",
                   {{"rows", Type::word, {"touched", "all"}},
                    {"weights", Type::word, {"fp32", "fp16"}},
                    {"rounding", Type::word, {"nearest", "stochastic"}}},
                   Masked::m_by_k});
  kinds.push_back({"repattern",
                   "mk",
                   {"random", "gradient"},
                   "random",
                   {{"of", Type::id, {}, true},
                    {"prune", Type::index, {}, true},
                    {"drop", Type::word, {"magnitude", "random"}}}});
  kinds.push_back({"io", "mn", {"h2d", "d2h"}});
  kinds.push_back({"program", "", {}, "", {{"file", Type::path, {}, true}}});
  kinds.push_back({"opaque",
                   "",
                   {},
                   "",
                   {{"flop", Type::index}, {"bytes", Type::index}, {"us", Type::decimal}}});
  return kinds;
}

}  // namespace

const std::vector<OpKind>& op_kinds() {
  static const std::vector<OpKind> kKinds = make_kinds();
  return kKinds;
}

const OpKind* find_op_kind(const std::string& name) { return find_named(op_kinds(), name); }

const OpKind& kind_of(const LayerOp& op) {
  const OpKind* kind = find_op_kind(op.op);
  if (kind == nullptr) throw InternalError("operation '" + op.op + "' was not checked");
  return *kind;
}

MaskShape mask_shape(const LayerOp& op) {
  switch (kind_of(op).masked) {
    case Masked::none:
      return {};
    case Masked::m_by_k:
      return {op.m, op.k};
    case Masked::m_by_n:
      return {op.m, op.n};
  }
  return {};
}

const std::string* find_value(const Pairs& pairs, const std::string& key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool says(const Pairs& pairs, const std::string& key, const std::string& value) {
  const std::string* found = find_value(pairs, key);
  return found != nullptr && *found == value;
}

std::uint64_t integer_of(const Pairs& pairs, const std::string& key, std::uint64_t otherwise) {
  const std::string* text = find_value(pairs, key);
  return text == nullptr ? otherwise : std::strtoull(text->c_str(), nullptr, 10);
}

}  // namespace lacuna
