// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "models/sparsity/block_scores.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/pattern_builder.hpp"

namespace lacuna {
namespace {

FieldSpec read_field(PatternRequest& request) {
  constexpr std::uint64_t kMostHead = 65536;
  const bool independent = request.choice("field", {"head", "iid"}) == 1;
  const auto preset = static_cast<FieldPreset>(request.choice("preset", {"typical", "skewed"}));
  const auto role = static_cast<WeightRole>(request.choice("role", {"qkv", "out", "ffn1", "ffn2"}));
  const auto head = static_cast<std::uint32_t>(request.integer("head", 64, 1, kMostHead));
  FieldSpec field = field_of(preset, role, request.spec.density.value_or(Decimal{}).value());
  field.rows = request.rows;
  field.cols = request.cols;
  field.head_width = head;
  field.scaled = !independent;
  return field;
}

}  // namespace

FieldSpec field_of_pattern(const PatternSpec& spec) {
  PatternRequest request(spec, 0, 0);
  return read_field(request);
}

MaskBuilder prepare_magnitude(PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  const FieldSpec field = read_field(request);
  const auto norm = static_cast<BlockNorm>(request.choice("norm", {"l1", "l2", "linf"}));
  request.check_blocks(spec.block_rows, spec.block_cols, request.flag("pad"));
  Mask shape = request.empty_mask(spec.block_rows, spec.block_cols);
  const std::uint64_t keep = request.kept(std::uint64_t{shape.grid_rows()} * shape.grid_cols());
  if (!request.problems.empty()) return {};
  return [=, mask = std::move(shape)](std::uint64_t seed) {
    Mask result = mask;
    BlockScores scores(MagnitudeField(field, seed), norm, result);
    choose_largest(scores, keep, result);
    return result;
  };
}

}  // namespace lacuna
