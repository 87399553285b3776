// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/split.hpp"
#include "workloads/import/proto_forms.hpp"
#include "workloads/import/proto_graph.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

using Node = onnx::NodeProto;

// Element-wise operators by the function of ours that costs the same.
const std::map<std::string, const char*>& eltwise_functions() {
  static const std::map<std::string, const char*> kFunctions = {
      {"Relu", "relu"},     {"LeakyRelu", "relu"},  {"Clip", "relu"},     {"Gelu", "gelu"},
      {"FastGelu", "gelu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"},     {"Silu", "silu"},
      {"Add", "add"},       {"Sub", "add"},         {"Mul", "mul"},       {"Div", "mul"},
      {"Neg", "scale"},     {"Cast", "cast"},       {"Erf", "tanh"},      {"Sqrt", "sigmoid"},
      {"Pow", "mul"},       {"Swish", "silu"},      {"QuickGelu", "silu"}};
  return kFunctions;
}

// Norms and softmax by the kind of row.
const std::map<std::string, const char*>& vector_kinds() {
  static const std::map<std::string, const char*> kKinds = {
      {"Softmax", "softmax"},
      {"LayerNormalization", "layernorm"},
      {"RMSNormalization", "rmsnorm"},
      {"SimplifiedLayerNormalization", "rmsnorm"}};
  return kKinds;
}

// Operators that change no value, or only how values lie.
bool is_view(const std::string& op) {
  static const std::set<std::string> kViews = {
      "Identity", "Reshape",         "Flatten", "Transpose", "Squeeze", "Unsqueeze",
      "Constant", "Shape",           "Dropout", "Slice",     "Split",   "Concat",
      "Expand",   "ConstantOfShape", "Range",   "Where",     "Equal",   "Not"};
  return kViews.count(op) != 0;
}

bool is_mapped(const std::string& op) {
  static const std::set<std::string> kOthers = {"Gemm", "MatMul", "Conv", "Gather"};
  return kOthers.count(op) != 0 || vector_kinds().count(op) != 0 ||
         eltwise_functions().count(op) != 0;
}

class RowMaker {
 public:
  RowMaker(const ImportFile& file, const OnnxGraph& graph, ImportContext& context)
      : file_(file), graph_(graph), context_(context) {
    for (const auto& [name, zeros] : graph.weights) weights_[name] = name;
    const std::string* list = context.settings.text("skip");
    for (std::string& word : split(list == nullptr ? "" : *list, ',')) {
      if (!word.empty()) skipped_.insert(std::move(word));
    }
  }

  void make() {
    refuse_unmapped();
    for (const Node& node : graph_.model.graph().node()) {
      if (is_view(node.op_type()) || skipped_.count(node.op_type()) != 0) {
        pass_through(node);
      } else {
        add(node);
      }
    }
    note_zeros();
    note_type();
    if (context_.result.trace.ops.empty()) {
      refuse_request("{}: found a graph without an operation", file_.path);
    }
  }

 private:
  void refuse_unmapped() const {
    std::set<std::string> unknown;
    std::set<std::string> present;
    for (const Node& node : graph_.model.graph().node()) {
      present.insert(node.op_type());
      if (!is_view(node.op_type()) && !is_mapped(node.op_type()) &&
          skipped_.count(node.op_type()) == 0) {
        unknown.insert(quotable(node.op_type()));
      }
    }
    note_absent(present);
    if (unknown.empty()) return;
    refuse_request("{}: found operators without a row: {}; --skip {} leaves them out", file_.path,
                   fmt::join(unknown, ", "), fmt::join(unknown, ","));
  }

  /// One list may serve several graphs: what this one does not have is said, and no mistake.
  void note_absent(const std::set<std::string>& present) const {
    const std::vector<std::string> names(present.begin(), present.end());
    for (const std::string& op : skipped_) {
      if (present.count(op) != 0) continue;
      const std::string meant = nearest(op, names);
      context_.warn("{}: --skip: no operator of this graph is '{}'{}", file_.path, quotable(op),
                    meant.empty() ? "" : fmt::format("; did you mean '{}'?", quotable(meant)));
    }
  }

  /// Rows of a graph are dense: what its weights leave out is said, not taken.
  void note_zeros() const {
    constexpr double kFew = 0.01;  // zeros that come by chance or with rounding
    constexpr double kPercent = 100;
    std::size_t some = 0;
    std::pair<std::string, double> most;
    for (const std::string& name : multiplied_) {
      const double zeros = graph_.weights.at(name);
      if (zeros > kFew) ++some;
      if (zeros > std::max(kFew, most.second)) most = {name, zeros};
    }
    if (some == 0) return;
    context_.warn(
        "{}: {} of {} weights have zeros, '{}' most with {:.1f} %; the rows are dense: say their "
        "patterns in the column pattern or with run --pattern",
        file_.path, some, multiplied_.size(), quotable(most.first), kPercent * most.second);
  }

  void note_type() const {
    const bool given = context_.settings.text("dtype") != nullptr;
    if (given || graph_.type.empty() || graph_.type == "float16") return;
    context_.warn("{}: weights are {}; the rows are fp16 unless --dtype says another", file_.path,
                  graph_.type);
  }

  const OnnxShape& shape(const Node& node, const std::string& tensor) const {
    static const OnnxShape kScalar = {1};
    const OnnxShape* const known = value_in(graph_.shapes, tensor);
    if (known != nullptr && contains(*known, 0U)) {
      refuse_request("{}: '{}' (operator {}, '{}') has a side of 0: no row has", file_.path,
                     quotable(tensor), node.op_type(), quotable(node.name()));
    }
    if (known != nullptr) return known->empty() ? kScalar : *known;
    refuse_request(
        "{}: the shape of '{}' (operator {}, '{}') is not known; save the graph with inferred "
        "shapes, or say the sizes of named dimensions with --dim NAME=N",
        file_.path, quotable(tensor), node.op_type(), quotable(node.name()));
  }

  const OnnxShape& input(const Node& node, int index) const {
    if (index < node.input_size()) return shape(node, node.input(index));
    fail(node, fmt::format("{} inputs", node.input_size()), "more");
  }

  bool is_weight(const Node& node, int index) const {
    return index < node.input_size() && weights_.count(node.input(index)) != 0;
  }

  /// The tensor of the file that a weight is a view of.
  const std::string& weight(const Node& node, int index) const {
    return weights_.at(node.input(index));
  }

  std::string where(const Node& node) const {
    return fmt::format("{}, node '{}' ({})", file_.path, quotable(node.name()), node.op_type());
  }

  [[noreturn]] void fail(const Node& node, const std::string& found,
                         const std::string& allowed) const {
    throw_diagnostic(where(node), "E214", found, allowed);
  }

  std::uint32_t product(const Node& node, const OnnxShape& sides) const {
    return ImportContext::side(sides, where(node), "sides");
  }

  std::vector<std::string> producers(const Node& node) const {
    std::vector<std::string> ids;
    for (const std::string& tensor : node.input()) {
      const std::string* const id = value_in(rows_, tensor);
      if (id != nullptr && !contains(ids, *id)) ids.push_back(*id);
    }
    return ids;
  }

  /// What lies otherwise, or what an operator that is left out has made of a weight, is a weight.
  void pass_through(const Node& node) {
    const bool weights =
        is_weight(node, 0) &&
        std::all_of(node.input().begin(), node.input().end(),
                    [&](const auto& name) { return name.empty() || weights_.count(name) != 0; });
    if (weights) {
      const std::string& source = weight(node, 0);
      for (const std::string& tensor : node.output()) weights_[tensor] = source;
    }
    const std::vector<std::string> ids = producers(node);
    if (ids.empty()) return;
    for (const std::string& tensor : node.output()) rows_[tensor] = ids.front();
  }

  LayerOp& row(const Node& node, const std::string& op, std::uint32_t m, std::uint32_t k,
               std::uint32_t n) {
    std::vector<std::string> after = producers(node);
    LayerOp& added = context_.add(node.name(), op);
    added.m = m;
    added.k = k;
    added.n = n;
    added.depends_on = std::move(after);
    for (const std::string& tensor : node.output()) rows_[tensor] = added.id;
    return added;
  }

  void add(const Node& node) {
    if (node.op_type() == "Gemm") return add_gemm(node);
    if (node.op_type() == "MatMul") return add_matmul(node);
    if (node.op_type() == "Conv") return add_convolution(node);
    if (node.op_type() == "Gather") return add_gather(node);
    if (node.output().empty()) fail(node, "no output", "one");
    if (vector_kinds().count(node.op_type()) != 0) return add_vectors(node);
    const OnnxShape& x = shape(node, node.output(0));
    const std::uint32_t last = product(node, {x.back()});
    const std::uint32_t others = product(node, OnnxShape(x.begin(), x.end() - 1));
    row(node, "eltwise", last, 0, others).fn = eltwise_function(node);
  }

  // A norm is of all sides from `axis` on, as is a softmax before version 13; since then it is of
  // that side alone.
  void add_vectors(const Node& node) {
    const OnnxShape& x = input(node, 0);
    const bool softmax = node.op_type() == "Softmax";
    constexpr std::int64_t kOneSide = 13;
    const bool old = softmax && graph_.version != 0 && graph_.version < kOneSide;
    const auto rank = static_cast<std::int64_t>(x.size());
    const std::int64_t given = number_of(node, "axis", old ? 1 : -1);
    const std::int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      fail(node, fmt::format("axis {}", given), fmt::format("an axis of {} sides", rank));
    }
    const auto first = x.begin() + axis;
    const auto last = softmax && !old ? first + 1 : x.end();
    OnnxShape others(x.begin(), first);
    others.insert(others.end(), last, x.end());
    const std::uint32_t length = product(node, OnnxShape(first, last));
    if (softmax) {
      row(node, "softmax", product(node, others), 0, length);
    } else {
      row(node, vector_kinds().at(node.op_type()), length, 0, product(node, others));
    }
  }

  // An addition of a vector that belongs to the model is a bias, a product with one a scale.
  std::string eltwise_function(const Node& node) const {
    const bool with_weight = is_weight(node, 0) || is_weight(node, 1);
    const std::string fn = eltwise_functions().at(node.op_type());
    if (with_weight && fn == "add") return "bias";
    return with_weight && fn == "mul" ? "scale" : fn;
  }

  // Y[M x N] = A[M x K] B[K x N]: W is B transposed if B is a weight.
  void add_gemm(const Node& node) {
    const OnnxShape& a = input(node, 0);
    const OnnxShape& b = input(node, 1);
    if (a.size() != 2 || b.size() != 2)
      fail(node, "operands that are no matrices", "two sides each");
    const bool trans_a = number_of(node, "transA", 0) != 0;
    const bool trans_b = number_of(node, "transB", 0) != 0;
    const std::uint32_t m = product(node, {trans_a ? a[1] : a[0]});
    const std::uint32_t k = product(node, {trans_a ? a[0] : a[1]});
    const std::uint32_t n = product(node, {trans_b ? b[0] : b[1]});
    if ((trans_b ? b[1] : b[0]) != k) fail(node, "sides that do not match", "A[M x K], B[K x N]");
    multiply(node, m, k, n, 1);
    add_bias(node, n, m);
  }

  // The third operand of a product, which other files add by a node of its own.
  void add_bias(const Node& node, std::uint64_t length, std::uint64_t vectors) {
    if (node.input_size() <= 2 || node.input(2).empty()) return;
    LayerOp& added = context_.add(fmt::format("{}.bias", node.name()), "eltwise");
    added.m = product(node, {length});
    added.n = product(node, {vectors});
    added.fn = is_weight(node, 2) ? "bias" : "add";
    for (const std::string& tensor : node.output()) rows_[tensor] = added.id;
  }

  void multiply(const Node& node, std::uint32_t m, std::uint32_t k, std::uint32_t n,
                std::uint32_t batch) {
    for (const int index : {1, 0}) {
      if (!is_weight(node, index)) continue;
      multiplied_.insert(weight(node, index));
      const OnnxShape w = matrix(input(node, index), index == 1);
      // a weight with fewer batches than the product serves several with one
      const std::uint32_t own = product(node, OnnxShape(w.begin(), w.end() - 2));
      LayerOp& added =
          row(node, "gemm", index == 1 ? n : m, k,
              product(node, {index == 1 ? m : n, static_cast<std::uint64_t>(batch / own)}));
      added.batch = own;
      return;
    }
    LayerOp& added = row(node, "bmm", m, k, n);
    added.batch = batch;
    added.fn = "dot";
  }

  /// A vector is a row if it is the left operand of a product, a column if it is the right one.
  static OnnxShape matrix(OnnxShape sides, bool right) {
    if (sides.size() == 1) sides.insert(right ? sides.end() : sides.begin(), 1);
    return sides;
  }

  void add_matmul(const Node& node) {
    const OnnxShape a = matrix(input(node, 0), false);
    const OnnxShape b = matrix(input(node, 1), true);
    if (a.back() != b[b.size() - 2]) {
      fail(node, "operands that do not match", "A[..., M, K] and B[..., K, N]");
    }
    const std::uint32_t k = product(node, {a.back()});
    const std::uint32_t n = product(node, {b.back()});
    if (b.size() == 2) {  // one matrix for all rows of A
      multiply(node, product(node, OnnxShape(a.begin(), a.end() - 1)), k, n, 1);
      return;
    }
    multiply(node, product(node, {a[a.size() - 2]}), k, n, product(node, batches(node, a, b)));
  }

  /// The sides before a product's own: one of 1 serves all of the other operand's.
  OnnxShape batches(const Node& node, const OnnxShape& a, const OnnxShape& b) const {
    const OnnxShape& longer = a.size() >= b.size() ? a : b;
    const OnnxShape& shorter = a.size() >= b.size() ? b : a;
    OnnxShape sides(longer.begin(), longer.end() - 2);
    for (std::size_t i = 2; i < shorter.size(); ++i) {
      std::uint64_t& side = sides[longer.size() - 1 - i];
      const std::uint64_t other = shorter[shorter.size() - 1 - i];
      if (side != other && side != 1 && other != 1) {
        fail(node, "batches that do not match", "A[..., M, K] and B[..., K, N]");
      }
      if (side == 1) side = other;
    }
    return sides;
  }

  void add_convolution(const Node& node) {
    const OnnxShape& x = input(node, 0);
    const OnnxShape& w = input(node, 1);
    if (node.output().empty()) fail(node, "no output", "one");
    const OnnxShape& y = shape(node, node.output(0));
    const std::int64_t group = number_of(node, "group", 1);
    const bool right = x.size() >= 3 && w.size() == x.size() && y.size() == x.size() &&
                       group >= 1 && w[0] % static_cast<std::uint64_t>(group) == 0 &&
                       w[1] * static_cast<std::uint64_t>(group) == x[1];
    if (!right) fail(node, "sides that do not match", "X[N, C, ...], W[M, C / group, ...]");
    Convolution made;
    made.groups = static_cast<std::uint64_t>(group);
    made.filters = w[0] / made.groups;
    made.channels = w[1];
    made.images = y[0];
    made.kernel.assign(w.begin() + 2, w.end());
    made.inputs.assign(x.begin() + 2, x.end());
    made.outputs.assign(y.begin() + 2, y.end());
    set_convolution(made, where(node), row(node, "gemm", 0, 0, 0));
    if (is_weight(node, 1)) multiplied_.insert(weight(node, 1));
    add_bias(node, w[0], context_.result.trace.ops.back().n);
  }

  // Rows of a table by their numbers.
  void add_gather(const Node& node) {
    if (!is_weight(node, 0)) return pass_through(node);
    const OnnxShape& table = input(node, 0);
    const OnnxShape& indices = input(node, 1);
    if (table.size() != 2) return pass_through(node);
    if (number_of(node, "axis", 0) != 0) {
      fail(node, fmt::format("axis {}", number_of(node, "axis", 0)), "rows of a table, axis 0");
    }
    row(node, "embed", product(node, {table[1]}), product(node, {table[0]}), product(node, indices))
        .fn = "gather";
  }

  const ImportFile& file_;
  const OnnxGraph& graph_;
  ImportContext& context_;
  std::set<std::string> skipped_;
  std::map<std::string, std::string> rows_;     // ids, by the tensors they make
  std::map<std::string, std::string> weights_;  // tensors of the file, by the views of them
  std::set<std::string> multiplied_;            // of these, those that products take
};

}  // namespace

void add_onnx_rows(const ImportFile& file, const OnnxGraph& graph, ImportContext& context) {
  RowMaker(file, graph, context).make();
}

}  // namespace lacuna
