// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_mask.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "models/sparsity/activation_mask.hpp"
#include "models/sparsity/block_scores.hpp"
#include "models/sparsity/pattern.hpp"
#include "models/sparsity/repattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

/// TraceError unless a matrix of a file has the sides `wanted`.
template <class Matrix>
void check_sides(const std::string& file, const char* what, const Matrix& matrix,
                 MaskShape wanted) {
  if (matrix.rows == wanted.rows && matrix.cols == wanted.cols) return;
  throw_diagnostic(file, "E211", fmt::format("{} of {} x {}", what, matrix.rows, matrix.cols),
                   fmt::format("{} x {}", wanted.rows, wanted.cols));
}

Mask read_mask(const PatternSpec& spec, MaskShape shape) {
  Mask mask = read_pattern_file(spec.file).mask;
  if (is_grid_of_blocks(spec)) {
    mask.rows *= spec.block_rows;
    mask.cols *= spec.block_cols;
    mask.block_rows = spec.block_rows;
    mask.block_cols = spec.block_cols;
  } else if (spec.block_rows != 1 || spec.block_cols != 1) {
    const std::uint64_t nnz = mask.nnz();
    mask = mask.blocked(spec.block_rows, spec.block_cols);
    const bool whole = mask.rows % spec.block_rows == 0 && mask.cols % spec.block_cols == 0;
    if (!whole || mask.nnz() != nnz) {
      throw_diagnostic(spec.file, "E211",
                       fmt::format("{} elements in blocks of {}x{} that hold {}", nnz,
                                   spec.block_rows, spec.block_cols, mask.nnz()),
                       "blocks that are kept whole, or no block");
    }
  }
  check_sides(spec.file, "a pattern", mask, shape);
  return mask;
}

Mask source_mask(const LayerOp& op, MaskShape shape, std::uint64_t run_seed) {
  const PatternSpec& spec = op.pattern;
  if (spec.name == "file") return read_mask(spec, shape);
  if (weights_file(spec).empty()) {
    return generate_mask(spec, shape.rows, shape.cols, row_seed(op, run_seed));
  }
  const Magnitudes weights = read_magnitudes(weights_file(spec));
  check_sides(weights_file(spec), "weights", weights, shape);
  return prune(spec, shape.rows, shape.cols, weights.values);
}

std::size_t index_of(const WorkloadTrace& trace, const std::string& id) {
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.ops[i].id == id) return i;
  }
  throw TraceError(
      fmt::format("error E210: found a reference to '{}'; allowed: the id of a row", id));
}

// What stands for the weights of a row: the field its mask was made from, or a typical one.
BlockScores weights_of(const LayerOp& op, const Mask& mask, std::uint64_t run_seed) {
  const std::uint64_t seed = row_seed(op, run_seed);
  if (op.pattern.name == "magnitude") {
    return {field_of_pattern(op.pattern), seed, BlockNorm::l1, mask};
  }
  return {field_of(FieldPreset::typical, WeightRole::qkv, mask.density()),
          stream_seed(seed, "weights"), BlockNorm::l1, mask};
}

Mask after(const LayerOp& step, const LayerOp& op, const Mask& mask, std::uint64_t run_seed) {
  Repattern change;
  change.count = integer_of(step.args, "prune");
  // Where nothing is said the smallest weights go.
  const bool random = says(step.args, "drop", "random");
  change.drop = random ? Repattern::Drop::random : Repattern::Drop::magnitude;
  change.regrow = step.fn == "gradient" ? Repattern::Regrow::gradient : Repattern::Regrow::random;
  const std::uint64_t seed = row_seed(step, run_seed);
  FieldSpec field;
  field.scaled = false;
  BlockScores weights = weights_of(op, mask, run_seed);
  BlockScores gradients(field, stream_seed(seed, "gradient"), BlockNorm::l1, mask);
  return repattern(mask, change, seed, &weights, &gradients);
}

}  // namespace

bool is_grid_of_blocks(const PatternSpec& spec) { return says(spec.args, "unit", "block"); }

std::uint64_t row_seed(const LayerOp& op, std::uint64_t run_seed) {
  return op.seed.value_or(stream_seed(run_seed, op.id));
}

namespace {

/// One step from the mask of a row to that of a row that refers to it.
struct Step {
  const LayerOp* change = nullptr;  // a repattern row, or null for a transposition
  const LayerOp* source = nullptr;
};

/// How the mask of a row is made: that of a first row, and what happens to it.
struct Recipe {
  const LayerOp* first = nullptr;
  std::vector<Step> steps;
};

Recipe recipe_of(const LayerOp& op, const WorkloadTrace& trace) {
  // From the row to the one that its mask comes from; this ends, as each names an earlier row.
  std::vector<const LayerOp*> chain{&op};
  while (chain.back()->pattern.name == "ref") {
    const std::string* of = find_value(chain.back()->pattern.args, "of");
    chain.push_back(&trace.ops[index_of(trace, of == nullptr ? "" : *of)]);
  }
  Recipe recipe{chain.back(), {}};
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    const LayerOp& source = *chain[i];
    const LayerOp& reader = *chain[i - 1];
    // Changes of the pattern between the two rows.
    const std::size_t end = index_of(trace, reader.id);
    for (std::size_t r = index_of(trace, source.id) + 1; r < end; ++r) {
      const LayerOp& step = trace.ops[r];
      if (step.op == "repattern" && says(step.args, "of", source.id)) {
        recipe.steps.push_back({&step, &source});
      }
    }
    if (says(reader.pattern.args, "transpose", "1")) recipe.steps.push_back({nullptr, &source});
  }
  return recipe;
}

}  // namespace

std::optional<Mask> make_mask(const LayerOp& op, const WorkloadTrace& trace,
                              std::uint64_t run_seed) {
  const Recipe recipe = recipe_of(op, trace);
  const MaskShape shape = mask_shape(*recipe.first);
  if (recipe.first->pattern.name == "dense" || shape.rows == 0) return std::nullopt;
  Mask mask = source_mask(*recipe.first, shape, run_seed);
  for (const Step& step : recipe.steps) {
    mask = step.change == nullptr ? mask.transposed()
                                  : after(*step.change, *step.source, mask, run_seed);
  }
  return mask;
}

std::string mask_key(const LayerOp& op, const WorkloadTrace& trace, std::uint64_t run_seed) {
  const Recipe recipe = recipe_of(op, trace);
  const LayerOp& first = *recipe.first;
  const MaskShape shape = mask_shape(first);
  std::string key =
      fmt::format("{}x{} {} {} {}", shape.rows, shape.cols, pattern_label(first.pattern),
                  first.pattern.file, first.pattern.name == "file" ? 0 : row_seed(first, run_seed));
  for (const Step& step : recipe.steps) {
    if (step.change == nullptr) {
      key += " transposed";
    } else {
      key += fmt::format(" {} {} of {}", step.change->fn, row_seed(*step.change, run_seed),
                         row_seed(*step.source, run_seed));
      for (const auto& [name, value] : step.change->args) key += fmt::format(" {}={}", name, value);
    }
  }
  return key;
}

std::optional<Mask> make_x_mask(const LayerOp& op, std::uint64_t run_seed) {
  if (op.x_pattern == "dense") return std::nullopt;
  if (op.x_pattern == "file") {
    Mask mask = read_pattern_file(op.x_file).mask.elements();
    check_sides(op.x_file, "activations", mask, {op.k, op.n});
    return mask;
  }
  const Decimal density = op.x_density.value_or(Decimal{1, 0});
  const std::uint64_t seed = stream_seed(row_seed(op, run_seed), "x");
  if (op.x_pattern == "channel") return channel_mask(op.k, op.n, density, seed);
  return bernoulli_mask(op.k, op.n, density, seed);
}

}  // namespace lacuna
