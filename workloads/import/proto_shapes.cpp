// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/proto_shapes.hpp"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <string_view>
#include <unordered_map>

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
    "Pow QuantizeLinear Range Reciprocal ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum Relu Reshape Round Selu Shape Sigmoid Sign Sin Size Slice Softmax Softplus "
    "Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu Unsqueeze Where Xor ";

/// `op` is a name of the standard.
bool is_asked(const std::string& op) {
  return kAsked.find(" " + op + " ") != std::string_view::npos;
}

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

/// Of operators that runtimes and later versions have, or had before the standard: those whose
/// result has the sides of their first input.
bool keeps_sides(const NodeProto& node) {
  static const std::set<std::string> kKeeping = {"Gelu", "FastGelu", "QuickGelu", "Silu",
                                                 "LayerNormalization"};
  const bool known = is_standard(node.domain()) || node.domain() == "com.microsoft";
  return known && node.input_size() != 0 && node.output_size() != 0 &&
         kKeeping.count(node.op_type()) != 0;
}

const AttributeProto* attribute(const NodeProto& node, const std::string& name) {
  const auto found = std::find_if(node.attribute().begin(), node.attribute().end(),
                                  [&](const auto& each) { return each.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
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

/// True if the attribute is not there, or has `count` numbers from `least` on.
bool has_numbers(const NodeProto& node, const std::string& name, int count, std::int64_t least) {
  constexpr std::int64_t kMost = 0x7fffffff;
  const AttributeProto* list = attribute(node, name);
  return list == nullptr || (list->ints_size() == count &&
                             std::all_of(list->ints().begin(), list->ints().end(), [&](auto side) {
                               return side >= least && side <= kMost;
                             }));
}

class Inference {
 public:
  explicit Inference(onnx::ModelProto& model) : model_(model) {
    const onnx::GraphProto& graph = model.graph();
    for (const auto& tensor : graph.initializer()) {
      add(tensor.name(), tensor.data_type(), tensor.dims());
      data_[tensor.name()] = &tensor;
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      add(sparse.values().name(), sparse.values().data_type(), sparse.dims());
    }
    for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const auto& value : *values) {
        if (value.type().has_tensor_type()) take(value.name(), value.type());
      }
    }
    constexpr std::int64_t kFirstWithNorms = 17;
    constexpr std::int64_t kMost = 1000;
    std::int64_t version = kFirstWithNorms;
    for (const auto& set : model.opset_import()) {
      if (is_standard(set.domain())) version = set.version();
    }
    version_ = static_cast<int>(std::clamp<std::int64_t>(version, 1, kMost));
  }

  void run() {
    for (NodeProto& node : *model_.mutable_graph()->mutable_node()) {
      say_types(node);
      const bool standard = is_standard(node.domain());
      const onnx::OpSchema* schema =
          standard ? onnx::OpSchemaRegistry::Schema(node.op_type(), version_) : nullptr;
      if (schema == nullptr && keeps_sides(node)) {
        const auto found = types_.find(node.input(0));
        if (found != types_.end()) take(node.output(0), *found->second);
      } else if (schema != nullptr && is_asked(node.op_type()) && is_sound(*schema, node)) {
        try {
          ask(*schema, node);
        } catch (const std::exception&) {  // of this node nothing is known
        }
      }
    }
  }

  /// Of tensors of which every side is known.
  std::map<std::string, std::vector<std::int64_t>> shapes() const {
    std::map<std::string, std::vector<std::int64_t>> all;
    for (const auto& [name, type] : stored_) {
      if (!type.tensor_type().has_shape()) continue;
      const auto& sides = type.tensor_type().shape().dim();
      if (!std::all_of(sides.begin(), sides.end(),
                       [](const auto& side) { return side.has_dim_value(); })) {
        continue;
      }
      std::vector<std::int64_t>& known = all[name];
      for (const auto& side : sides) known.push_back(side.dim_value());
    }
    return all;
  }

 private:
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
    if (input >= node.input_size()) return -1;
    const auto found = types_.find(node.input(input));
    const bool known = found != types_.end() && found->second->tensor_type().has_shape();
    return known ? found->second->tensor_type().shape().dim_size() : -1;
  }

  /// Inference takes operands and attributes for those of the operator, also if a later version
  /// than is installed has others; operands for known; and windows for those of their input.
  bool is_sound(const onnx::OpSchema& schema, const NodeProto& node) const {
    try {
      schema.Verify(node);
    } catch (const std::exception&) {
      return false;
    }
    for (int i = 0; i < node.input_size(); ++i) {
      if (!node.input(i).empty() && rank(node, i) < 0) return false;
    }
    const std::string& op = node.op_type();
    if (op != "Conv" && op != "MaxPool" && op != "AveragePool") return true;
    const int spatial = rank(node, 0) - 2;
    return spatial > 0 && (op != "Conv" || rank(node, 1) == spatial + 2) &&
           has_numbers(node, "kernel_shape", spatial, 1) &&
           has_numbers(node, "strides", spatial, 1) && has_numbers(node, "dilations", spatial, 1) &&
           has_numbers(node, "pads", 2 * spatial, 0);
  }

  void ask(const onnx::OpSchema& schema, NodeProto& node) {
    note_constant(node);
    onnx::shape_inference::InferenceContextImpl context(node, types_, data_, {}, &sides_);
    schema.GetTypeAndShapeInferenceFunction()(context);
    for (int i = 0; i < node.output_size(); ++i) {
      take(node.output(i), *context.getOutputType(static_cast<std::size_t>(i)));
    }
    if (!schema.has_data_propagation_function()) return;
    onnx::shape_inference::DataPropagationContextImpl values(node, types_, data_, sides_);
    schema.GetDataPropagationFunction()(values);
  }

  /// The values of a constant may be sides of others.
  void note_constant(const NodeProto& node) {
    if (node.op_type() != "Constant") return;
    if (const AttributeProto* value = attribute(node, "value")) {
      data_[node.output(0)] = &value->t();
      return;
    }
    onnx::TensorProto made;
    made.set_data_type(onnx::TensorProto::INT64);
    if (const AttributeProto* one = attribute(node, "value_int")) {
      made.add_int64_data(one->i());
    } else if (const AttributeProto* several = attribute(node, "value_ints")) {
      made.add_dims(several->ints_size());
      *made.mutable_int64_data() = several->ints();
    } else {
      return;
    }
    data_[node.output(0)] = &(constants_[node.output(0)] = made);
  }

  onnx::ModelProto& model_;
  int version_ = 0;
  std::map<std::string, TypeProto> stored_;
  std::unordered_map<std::string, TypeProto*> types_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_;
  std::map<std::string, onnx::TensorProto> constants_;
  std::unordered_map<std::string, TensorShapeProto> sides_;  // values that operators computed
};

}  // namespace

std::map<std::string, std::vector<std::int64_t>> infer_shapes(onnx::ModelProto& model) {
  Inference inference(model);
  inference.run();
  return inference.shapes();
}

}  // namespace lacuna
