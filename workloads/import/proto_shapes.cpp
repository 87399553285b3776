// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/proto_shapes.hpp"

#include <onnx/defs/tensor_proto_util.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <string_view>
#include <unordered_map>

#include "sim/base/contains.hpp"
#include "workloads/import/proto_forms.hpp"

namespace lacuna {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorShapeProto;
using onnx::TypeProto;

/// Operators of whose results inference is asked: those with rows, those that compute sides, and
/// those between them in networks.
constexpr std::string_view kAsked =
    " "
    "Abs Add And ArgMax ArgMin AveragePool BatchNormalization Cast Ceil Clip Concat Constant "
    "ConstantOfShape Conv Cos CumSum DequantizeLinear Div Dropout Elu Equal Erf Exp Expand "
    "Flatten Floor Gather Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual "
    "HardSigmoid HardSwish Identity InstanceNormalization LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax MatMul MatMulInteger Max MaxPool Min Mod Mul Neg Not Or PRelu "
    "Pow QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin "
    "ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round Selu Shape Sigmoid Sign Sin Size "
    "Slice Softmax Softplus Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu Unsqueeze Where "
    "Xor ";

/// `op` is a name of the standard.
bool is_asked(const std::string& op) {
  return kAsked.find(" " + op + " ") != std::string_view::npos;
}

/// Of operators that runtimes and later versions have, or had before the standard: those whose
/// result has the sides of their first input.
bool keeps_sides(const NodeProto& node) {
  static const std::set<std::string> kKeeping = {"Gelu",
                                                 "FastGelu",
                                                 "QuickGelu",
                                                 "Silu",
                                                 "Swish",
                                                 "LayerNormalization",
                                                 "GroupNormalization",
                                                 "RMSNormalization",
                                                 "Mish",
                                                 "SimplifiedLayerNormalization"};
  return is_known(node.domain()) && node.input_size() != 0 && node.output_size() != 0 &&
         kKeeping.count(node.op_type()) != 0;
}

/// Files of the first version do not say of what type an attribute is.
void say_types(NodeProto& node) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.type() != AttributeProto::UNDEFINED) continue;
    if (attribute.has_i()) attribute.set_type(AttributeProto::INT);
    if (attribute.has_f()) attribute.set_type(AttributeProto::FLOAT);
    if (attribute.has_s()) attribute.set_type(AttributeProto::STRING);
    if (attribute.has_t()) attribute.set_type(AttributeProto::TENSOR);
    if (attribute.ints_size() != 0) attribute.set_type(AttributeProto::INTS);
  }
}

constexpr std::int64_t kMostNumber = 0x7fffffff;

/// True if the attribute is not there, or has `count` numbers of at least `least` and at most
/// `most`.
bool has_numbers(const NodeProto& node, const std::string& name, int count, std::int64_t least,
                 std::int64_t most = kMostNumber) {
  const AttributeProto* list = find_attribute(node, name);
  return list == nullptr ||
         (list->ints_size() == count &&
          std::all_of(list->ints().begin(), list->ints().end(),
                      [&](auto number) { return number >= least && number <= most; }));
}

/// True if the sides that attributes name are some of an operand of `rank` sides.
bool has_sides(const NodeProto& node, int rank) {
  const std::int64_t axis = number_of(node, "axis", 0);
  const AttributeProto* axes = find_attribute(node, "axes");
  const int named = axes == nullptr ? 0 : axes->ints_size();
  const int all = node.op_type() == "Unsqueeze" ? rank + named : rank;
  return axis >= -rank && axis <= rank && has_numbers(node, "axes", named, -all, all - 1) &&
         has_numbers(node, "perm", rank, 0, rank - 1);
}

/// True of whole numbers, which may be sides, if all of them are there.
bool has_all_numbers(const onnx::TensorProto& tensor) {
  const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
  if (!wide && tensor.data_type() != onnx::TensorProto::INT32) return false;
  std::int64_t count = 1;
  for (const std::int64_t side : tensor.dims()) {
    if (side < 0 || side > kMostNumber || count * side > kMostNumber) return false;
    count *= side;
  }
  const std::size_t width = wide ? sizeof(std::int64_t) : sizeof(std::int32_t);
  if (tensor.has_raw_data()) {
    return tensor.raw_data().size() == static_cast<std::size_t>(count) * width;
  }
  return count == (wide ? tensor.int64_data_size() : tensor.int32_data_size());
}

class Inference {
 public:
  explicit Inference(OnnxGraph& all)
      : all_(all), version_(static_cast<int>(std::min(all.version, kLatest))) {
    const onnx::GraphProto& graph = all.model.graph();
    for (const auto& tensor : graph.initializer()) {
      add(tensor.name(), tensor.data_type(), tensor.dims());
      if (has_all_numbers(tensor)) data_[tensor.name()] = &tensor;
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      add(sparse.values().name(), sparse.values().data_type(), sparse.dims());
    }
    for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const auto& value : *values) {
        if (value.type().has_tensor_type()) take(value.name(), value.type());
      }
    }
    constexpr int kFirstWithNorms = 17;
    if (version_ < 1) version_ = kFirstWithNorms;
  }

  void run() {
    for (NodeProto& node : *all_.model.mutable_graph()->mutable_node()) {
      say_types(node);
      const bool standard = is_standard(node.domain());
      const onnx::OpSchema* schema =
          standard ? onnx::OpSchemaRegistry::Schema(node.op_type(), version_) : nullptr;
      if (schema == nullptr && keeps_sides(node)) {
        const TypeProto* const type = value_in(stored_, node.input(0));
        if (type != nullptr) take(node.output(0), *type);
      } else if (schema != nullptr && is_asked(node.op_type())) {
        try_ask(*schema, node);
      }
    }
    for (const auto& [name, type] : stored_) {
      const std::optional<Numbers> sides = sides_of(name);
      if (!sides) continue;
      OnnxShape& shape = all_.shapes[name];
      for (const std::int64_t side : *sides) {
        shape.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(side, 0)));
      }
    }
  }

 private:
  /// Later versions than is installed are asked as earlier ones write them.
  void try_ask(const onnx::OpSchema& schema, NodeProto& node) {
    try {
      if (is_sound(schema, node)) {
        ask(schema, node);
        return;
      }
      NodeProto earlier = node;
      const auto numbers = [&](const std::string& tensor) { return numbers_in(tensor); };
      if (write_earlier_form(earlier, version_, numbers) && is_sound(schema, earlier)) {
        ask(schema, earlier);
      } else {
        cut(node);
      }
    } catch (const std::exception&) {  // of this node nothing is known
    }
  }

  /// A Split that says only how many pieces it makes.
  void cut(const NodeProto& node) {
    constexpr int kSplitsCount = 18;
    if (version_ < kSplitsCount) return;
    const std::optional<Numbers> sides = sides_of(node.input_size() == 0 ? "" : node.input(0));
    if (!sides) return;
    const std::vector<Numbers> pieces = even_pieces(node, *sides);
    const int type = stored_.at(node.input(0)).tensor_type().elem_type();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      add(node.output(static_cast<int>(i)), type, pieces[i]);
    }
  }

  /// Null if nothing is known of it.
  const TensorShapeProto* shape_of(const std::string& tensor) const {
    const TypeProto* const type = value_in(stored_, tensor);
    const bool known = type != nullptr && type->tensor_type().has_shape();
    return known ? &type->tensor_type().shape() : nullptr;
  }

  std::optional<Numbers> sides_of(const std::string& tensor) const {
    const TensorShapeProto* const shape = shape_of(tensor);
    if (shape == nullptr) return {};
    Numbers sides;
    for (const auto& side : shape->dim()) {
      if (!side.has_dim_value()) return {};
      sides.push_back(side.dim_value());
    }
    return sides;
  }

  /// Of a small constant.
  std::optional<Numbers> numbers_in(const std::string& tensor) const {
    const auto* const data = value_in(data_, tensor);
    const bool here =
        data != nullptr && is_few(tensor) && (*data)->data_type() == onnx::TensorProto::INT64;
    if (!here) return {};
    return onnx::ParseData<std::int64_t>(*data);
  }

  template <class Sides>
  void add(const std::string& name, int type, const Sides& sides) {
    TypeProto made;
    made.mutable_tensor_type()->set_elem_type(type);
    made.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t side : sides) {
      made.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(side);
    }
    take(name, made);
  }

  /// What is known already stays.
  void take(const std::string& name, const TypeProto& type) {
    if (name.empty() || !type.has_tensor_type()) return;
    TypeProto& mine = stored_[name];
    types_[name] = &mine;
    if (!mine.has_tensor_type() || !mine.tensor_type().has_shape()) {
      mine = type;
      return;
    }
    if (!type.tensor_type().has_shape()) return;
    auto& sides = *mine.mutable_tensor_type()->mutable_shape();
    const TensorShapeProto& others = type.tensor_type().shape();
    if (sides.dim_size() != others.dim_size()) return;
    for (int i = 0; i < sides.dim_size(); ++i) {
      if (!sides.dim(i).has_dim_value()) *sides.mutable_dim(i) = others.dim(i);
    }
  }

  /// The number of sides of an operand, -1 if it is not known.
  int rank(const NodeProto& node, int input) const {
    const TensorShapeProto* const shape =
        input < node.input_size() ? shape_of(node.input(input)) : nullptr;
    return shape == nullptr ? -1 : shape->dim_size();
  }

  /// Whether an operand is so few numbers that they can be sides, or left out.
  bool is_few(const std::string& operand) const {
    constexpr std::int64_t kMostSides = 64;
    const TensorShapeProto* const shape = shape_of(operand);
    if (shape == nullptr) return operand.empty();
    if (shape->dim_size() == 0) return true;
    const std::int64_t count = shape->dim(0).dim_value();  // 0 if it is not known
    return shape->dim_size() == 1 && count > 0 && count <= kMostSides;
  }

  /// Inference makes as many sides of an operand as that has numbers.
  bool takes_few_sides(const NodeProto& node) const {
    static const std::set<std::string> kTaking = {"ConstantOfShape", "Expand", "ReduceSum",
                                                  "Reshape",         "Slice",  "Split",
                                                  "Squeeze",         "Tile",   "Unsqueeze"};
    if (kTaking.count(node.op_type()) == 0) return true;
    const int first = node.op_type() == "ConstantOfShape" ? 0 : 1;
    return std::all_of(node.input().begin() + std::min(first, node.input_size()),
                       node.input().end(), [&](const std::string& input) { return is_few(input); });
  }

  /// Inference takes operands and attributes for those of the operator, also if a later version
  /// than is installed has others; operands for known; and sides and windows for those of their
  /// input.
  bool is_sound(const onnx::OpSchema& schema, const NodeProto& node) const {
    try {
      schema.Verify(node);
    } catch (const std::exception&) {
      return false;
    }
    for (int i = 0; i < node.input_size(); ++i) {
      if (!node.input(i).empty() && rank(node, i) < 0) return false;
    }
    const int sides = node.input_size() == 0 ? 0 : std::max(rank(node, 0), 0);
    if (sides == 0 && schema.attributes().count("axis") != 0) return false;
    if (!has_sides(node, sides) || !takes_few_sides(node)) return false;
    const std::string& op = node.op_type();
    if (op == "Gemm") return sides == 2 && rank(node, 1) == 2;
    if (op != "Conv" && op != "MaxPool" && op != "AveragePool") return true;
    const int spatial = sides - 2;
    return spatial > 0 && (op != "Conv" || rank(node, 1) == spatial + 2) &&
           has_numbers(node, "kernel_shape", spatial, 1) &&
           has_numbers(node, "strides", spatial, 1) && has_numbers(node, "dilations", spatial, 1) &&
           has_numbers(node, "pads", 2 * spatial, 0);
  }

  /// Whether an operator's operands can be sides.
  bool computes_sides(const NodeProto& node) const {
    if (node.op_type() == "Shape" || node.op_type() == "Size") return true;
    return std::all_of(node.input().begin(), node.input().end(),
                       [&](const std::string& input) { return is_few(input); });
  }

  void ask(const onnx::OpSchema& schema, NodeProto& node) {
    note_constant(node);
    onnx::shape_inference::InferenceContextImpl context(node, types_, data_, {}, &sides_);
    schema.GetTypeAndShapeInferenceFunction()(context);
    for (int i = 0; i < node.output_size(); ++i) {
      take(node.output(i), *context.getOutputType(static_cast<std::size_t>(i)));
    }
    if (!schema.has_data_propagation_function() || !computes_sides(node)) return;
    onnx::shape_inference::DataPropagationContextImpl values(node, types_, data_, sides_);
    schema.GetDataPropagationFunction()(values);
  }

  /// The values of a constant may be sides of others.
  void note_constant(const NodeProto& node) {
    if (node.op_type() != "Constant") return;
    if (const AttributeProto* value = find_attribute(node, "value")) {
      if (has_all_numbers(value->t())) data_[node.output(0)] = &value->t();
      return;
    }
    onnx::TensorProto made;
    made.set_data_type(onnx::TensorProto::INT64);
    if (const AttributeProto* one = find_attribute(node, "value_int")) {
      made.add_int64_data(one->i());
    } else if (const AttributeProto* several = find_attribute(node, "value_ints")) {
      made.add_dims(several->ints_size());
      *made.mutable_int64_data() = several->ints();
    } else {
      return;
    }
    data_[node.output(0)] = &(constants_[node.output(0)] = made);
  }

  static constexpr std::int64_t kLatest = 1000;

  OnnxGraph& all_;
  int version_;
  std::map<std::string, TypeProto> stored_;
  std::unordered_map<std::string, TypeProto*> types_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_;
  std::map<std::string, onnx::TensorProto> constants_;
  std::unordered_map<std::string, TensorShapeProto> sides_;  // values that operators computed
};

}  // namespace

void infer_shapes(OnnxGraph& graph) { Inference(graph).run(); }

}  // namespace lacuna
