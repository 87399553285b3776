// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Readers of requests made by options. What is wrong is a RequestError with the codes of the
/// trace schema: "--gemm 4x5: error E202: found '4x5'; allowed: MxKxN".

/// "MxKxN".
struct GemmShape {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
};
GemmShape parse_gemm(const std::string& text, const std::string& option = "--gemm");

std::uint32_t parse_side(const std::string& text, const std::string& option);
Decimal parse_density(const std::string& text, const std::string& option = "--density");
DType parse_dtype(const std::string& text, const std::string& option = "--dtype");
Partials parse_partials(const std::string& text, const std::string& option = "--partials");

/// auto, static, dynamic, streamed.
Mode parse_mode(const std::string& text, const std::string& option = "--mode");

/// auto, streamed, resident.
Residency parse_residency(const std::string& text, const std::string& option = "--residency");

/// Where the kernel that a mode names has its weights, on any machine; automatic: it does not say.
Residency residency_of_kernel(Mode mode);

/// NAME[BLOCK][:DENSITY][:key=value...]: "dense", "unstructured:0.1", "block16:0.1",
/// "block16x4:0.1", "nm:2:4" (also "2:4"), "rows:0.1:alpha=1", "file:PATH".
PatternSpec parse_pattern(const std::string& text, const std::string& option = "--pattern");

/// The pattern of several options; empty if none is given. A density below 1 without a pattern
/// means unstructured, with a block above 1 `block`; an `nm` alone means nm. The pattern itself was
/// given by `option`.
struct PatternOptions {
  std::optional<std::string> pattern;
  std::optional<std::string> density;
  std::optional<std::string> block;
  std::optional<std::string> nm;
};
std::optional<PatternSpec> make_pattern(const PatternOptions& options,
                                        const std::string& option = "--pattern");

/// The pattern as parse_pattern() reads it: a label for tables, figures and results.
std::string pattern_label(const PatternSpec& spec);

/// A workload of one row `gemm` with id "gemm", named "MxKxN".
WorkloadTrace gemm_workload(GemmShape shape);

/// A workload of one row whose pattern is that of a file, with n columns of X.
WorkloadTrace matrix_workload(const std::string& path, std::uint32_t n);

/// The same workload with `spec` on every gemm row, in place of what the row said; rows that
/// refer to such a row follow. RequestError if a row cannot take it, or if there is none.
WorkloadTrace with_pattern(WorkloadTrace trace, const PatternSpec& spec,
                           const std::string& option = "--pattern");

}  // namespace lacuna
