// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/decimal.hpp"

namespace lacuna {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Which elements of an operand are kept, before a seed is applied.
struct PatternSpec {
  std::string name = "dense";
  std::optional<Decimal> density;
  std::uint32_t block_rows = 1;
  std::uint32_t block_cols = 1;
  std::string file;  // resolved path of .smtx or .mtx, for name == "file"
  Pairs args;
};

/// Why a pattern cannot be made. `cell` is the part of the request at fault: "density", "block",
/// "pattern_args", "rows" or "cols".
struct PatternDiagnostic {
  std::string code;  // of the trace schema, E201 to E214
  std::string cell;
  std::string found;
  std::string allowed;
  std::string hint;  // the nearest key or word, or empty
};

}  // namespace lacuna
