// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// The pattern of a matrix that was read from a file.
struct PatternFile {
  Mask mask;
  std::uint64_t explicit_zeros = 0;  // stored positions whose value is zero; they are kept
};

/// Reads .smtx (DLMC), .mtx (Matrix Market) or what is not zero in a file of arrays
/// (array_file.hpp, "FILE:MEMBER" where it holds several), known by its content. TraceError with
/// one problem, E001 or E301 to E309, and the place in that file.
PatternFile read_pattern_file(const std::string& path);

/// Its rows and columns; of a file of arrays without reading its numbers.
std::pair<std::uint64_t, std::uint64_t> sides_of_pattern_file(const std::string& path);

/// DLMC: three lines, "rows, cols, non-zeros", offsets of rows, column indices from 0.
PatternFile parse_smtx(std::string_view text, const std::string& path);

/// Matrix Market: coordinate or array; real, integer or pattern; general, symmetric or
/// skew-symmetric, of which the mirrored entries are added. Zeros of an array are zeros; those that
/// coordinates store are kept.
PatternFile parse_mtx(std::string_view text, const std::string& path);

/// The mask as .smtx text.
std::string format_smtx(const Mask& mask);

}  // namespace lacuna
