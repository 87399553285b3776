// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/import_context.hpp"

namespace lacuna {

/// A node of a Chakra execution trace (mlcommons/chakra), whatever its encoding.
struct ChakraNode {
  enum class Type { invalid, metadata, load, store, compute, send, receive, collective };

  std::uint64_t id = 0;
  std::string name;
  Type type = Type::invalid;
  std::vector<std::uint64_t> dependencies;
  std::uint64_t duration_us = 0;
  std::optional<std::uint64_t> comm_type;
  std::optional<std::uint64_t> comm_size;    // bytes
  std::optional<std::uint64_t> num_ops;      // of a computation
  std::optional<std::uint64_t> tensor_size;  // bytes
};

/// The nodes of one rank's trace; `ranks` if the file says how many there are.
struct ChakraGraph {
  std::vector<ChakraNode> nodes;  // in the order of the file
  std::optional<std::uint64_t> ranks;
};

/// True if `bytes` are messages, each behind its length.
bool is_chakra(std::string_view bytes);

/// Sets the attribute `name` of `node` if it is one that is used.
void set_attribute(ChakraNode& node, const std::string& name, std::uint64_t value);

/// Appends the rows of the graph, every one after those that it depends on.
void add_graph(const ImportFile& file, const ChakraGraph& graph, ImportContext& context);

}  // namespace lacuna
