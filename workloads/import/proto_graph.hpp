// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/import/import_context.hpp"

namespace lacuna {

/// Sizes of a tensor; 0: it is empty.
using OnnxShape = std::vector<std::uint64_t>;

/// What of an ONNX graph matters here.
struct OnnxGraph {
  /// Nodes in an order in which they can be executed, each with a name, and named outputs alone.
  onnx::ModelProto model;
  std::map<std::string, OnnxShape> shapes;  // of tensors whose sides are all known
  /// Tensors with values of their own, and their shares of zeros: 0 where values are not in the
  /// file.
  std::map<std::string, double> weights;
  std::string type;          // of numbers, of the first weight with sides
  std::int64_t version = 0;  // of the set of operators, 0 if the file does not say
};

/// Appends the rows of the graph. RequestError lists all operators that have none.
void add_onnx_rows(const ImportFile& file, const OnnxGraph& graph, ImportContext& context);

}  // namespace lacuna
