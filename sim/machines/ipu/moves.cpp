// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/moves.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace lacuna::ipu {
namespace {

bool is_moved_product(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "spmm") && op.batch == 1 && op.x_pattern == "dense";
}

bool leaves_it_there(const LayerOp& op) {
  return op.batch == 1 && (op.op == "eltwise" || op.op == "layernorm" || op.op == "rmsnorm");
}

}  // namespace

void keep_moved_operands(WorkloadTrace& workload, std::vector<std::vector<std::string>>& makers) {
  std::map<std::string, std::string> lies_as;  // of a row, the product whose result lies like its
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    LayerOp& op = workload.ops[i];
    const std::vector<OperandSource> sources = std::exchange(op.sources, {});
    const std::vector<std::string> ids = std::exchange(makers[i], {});
    const bool product = is_moved_product(op);
    if (product) lies_as[op.id] = op.id;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto maker = lies_as.find(ids[s]);
      const OperandSource& source = sources[s];
      if (maker == lies_as.end() || source.kind != OperandSource::Kind::activations) continue;
      const bool whole = source.features == op.m && source.first == 0 && source.place == 0;
      if (s == 0 && leaves_it_there(op) && whole && source.tokens == op.n) {
        lies_as[op.id] = maker->second;
      }
      const bool parts = sources.size() == 1 || source.features < op.k;
      if (!product || !parts) continue;
      op.sources.push_back(source);
      op.sources.back().of_product = true;
      makers[i].push_back(maker->second);
    }
  }
}

bool lie_alike(const ProductHomes& one, const ProductHomes& other, const LayerOp& op) {
  const auto differ = [](OutputPlace a, OutputPlace b) {
    return a.tile != b.tile || a.index != b.index;
  };
  for (std::uint32_t column = 0; column < op.n; ++column) {
    for (std::uint32_t row = 0; row < op.k; ++row) {
      if (differ(one.input(row, column), other.input(row, column))) return false;
    }
    for (std::uint32_t row = 0; row < op.m; ++row) {
      if (differ(one.result(row, column), other.result(row, column))) return false;
    }
  }
  return true;
}

MovedOperand moved_operand(const LayerOp& op, const LaidProduct& own,
                           const std::vector<LaidProduct>& makers) {
  MovedOperand operand;
  operand.to = own.homes;
  operand.columns = op.n;
  if (own.homes == nullptr) return operand;
  for (std::size_t s = 0; s < op.sources.size() && s < makers.size(); ++s) {
    const OperandSource& source = op.sources[s];
    const LaidProduct& maker = makers[s];
    if (maker.homes == nullptr || maker.homes->result_type() != own.homes->type()) continue;
    if (own.as_planned && maker.as_planned) continue;
    const std::uint32_t left = source.features - source.first;
    const std::uint32_t rows = std::min(left, op.k - std::min(op.k, source.place));
    operand.rows.push_back({maker.homes, source.place, source.first, rows});
  }
  return operand;
}

}  // namespace lacuna::ipu
