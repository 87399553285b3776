// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "models/sparsity/block_scores.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/pattern.hpp"
#include "models/sparsity/pattern_builder.hpp"
#include "sim/base/error.hpp"

namespace lacuna {
namespace {

FieldSpec read_field(PatternRequest& request) {
  constexpr std::uint64_t kMostHead = 65536;
  const bool given = !weights_file(request.spec).empty();
  const bool independent = !given && request.choice("field", {"head", "iid"}) == 1;
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

constexpr const char* kFile = "file:";

struct Request {
  FieldSpec field;
  BlockNorm norm;
  Mask shape;
  std::uint64_t keep;
};

Request read_request(PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  const FieldSpec field = read_field(request);
  const auto norm = static_cast<BlockNorm>(request.choice("norm", {"l1", "l2", "linf"}));
  request.check_blocks(spec.block_rows, spec.block_cols, request.flag("pad"));
  Mask shape = request.empty_mask(spec.block_rows, spec.block_cols);
  const std::uint64_t keep = request.kept(std::uint64_t{shape.grid_rows()} * shape.grid_cols());
  return {field, norm, std::move(shape), keep};
}

}  // namespace

FieldSpec field_of_pattern(const PatternSpec& spec) {
  PatternRequest request(spec, 0, 0);
  return read_field(request);
}

std::string weights_file(const PatternSpec& spec) {
  if (spec.name != "magnitude") return "";
  for (const auto& [key, value] : spec.args) {
    if (key == "field" && value.rfind(kFile, 0) == 0) return value.substr(std::strlen(kFile));
  }
  return "";
}

void set_weights_file(PatternSpec& spec, const std::string& path) {
  for (auto& [key, value] : spec.args) {
    if (key == "field") value = kFile + path;
  }
}

Mask prune(const PatternSpec& spec, std::uint32_t rows, std::uint32_t cols,
           const std::vector<double>& magnitudes) {
  PatternRequest request(spec, rows, cols);
  Request read = read_request(request);
  if (!request.diagnostics.empty()) throw RequestError("the pattern was not checked");
  BlockScores scores(GivenMagnitudes(magnitudes, cols), read.norm, read.shape);
  choose_largest(scores, read.keep, read.shape);
  return std::move(read.shape);
}

MaskBuilder prepare_magnitude(PatternRequest& request) {
  const Request read = read_request(request);
  if (!request.diagnostics.empty()) return {};
  if (!weights_file(request.spec).empty()) {
    return [](std::uint64_t) -> Mask {
      throw RequestError("magnitude: the weights of a file are not at hand here");
    };
  }
  return [read](std::uint64_t seed) {
    Mask result = read.shape;
    BlockScores scores(MagnitudeField(read.field, seed), read.norm, result);
    choose_largest(scores, read.keep, result);
    return result;
  };
}

}  // namespace lacuna
