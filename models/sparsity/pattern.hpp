// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"

namespace lacuna {

struct FieldSpec;
struct Mask;

/// What a pattern is called and takes; the row of a table from which help and checks are made.
struct PatternKind {
  enum class Density { required, implied, none };

  std::string name;
  Density density;
  bool blocks;  // takes a block other than 1 x 1
  std::vector<std::string> keys;
  std::string meaning;
  std::string source;
};

/// All patterns that a mask can be generated from, `dense` first. (`file` and `ref` take their
/// mask from elsewhere.)
const std::vector<PatternKind>& pattern_kinds();

/// The kind of that name, or null.
const PatternKind* find_pattern_kind(const std::string& name);

/// Everything that is wrong with `spec` for a rows x cols mask; empty if it can be made.
std::vector<PatternDiagnostic> check_pattern(const PatternSpec& spec, std::uint32_t rows,
                                             std::uint32_t cols);

/// The mask: a function of its arguments and nothing else, on every platform (`rows` and
/// `magnitude` use the C library's pow, log, sin, cos and exp, and may differ in ties).
/// RequestError if check_pattern() has anything to say.
Mask generate_mask(const PatternSpec& spec, std::uint32_t rows, std::uint32_t cols,
                   std::uint64_t seed);

/// The field that a right `magnitude` pattern is made from, for a matrix of no size yet.
FieldSpec field_of_pattern(const PatternSpec& spec);

/// The file of given weights that a `magnitude` pattern with field=file:PATH prunes, else empty.
std::string weights_file(const PatternSpec& spec);
void set_weights_file(PatternSpec& spec, const std::string& path);

/// The mask of a right `magnitude` pattern over given weights, by their magnitudes, row-major.
Mask prune(const PatternSpec& spec, std::uint32_t rows, std::uint32_t cols,
           const std::vector<double>& magnitudes);

}  // namespace lacuna
