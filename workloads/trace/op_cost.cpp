// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/op_cost.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

// Scalar and special operations of one element. Softmax, layer norm, GELU and dropout add up to
// those of the FLOP script published with ELECTRA (Clark et al., ICLR 2020); the others are
// counted from the formulas.
struct ElementCost {
  const char* name;
  std::uint64_t forward_scalar;
  std::uint64_t forward_special;
  std::uint64_t backward_scalar;
  std::uint64_t backward_special;
  unsigned inputs;  // tensors read
};

constexpr std::array<ElementCost, 23> kElementCosts = {{
    {"softmax", 4, 1, 4, 0, 1},    {"layernorm", 5, 0, 8, 0, 1}, {"rmsnorm", 4, 0, 6, 0, 1},
    {"relu", 1, 0, 1, 0, 1},       {"gelu", 7, 1, 12, 1, 1},     {"silu", 1, 1, 3, 0, 1},
    {"tanh", 1, 1, 3, 0, 1},       {"sigmoid", 1, 1, 3, 0, 1},   {"swiglu", 2, 1, 6, 1, 2},
    {"add", 1, 0, 1, 0, 2},        {"mul", 1, 0, 1, 0, 2},       {"bias", 1, 0, 1, 0, 1},
    {"scale", 1, 0, 1, 0, 1},      {"mask", 1, 0, 1, 0, 1},      {"cast", 1, 0, 1, 0, 1},
    {"copy", 1, 0, 1, 0, 1},       {"bias_add", 2, 0, 1, 0, 2},  {"bias_gelu", 8, 1, 13, 1, 1},
    {"scale_mask", 2, 0, 1, 0, 1}, {"glu", 1, 1, 4, 0, 2},       {"rope", 3, 0, 3, 0, 1},
    {"dropout", 4, 0, 1, 0, 1},    {"take_max", 3, 0, 0, 0, 1},
}};

// Of one stored parameter: operations, and bytes of its fp32 state, read and written.
struct OptimizerCost {
  const char* name;
  std::uint64_t scalar;
  std::uint64_t special;
  std::uint64_t bytes;
};

constexpr std::array<OptimizerCost, 5> kOptimizerCosts = {{{"sgd", 2, 0, 12},
                                                           {"sgdm", 4, 0, 20},
                                                           {"adam", 10, 2, 28},
                                                           {"adamw", 12, 2, 28},
                                                           {"lamb", 16, 2, 28}}};

template <class Table>
const auto& find_cost(const Table& table, const std::string& name) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&name](const auto& row) { return name == row.name; });
  return found == std::end(table) ? table[0] : *found;  // names were checked by the reader
}

OpCost product_cost(const LayerOp& op, std::uint64_t kept) {
  const std::uint64_t m = op.m;
  const std::uint64_t k = op.k;
  const std::uint64_t n = op.n;
  const std::uint64_t element = bytes_of(op.dtype);
  OpCost cost;
  cost.algorithmic_macs = m * k * n * op.batch;
  if (op.op == "sddmm") {
    cost.useful_macs = cost.expected_macs = kept * k * op.batch;
    cost.traffic = (m * k + k * n + kept) * element * op.batch;
    return cost;
  }
  cost.useful_macs = cost.expected_macs = kept * n * op.batch;
  if (op.x_density) cost.expected_macs = count_of(*op.x_density, cost.useful_macs);
  // inputs that no product takes, as between the strides of a 1 x 1 filter, are not read
  const std::uint64_t inputs = std::min(integer_of(op.args, "x_unique", k * n), k * n);
  cost.traffic = (kept + inputs + m * n) * element * op.batch;
  if (op.fn == "l1" || op.fn == "l2") {
    // Distances are made on the vector unit, pair by pair.
    cost.scalar = (op.phase == Phase::bwd ? 2 : 3) * cost.useful_macs;
    cost.algorithmic_macs = cost.useful_macs = cost.expected_macs = 0;
  }
  return cost;
}

OpCost element_cost(const LayerOp& op, std::uint64_t kept) {
  const ElementCost& row = find_cost(kElementCosts, op.op == "eltwise" ? op.fn : op.op);
  const std::uint64_t elements =
      (op.op == "softmax" ? kept : std::uint64_t{op.m} * op.n) * op.batch;
  const bool backward = op.phase == Phase::bwd;
  OpCost cost;
  cost.scalar = (backward ? row.backward_scalar : row.forward_scalar) * elements;
  cost.special = (backward ? row.backward_special : row.forward_special) * elements;
  if (!backward && op.op == "softmax") cost.special += std::uint64_t{op.m} * op.batch;
  if (!backward && (op.op == "layernorm" || op.op == "rmsnorm")) {
    cost.special += std::uint64_t{op.n} * op.batch;  // one root for each column
  }
  cost.traffic = (row.inputs + 1) * elements * bytes_of(op.dtype);
  constexpr std::uint64_t kBitsOfDropout = 16;
  if (!backward && op.fn == "dropout") cost.random_bits = kBitsOfDropout * elements;
  return cost;
}

OpCost embed_cost(const LayerOp& op) {
  constexpr std::uint64_t kIndexBytes = 4;
  OpCost cost;
  cost.traffic =
      (2 * std::uint64_t{op.m} * op.n * bytes_of(op.dtype) + kIndexBytes * op.n) * op.batch;
  return cost;
}

OpCost optimizer_cost(const LayerOp& op, std::uint64_t kept) {
  const OptimizerCost& row = find_cost(kOptimizerCosts, op.fn);
  OpCost cost;
  cost.scalar = row.scalar * kept * op.batch;
  cost.special = row.special * kept * op.batch;
  cost.traffic = row.bytes * kept * op.batch;
  // The weight is read and written and its gradient read, in half as many bytes if in fp16.
  constexpr std::uint64_t kSaved = 6;
  if (says(op.args, "weights", "fp16")) cost.traffic -= kSaved * kept * op.batch;
  return cost;
}

OpCost collective_cost(const LayerOp& op, std::uint64_t kept) {
  const std::uint64_t ranks = integer_of(op.args, "ranks", 1);
  const std::uint64_t bytes = kept * bytes_of(op.dtype) * op.batch;
  const std::uint64_t others = ranks - 1;
  OpCost cost;
  if (op.op == "allreduce") {
    cost.link = 2 * bytes * others / ranks;
  } else if (op.op == "broadcast" || op.op == "p2p") {
    cost.link = bytes;
  } else {
    cost.link = bytes * others / ranks;
  }
  return cost;
}

OpCost once(const LayerOp& op, std::uint64_t kept) {
  if (op.op == "gemm" || op.op == "spmm" || op.op == "bmm" || op.op == "sddmm") {
    return product_cost(op, kept);
  }
  for (const char* of_elements : {"softmax", "take_max", "layernorm", "rmsnorm", "eltwise"}) {
    if (op.op == of_elements) return element_cost(op, kept);
  }
  if (op.op == "embed") return embed_cost(op);
  if (op.op == "optim") return optimizer_cost(op, kept);
  OpCost cost;
  if (op.op == "io") cost.traffic = std::uint64_t{op.m} * op.n * op.batch * bytes_of(op.dtype);
  if (op.op == "opaque") {
    cost.useful_macs = cost.algorithmic_macs = integer_of(op.args, "flop", 0) / 2;
    cost.expected_macs = cost.useful_macs;
    cost.traffic = integer_of(op.args, "bytes", 0);
  }
  const bool collective = find_value(op.args, "ranks") != nullptr;
  return collective ? collective_cost(op, kept) : cost;
}

}  // namespace

namespace {

constexpr std::array kParts = {
    &OpCost::algorithmic_macs, &OpCost::useful_macs, &OpCost::expected_macs, &OpCost::scalar,
    &OpCost::special,          &OpCost::traffic,     &OpCost::link,          &OpCost::random_bits};

}  // namespace

OpCost& OpCost::operator+=(const OpCost& other) {
  for (const auto part : kParts) this->*part += other.*part;
  return *this;
}

OpCost cost_of(const LayerOp& op, std::uint64_t kept) {
  OpCost cost = once(op, kept);
  for (const auto part : kParts) cost.*part *= op.repeat;
  return cost;
}

LayerOp only_touched(LayerOp op, const WorkloadTrace& trace) {
  const bool thin = op.op == "optim" && says(op.args, "rows", "touched");
  if (!thin || op.pattern.name != "dense") return op;
  std::uint64_t touched = 0;
  for (const LayerOp& other : trace.ops) {
    const bool scatters = other.op == "embed" && other.phase == Phase::bwd;
    if (scatters && other.m == op.m && other.k == op.k) touched += other.n;
  }
  if (touched > 0 && touched < op.k) op.k = static_cast<std::uint32_t>(touched);
  return op;
}

std::uint64_t masked_elements(const LayerOp& op) {
  const MaskShape shape = mask_shape(op);
  return std::uint64_t{shape.rows} * shape.cols;
}

}  // namespace lacuna
