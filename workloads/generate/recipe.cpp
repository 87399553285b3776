// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/recipe.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

bool is_norm(const LayerOp& op) { return op.op == "layernorm" || op.op == "rmsnorm"; }

bool is_product(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "bmm" || op.op == "sddmm") && op.phase != Phase::upd;
}

// The multiply that brings a result back to unit variance (Blake et al., Unit Scaling, ICML 2023).
LayerOp scale_of(const LayerOp& op, const std::map<std::string, PatternSpec>& patterns) {
  LayerOp row = row_like(op, op.id + "_scale", "eltwise");
  row.fn = "scale";
  set_sides(row, {op.m, 0, op.n, op.batch});
  if (op.op == "sddmm") {  // what is kept, as a column
    const PatternSpec* pattern = &op.pattern;
    while (pattern->name == "ref") pattern = &patterns.at(*find_value(pattern->args, "of"));
    row.m = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kept_by_rule(*pattern, op.m, op.n), 1, kMostSide));
    row.n = 1;
  }
  row.dtype = DType::fp16;
  row.depends_on = {op.id};
  return row;
}

void scale_products(WorkloadTrace& trace) {
  std::vector<LayerOp> rows;
  std::map<std::string, std::string> scaled;
  std::map<std::string, PatternSpec> patterns;
  for (const LayerOp& op : trace.ops) patterns[op.id] = op.pattern;
  for (LayerOp& op : trace.ops) {
    for (std::string& id : op.depends_on) {
      if (const std::string* const after = value_in(scaled, id)) id = *after;
    }
    if (!is_product(op)) {
      rows.push_back(std::move(op));
      continue;
    }
    op.dtype = DType::fp8;
    op.args.emplace_back("fp8", op.phase == Phase::fwd ? "e4m3" : "e5m2");
    LayerOp scale = scale_of(op, patterns);
    scaled[op.id] = scale.id;
    rows.push_back(std::move(op));
    rows.push_back(std::move(scale));
  }
  trace.ops = std::move(rows);
}

}  // namespace

std::uint64_t kept_by_rule(const PatternSpec& spec, std::uint32_t rows, std::uint32_t cols) {
  const std::uint64_t all = std::uint64_t{rows} * cols;
  if (spec.name == "dense") return all;
  if (spec.density) {
    const std::uint64_t block = std::uint64_t{spec.block_rows} * spec.block_cols;
    return count_of(*spec.density, all / block) * block;
  }
  if (const std::uint64_t group = integer_of(spec.args, "of"); spec.name == "nm" && group != 0) {
    const std::uint64_t kept = integer_of(spec.args, "keep");
    return rows * (cols / group * kept + std::min<std::uint64_t>(kept, cols % group));
  }
  if (spec.name == "file") return read_pattern_file(spec.file).mask.nnz();
  return generate_mask(spec, rows, cols, 1).nnz();  // fixed patterns
}

void apply_recipe(WorkloadTrace& trace, Recipe recipe) {
  if (recipe == Recipe::unit_scaling) scale_products(trace);
  if (recipe == Recipe::plain || recipe == Recipe::unit_scaling) return;
  for (LayerOp& op : trace.ops) {
    if (op.phase == Phase::upd) continue;
    const bool wide = is_norm(op) || (recipe == Recipe::conventional && op.op == "softmax");
    if (wide) op.dtype = DType::fp32;
  }
}

}  // namespace lacuna
