// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_mask.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/pattern_file.hpp"

namespace lacuna {
namespace {

Mask read_mask(const PatternSpec& spec, MaskShape shape) {
  Mask mask = read_pattern_file(spec.file).mask;
  const std::string* unit = find_value(spec.args, "unit");
  if (unit != nullptr && *unit == "block") {
    // The file is the grid of blocks.
    mask.rows *= spec.block_rows;
    mask.cols *= spec.block_cols;
    mask.block_rows = spec.block_rows;
    mask.block_cols = spec.block_cols;
  }
  if (mask.rows != shape.rows || mask.cols != shape.cols) {
    throw TraceError(fmt::format("{}: error E211: found a pattern of {} x {}; allowed: {} x {}",
                                 spec.file, mask.rows, mask.cols, shape.rows, shape.cols));
  }
  return mask;
}

const LayerOp& row_of(const WorkloadTrace& trace, const std::string& id) {
  for (const LayerOp& op : trace.ops) {
    if (op.id == id) return op;
  }
  throw TraceError(
      fmt::format("error E210: found a reference to '{}'; allowed: the id of a row", id));
}

}  // namespace

std::uint64_t row_seed(const LayerOp& op, std::uint64_t run_seed) {
  return op.seed.value_or(stream_seed(run_seed, op.id));
}

std::optional<Mask> make_mask(const LayerOp& op, const WorkloadTrace& trace,
                              std::uint64_t run_seed) {
  // A chain of references ends, as each names an earlier row.
  const LayerOp* source = &op;
  bool transposed = false;
  while (source->pattern.name == "ref") {
    const std::string* of = find_value(source->pattern.args, "of");
    const std::string* transpose = find_value(source->pattern.args, "transpose");
    if (transpose != nullptr && *transpose == "1") transposed = !transposed;
    source = &row_of(trace, of == nullptr ? "" : *of);
  }
  const PatternSpec& spec = source->pattern;
  const MaskShape shape = mask_shape(*source);
  if (spec.name == "dense" || shape.rows == 0) return std::nullopt;
  Mask mask = spec.name == "file"
                  ? read_mask(spec, shape)
                  : generate_mask(spec, shape.rows, shape.cols, row_seed(*source, run_seed));
  return transposed ? mask.transposed() : std::move(mask);
}

}  // namespace lacuna
