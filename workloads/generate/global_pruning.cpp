// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/global_pruning.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "models/sparsity/block_scores.hpp"
#include "models/sparsity/decimal.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

BlockNorm norm_of(const PatternSpec& spec) {
  const std::string* norm = find_value(spec.args, "norm");
  if (norm == nullptr || *norm == "l1") return BlockNorm::l1;
  return *norm == "l2" ? BlockNorm::l2 : BlockNorm::linf;
}

}  // namespace

std::vector<RowMask> prune_together(const WorkloadTrace& trace, std::uint64_t run_seed) {
  std::vector<RowMask> rows;
  std::vector<std::unique_ptr<BlockScores>> scores;
  std::uint64_t keep = 0;
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    const LayerOp& op = trace.ops[i];
    if (op.pattern.name != "magnitude") continue;
    if (!weights_file(op.pattern).empty()) {
      refuse_request("global: found '{}' with given weights; allowed: drawn magnitudes", op.id);
    }
    Mask mask;
    mask.rows = op.m;
    mask.cols = op.k;
    mask.block_rows = op.pattern.block_rows;
    mask.block_cols = op.pattern.block_cols;
    scores.push_back(std::make_unique<BlockScores>(
        field_of_pattern(op.pattern), row_seed(op, run_seed), norm_of(op.pattern), mask));
    keep += count_of(op.pattern.density.value_or(Decimal{}),
                     std::uint64_t{mask.grid_rows()} * mask.grid_cols());
    rows.push_back({i, std::move(mask)});
  }
  if (rows.empty()) throw RequestError("global: found no row of pattern magnitude; allowed: some");
  std::vector<RowScores*> sources;
  std::vector<Mask> masks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sources.push_back(scores[i].get());
    masks.push_back(std::move(rows[i].mask));
  }
  choose_largest(sources, keep, masks);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].mask = std::move(masks[i]);
  return rows;
}

}  // namespace lacuna
