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
#include <optional>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "workloads/import/onnx_graph.hpp"
#include "workloads/import/proto_forms.hpp"
#include "workloads/import/proto_shapes.hpp"
#include "workloads/trace/matrix/element_type.hpp"
#include "workloads/trace/problem.hpp"
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
    onnx::ModelProto model;
    google::protobuf::io::ArrayInputStream bytes(file_.text.data(),
                                                 static_cast<int>(file_.text.size()));
    google::protobuf::io::CodedInputStream stream(&bytes);
    constexpr int kDeepestMessage = 64;
    stream.SetRecursionLimit(kDeepestMessage);
    if (!model.ParseFromCodedStream(&stream) || !model.has_graph()) {
      throw_problem(file_.path, "E206", "bytes that are no ONNX model", "a ModelProto");
    }
    onnx::GraphProto& graph = *model.mutable_graph();
    for (const auto& set : model.opset_import()) {
      if (is_standard(set.domain())) graph_.version = set.version();
    }
    for (const auto& tensor : graph.initializer()) add_weight(tensor);
    for (const auto& tensor : graph.sparse_initializer()) add_sparse_weight(tensor);
    for (const auto& node : graph.node()) add_node(node);
    check_order();
    for (auto* values : {graph.mutable_input(), graph.mutable_value_info(), graph.mutable_output()})
      for (auto& value : *values) give_sizes(value);
    for (const auto& [name, sides] : infer_shapes(model)) {
      if (const auto shape = full_shape(name, sides)) graph_.shapes[name] = *shape;
    }
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
  /// The sides, each at least 1; no shape and a note if the tensor is empty.
  template <class Sides>
  std::optional<OnnxShape> full_shape(const std::string& name, const Sides& sides) {
    OnnxShape shape;
    for (const std::int64_t side : sides) {
      if (side < 1) {
        graph_.empty.insert(name);
        return std::nullopt;
      }
      shape.push_back(static_cast<std::uint64_t>(side));
    }
    return shape;
  }

  /// A weight of which the file has only what is not zero.
  void add_sparse_weight(const onnx::SparseTensorProto& tensor) {
    const std::string& name = tensor.values().name();
    const std::optional<OnnxShape> shape = full_shape(name, tensor.dims());
    if (!shape) return;
    graph_.weights.insert(name);
    const auto product = [](const auto& sides) {
      return std::accumulate(sides.begin(), sides.end(), 1.0, std::multiplies<>());
    };
    const double all = product(*shape);
    const double kept = product(tensor.values().dims());
    if (kept < 0 || kept > all) {
      throw_problem(fmt::format("{}, sparse tensor '{}'", file_.path, quotable(name)), "E214",
                    fmt::format("{:.0f} values", kept), fmt::format("0 to {:.0f}", all));
    }
    graph_.zeros[name] = 1 - kept / all;
    note_type(tensor.values());
  }

  /// The type of the first weight with sides.
  void note_type(const onnx::TensorProto& tensor) {
    if (!graph_.type.empty()) return;
    graph_.type = lower_case(onnx::TensorProto::DataType_Name(
        static_cast<onnx::TensorProto::DataType>(tensor.data_type())));
  }

  void add_weight(const onnx::TensorProto& tensor) {
    const std::optional<OnnxShape> full = full_shape(tensor.name(), tensor.dims());
    if (!full) return;
    graph_.weights.insert(tensor.name());
    if (full->size() < 2) return;
    note_type(tensor);
    count_zeros(tensor, *full);
  }

  void count_zeros(const onnx::TensorProto& tensor, const OnnxShape& shape) {
    const bool single = tensor.data_type() == onnx::TensorProto::FLOAT;
    if (!single && tensor.data_type() != onnx::TensorProto::FLOAT16) return;
    const ElementType& type = *find_npy_type(single ? "f4" : "f2");
    std::uint64_t all = type.size;
    for (const std::uint64_t side : shape) all *= std::min(side, kMostSide);
    const std::string& bytes = tensor.raw_data();
    const auto& list = tensor.float_data();
    double zeros = 0;
    if (!bytes.empty() && bytes.size() == all) {
      for (std::size_t at = 0; at < bytes.size(); at += type.size) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + at, type.size);
        zeros += type.is_zero(bits) ? 1 : 0;
      }
      graph_.zeros[tensor.name()] =
          zeros * static_cast<double>(type.size) / static_cast<double>(all);
    } else if (single && !list.empty()) {
      zeros = static_cast<double>(std::count(list.begin(), list.end(), 0.0F));
      graph_.zeros[tensor.name()] = zeros / list.size();
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

  void add_node(const onnx::NodeProto& proto) {
    OnnxNode node;
    node.op = proto.op_type();
    const bool known = is_standard(proto.domain()) || proto.domain() == "com.microsoft";
    if (!known) node.op = fmt::format("{}.{}", proto.domain(), proto.op_type());
    node.inputs.assign(proto.input().begin(), proto.input().end());
    for (const std::string& output : proto.output()) {
      if (!output.empty()) node.outputs.push_back(output);  // without a name: nobody wants it
    }
    node.name = !proto.name().empty()   ? proto.name()
                : !node.outputs.empty() ? node.outputs.front()
                                        : node.op;
    for (const auto& attribute : proto.attribute()) {
      std::vector<std::int64_t>& list = node.attributes[attribute.name()];
      if (attribute.has_i()) list.push_back(attribute.i());
      for (const std::int64_t number : attribute.ints()) list.push_back(number);
    }
    if (node.op == "Constant") {
      for (const auto& attribute : proto.attribute()) {
        if (!attribute.has_t() || node.outputs.empty()) continue;
        onnx::TensorProto tensor = attribute.t();
        tensor.set_name(node.outputs.front());
        add_weight(tensor);
      }
    }
    graph_.nodes.push_back(std::move(node));
  }

  // The format demands an order of execution.
  void check_order() {
    std::set<std::string> made;
    std::set<std::string> results;
    for (const OnnxNode& node : graph_.nodes)
      results.insert(node.outputs.begin(), node.outputs.end());
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string& input : node.inputs) {
        if (results.count(input) != 0 && made.count(input) == 0) {
          throw_problem(fmt::format("{}, node '{}'", file_.path, quotable(node.name)), "E210",
                        fmt::format("'{}', which a later node makes", quotable(input)),
                        "nodes in an order of execution");
        }
      }
      made.insert(node.outputs.begin(), node.outputs.end());
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
  OnnxReader reader(file, context.settings());
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
