// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "workloads/import/proto_forms.hpp"
#include "workloads/import/proto_shapes.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/element_type.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// Sizes of dimensions that have a name instead, of the setting `dim`.
std::map<std::string, std::uint64_t> named_dimensions(const Settings& settings) {
  std::map<std::string, std::uint64_t> dimensions;
  for (const std::string& text : settings.all("dim")) {
    const std::size_t equals = text.rfind('=');
    const bool named = equals != std::string::npos && equals != 0;
    const auto size = named ? parse_integer(text.substr(equals + 1), 0, kMostSide) : std::nullopt;
    if (!size) refuse_setting("dim", text, "NAME=N, a name and a whole number");
    const bool first = dimensions.emplace(text.substr(0, equals), *size).second;
    if (!first) refuse_setting("dim", text, "one size for a name");
  }
  return dimensions;
}

class OnnxReader {
 public:
  OnnxReader(const ImportFile& file, const Settings& settings)
      : file_(file), sizes_(named_dimensions(settings)) {}

  OnnxGraph read() {
    google::protobuf::io::ArrayInputStream bytes(file_.text.data(),
                                                 static_cast<int>(file_.text.size()));
    google::protobuf::io::CodedInputStream stream(&bytes);
    constexpr int kDeepestMessage = 64;
    stream.SetRecursionLimit(kDeepestMessage);
    onnx::ModelProto& model = graph_.model;
    if (!model.ParseFromCodedStream(&stream) || !model.has_graph()) {
      throw_diagnostic(file_.path, "E206", "bytes that are no ONNX model", "a ModelProto");
    }
    onnx::GraphProto& graph = *model.mutable_graph();
    for (const auto& set : model.opset_import()) {
      if (is_standard(set.domain())) graph_.version = set.version();
    }
    for (auto* values : {graph.mutable_input(), graph.mutable_value_info(), graph.mutable_output()})
      for (auto& value : *values) give_sizes(value);
    infer_shapes(graph_);
    for (const auto& tensor : graph.initializer()) add_weight(tensor.name(), tensor);
    for (const auto& tensor : graph.sparse_initializer()) add_sparse_weight(tensor);
    for (auto& node : *graph.mutable_node()) settle(node);
    check_order();
    return std::move(graph_);
  }

  /// Names of dimensions without a size.
  const std::set<std::string>& unnamed() const { return unnamed_; }

  /// Sizes that were given to names which no input or result has.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, size] : sizes_) {
      if (names_.count(name) == 0) names.push_back(name);
    }
    return names;
  }

 private:
  template <class Sides>
  static double product(const Sides& sides) {
    return std::accumulate(sides.begin(), sides.end(), 1.0, std::multiplies<>());
  }

  /// Whether the tensor `name`, of numbers like those of `like`, is a weight: none of its sides is
  /// 0. Those of the first one with sides have the type of all.
  template <class Sides>
  bool is_weight(const std::string& name, const Sides& sides, const onnx::TensorProto& like) {
    if (std::any_of(sides.begin(), sides.end(), [](std::int64_t side) { return side < 1; })) {
      return false;
    }
    graph_.weights[name] = 0;
    if (sides.size() > 1 && graph_.type.empty()) {
      graph_.type = lower_case(onnx::TensorProto::DataType_Name(
          static_cast<onnx::TensorProto::DataType>(like.data_type())));
    }
    return true;
  }

  /// A weight of which the file has only what is not zero.
  void add_sparse_weight(const onnx::SparseTensorProto& tensor) {
    const std::string& name = tensor.values().name();
    if (!is_weight(name, tensor.dims(), tensor.values())) return;
    const double all = product(tensor.dims());
    const double kept = product(tensor.values().dims());
    if (kept < 0 || kept > all) {
      throw_diagnostic(fmt::format("{}, sparse tensor '{}'", file_.path, quotable(name)), "E214",
                       fmt::format("{:.0f} values", kept), fmt::format("0 to {:.0f}", all));
    }
    graph_.weights[name] = 1 - kept / all;
  }

  void add_weight(const std::string& name, const onnx::TensorProto& tensor) {
    if (!is_weight(name, tensor.dims(), tensor) || tensor.dims_size() < 2) return;
    const bool single = tensor.data_type() == onnx::TensorProto::FLOAT;
    if (!single && tensor.data_type() != onnx::TensorProto::FLOAT16) return;
    const ElementType& type = *find_npy_type(single ? "f4" : "f2");
    const std::string& bytes = tensor.raw_data();
    const auto& list = tensor.float_data();
    const auto size = static_cast<double>(type.size);
    const auto all = static_cast<double>(bytes.size());
    double zeros = 0;
    if (size * product(tensor.dims()) == all) {
      for (std::size_t at = 0; at < bytes.size(); at += type.size) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + at, type.size);
        zeros += type.is_zero(bits) ? 1 : 0;
      }
      graph_.weights[name] = zeros * size / all;
    } else if (single && !list.empty()) {
      zeros = static_cast<double>(std::count(list.begin(), list.end(), 0.0F));
      graph_.weights[name] = zeros / list.size();
    }
  }

  /// Dimensions with a name get the size that was given for it.
  void give_sizes(onnx::ValueInfoProto& value) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
    auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto& side : *shape.mutable_dim()) {
      const std::string& name = side.dim_param();
      if (name.empty()) continue;
      names_.insert(name);
      const auto named = sizes_.find(name);
      if (named == sizes_.end()) {
        unnamed_.insert(quotable(name));
      } else {
        side.set_dim_value(static_cast<std::int64_t>(named->second));
      }
    }
  }

  /// Gives a node the form that OnnxGraph has. The values of a constant are a weight.
  void settle(onnx::NodeProto& node) {
    if (!is_known(node.domain())) {
      node.set_op_type(fmt::format("{}.{}", node.domain(), node.op_type()));
    }
    auto& outputs = *node.mutable_output();  // without a name: nobody wants it
    outputs.erase(std::remove(outputs.begin(), outputs.end(), ""), outputs.end());
    if (node.name().empty()) node.set_name(outputs.empty() ? node.op_type() : outputs[0]);
    if (node.op_type() != "Constant" || outputs.empty()) return;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) add_weight(outputs[0], attribute.t());
    }
  }

  // The format demands an order of execution.
  void check_order() {
    std::set<std::string> made;
    std::set<std::string> results;
    const auto& nodes = graph_.model.graph().node();
    for (const auto& node : nodes) results.insert(node.output().begin(), node.output().end());
    for (const auto& node : nodes) {
      for (const std::string& input : node.input()) {
        if (results.count(input) != 0 && made.count(input) == 0) {
          throw_diagnostic(fmt::format("{}, node '{}'", file_.path, quotable(node.name())), "E210",
                           fmt::format("'{}', which a later node makes", quotable(input)),
                           "nodes in an order of execution");
        }
      }
      made.insert(node.output().begin(), node.output().end());
    }
  }

  const ImportFile& file_;
  std::map<std::string, std::uint64_t> sizes_;
  std::set<std::string> unnamed_;
  std::set<std::string> names_;  // of dimensions
  OnnxGraph graph_;
};

}  // namespace

void import_onnx(const ImportFile& file, ImportContext& context) {
  OnnxReader reader(file, context.settings);
  const OnnxGraph graph = reader.read();
  for (const std::string& name : reader.unused()) {
    context.warn("{}: --dim: no dimension of this graph is '{}'", file.path, quotable(name));
  }
  try {
    add_onnx_rows(file, graph, context);
  } catch (const RequestError& error) {
    if (reader.unnamed().empty()) throw;
    refuse_request("{}\nDimensions without a size: {}", error.what(),
                   fmt::join(reader.unnamed(), ", "));
  }
}

}  // namespace lacuna
