// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "workloads/import/onnx_graph.hpp"

namespace lacuna {
namespace {

using MaybeShape = std::optional<OnnxShape>;

const OnnxShape* shape_of(const OnnxGraph& graph, const OnnxNode& node, std::size_t input) {
  if (input >= node.inputs.size()) return nullptr;
  const auto found = graph.shapes.find(node.inputs[input]);
  return found == graph.shapes.end() ? nullptr : &found->second;
}

MaybeShape broadcast(const OnnxShape& a, const OnnxShape& b) {
  const OnnxShape& longer = a.size() >= b.size() ? a : b;
  const OnnxShape& shorter = a.size() >= b.size() ? b : a;
  OnnxShape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::uint64_t& side = result[offset + i];
    if (side != shorter[i] && side != 1 && shorter[i] != 1) return std::nullopt;
    side = std::max(side, shorter[i]);
  }
  return result;
}

MaybeShape matmul(const OnnxShape& a, const OnnxShape& b) {
  if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) return std::nullopt;
  MaybeShape result =
      broadcast(OnnxShape(a.begin(), a.end() - 2), OnnxShape(b.begin(), b.end() - 2));
  if (!result) return result;
  result->push_back(a[a.size() - 2]);
  result->push_back(b.back());
  return result;
}

MaybeShape gemm(const OnnxNode& node, const OnnxShape& a, const OnnxShape& b) {
  if (a.size() != 2 || b.size() != 2) return std::nullopt;
  return OnnxShape{node.number("transA", 0) != 0 ? a[1] : a[0],
                   node.number("transB", 0) != 0 ? b[0] : b[1]};
}

std::int64_t listed(const OnnxNode& node, const std::string& key, std::size_t index,
                    std::int64_t otherwise) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end() || index >= found->second.size()) return otherwise;
  return found->second[index];
}

// What `auto_pad` adds to one side: so much that a result has a place for each stride.
std::optional<std::int64_t> same_pads(const OnnxNode& node, std::int64_t input, std::int64_t reach,
                                      std::int64_t stride) {
  const auto word = node.words.find("auto_pad");
  if (word == node.words.end() || word->second == "NOTSET") return std::nullopt;
  if (word->second == "VALID") return 0;
  const std::int64_t results = (input + stride - 1) / stride;
  return std::max<std::int64_t>((results - 1) * stride + reach - input, 0);
}

// [N, C, spatial...] and weights [filters, C / group, kernel...].
MaybeShape convolution(const OnnxNode& node, const OnnxShape& x, const OnnxShape& w) {
  if (x.size() < 3 || w.size() != x.size()) return std::nullopt;
  OnnxShape result = {x[0], w[0]};
  const std::size_t spatial = x.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t stride = listed(node, "strides", i, 1);
    const std::int64_t dilation = listed(node, "dilations", i, 1);
    const std::int64_t pads = listed(node, "pads", i, 0) + listed(node, "pads", spatial + i, 0);
    constexpr std::int64_t kMost = 0x7fffffff;
    if (stride < 1 || stride > kMost || dilation < 1 || dilation > kMost || pads < 0 ||
        pads > kMost || x[i + 2] > static_cast<std::uint64_t>(kMost) ||
        w[i + 2] > static_cast<std::uint64_t>(kMost)) {
      return std::nullopt;
    }
    const std::int64_t reach = dilation * (static_cast<std::int64_t>(w[i + 2]) - 1) + 1;
    const auto side = static_cast<std::int64_t>(x[i + 2]);
    const std::int64_t input = side + same_pads(node, side, reach, stride).value_or(pads);
    if (reach > input) return std::nullopt;
    result.push_back(static_cast<std::uint64_t>((input - reach) / stride + 1));
  }
  return result;
}

MaybeShape transposed(const OnnxNode& node, const OnnxShape& x) {
  OnnxShape result(x.rbegin(), x.rend());
  const auto perm = node.attributes.find("perm");
  if (perm == node.attributes.end()) return result;
  if (perm->second.size() != x.size()) return std::nullopt;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t from = perm->second[i];
    if (from < 0 || from >= static_cast<std::int64_t>(x.size())) return std::nullopt;
    result[i] = x[static_cast<std::size_t>(from)];
  }
  return result;
}

std::optional<std::uint64_t> elements(const OnnxShape& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  std::uint64_t product = 1;
  for (const std::uint64_t side : shape) {
    if (side == 0 || product > kMost / side) return std::nullopt;
    product *= side;
  }
  return product;
}

MaybeShape reshaped(const OnnxGraph& graph, const OnnxNode& node, const OnnxShape& x) {
  if (node.inputs.size() < 2) return std::nullopt;
  const auto list = graph.lists.find(node.inputs[1]);
  const std::optional<std::uint64_t> all = elements(x);
  if (list == graph.lists.end() || !all) return std::nullopt;
  OnnxShape result;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < list->second.size(); ++i) {
    const std::int64_t side = list->second[i];
    if (side == 0 && i >= x.size()) return std::nullopt;
    if (side < -1 || (side == -1 && open)) return std::nullopt;
    if (side == -1) open = i;
    result.push_back(side == 0 ? x[i] : side == -1 ? 1 : static_cast<std::uint64_t>(side));
  }
  const std::optional<std::uint64_t> known = elements(result);
  if (!known || *all % *known != 0) return std::nullopt;
  if (open) result[*open] = *all / *known;
  return elements(result) == all ? MaybeShape(result) : std::nullopt;
}

MaybeShape flattened(const OnnxNode& node, const OnnxShape& x) {
  const std::int64_t axis = node.number("axis", 1);
  if (axis < 0 || axis > static_cast<std::int64_t>(x.size())) return std::nullopt;
  const auto cut = x.begin() + axis;
  const auto left = elements(OnnxShape(x.begin(), cut));
  const auto right = elements(OnnxShape(cut, x.end()));
  if (!left || !right) return std::nullopt;
  return OnnxShape{*left, *right};
}

MaybeShape infer(const OnnxGraph& graph, const OnnxNode& node) {
  const OnnxShape* a = shape_of(graph, node, 0);
  const OnnxShape* b = shape_of(graph, node, 1);
  if (a == nullptr) return std::nullopt;
  if (node.op == "Transpose") return transposed(node, *a);
  if (node.op == "Reshape") return reshaped(graph, node, *a);
  if (node.op == "Flatten") return flattened(node, *a);
  const bool pair = node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div" ||
                    node.op == "Pow";
  const bool two = pair || node.op == "MatMul" || node.op == "Gemm" || node.op == "Conv";
  if (two && b == nullptr) return std::nullopt;
  if (pair) return broadcast(*a, *b);
  if (node.op == "MatMul") return matmul(*a, *b);
  if (node.op == "Gemm") return gemm(node, *a, *b);
  if (node.op == "Conv") return convolution(node, *a, *b);
  static const std::set<std::string> kKeeping = {
      "Relu",      "Gelu",    "Sigmoid", "Tanh",    "Softmax", "LayerNormalization",
      "Identity",  "Dropout", "Cast",    "Erf",     "Sqrt",    "Clip",
      "LeakyRelu", "Neg",     "Silu",    "FastGelu"};
  return kKeeping.count(node.op) != 0 ? MaybeShape(*a) : std::nullopt;
}

}  // namespace

std::int64_t OnnxNode::number(const std::string& key, std::int64_t otherwise) const {
  return listed(*this, key, 0, otherwise);
}

void infer_shapes(OnnxGraph& graph) {
  for (const OnnxNode& node : graph.nodes) {
    if (node.outputs.empty() || graph.shapes.count(node.outputs.front()) != 0) continue;
    if (const MaybeShape shape = infer(graph, node)) graph.shapes[node.outputs.front()] = *shape;
  }
}

}  // namespace lacuna
