// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/import/import_context.hpp"

namespace lacuna {

/// Sizes of a tensor, each at least 1.
using OnnxShape = std::vector<std::uint64_t>;

struct OnnxNode {
  std::string op;
  std::string name;  // or that of its first output
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<std::int64_t>> attributes;  // of whole numbers

  /// The first number of an attribute, or `otherwise`.
  std::int64_t number(const std::string& key, std::int64_t otherwise) const;
};

/// What of an ONNX graph matters here.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;  // in an order in which they can be executed
  std::map<std::string, OnnxShape> shapes;
  std::set<std::string> empty;          // tensors of which a side is 0
  std::set<std::string> weights;        // tensors with values of their own
  std::map<std::string, double> zeros;  // their shares of zeros, where values are in the file
  std::string type;                     // of numbers, of the first weight with sides
  std::int64_t version = 0;             // of the set of operators, 0 if the file does not say
};

/// True if the operator changes no value, or only how values lie.
bool is_view(const std::string& op);

/// Appends the rows of the graph. RequestError lists all operators that have none.
void add_onnx_rows(const ImportFile& file, const OnnxGraph& graph, ImportContext& context);

}  // namespace lacuna
