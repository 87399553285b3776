// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// A key of the `args` cell.
struct ArgKey {
  enum class Type { count, index, decimal, word, id, distribution, routing, path };

  std::string name;
  Type type = Type::count;
  std::vector<std::string> words = {};  // for Type::word
  bool required = false;
};

/// What an operation is called, takes and means; a row of the table of operations.
struct OpKind {
  /// The operand that a pattern may thin out, by its shape.
  enum class Masked { none, m_by_k, m_by_n };

  std::string name;
  std::string dimensions;  // which of "mkn" it has
  std::vector<std::string> functions = {};
  std::string default_function = {};  // empty: required, if there are functions
  std::vector<ArgKey> keys = {};
  Masked masked = Masked::none;
  bool n_is_optional = false;
  bool sparse_x = false;  // X may have a pattern

  bool has(char dimension) const { return dimensions.find(dimension) != std::string::npos; }
};

const std::vector<OpKind>& op_kinds();

/// The kind of that name, or null.
const OpKind* find_op_kind(const std::string& name);

/// The kind of an operation that was checked.
const OpKind& kind_of(const LayerOp& op);

/// Whether W is weights, which live somewhere between two executions.
inline bool has_weights(const LayerOp& op) { return op.op == "gemm" || op.op == "spmm"; }

/// The shape of the mask of `op`; 0 x 0 if it takes none.
struct MaskShape {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
};
MaskShape mask_shape(const LayerOp& op);

/// The value of `key`, or null.
const std::string* find_value(const Pairs& pairs, const std::string& key);

/// Whether `key` is there and has this value.
bool says(const Pairs& pairs, const std::string& key, const std::string& value);

/// The whole number that is the value of `key`, or `otherwise`.
std::uint64_t integer_of(const Pairs& pairs, const std::string& key, std::uint64_t otherwise = 0);

}  // namespace lacuna
