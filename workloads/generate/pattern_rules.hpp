// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/sparsity/decimal.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// "WHERE=PATTERN": a pattern for the weights whose name, such as "l3.ffn1", matches WHERE. There *
/// is any text, ? one letter and [...] one of the letters in it, as in fnmatch(3) of POSIX. The
/// last rule that matches wins.
struct PatternRule {
  std::string where;
  PatternSpec pattern;
  bool used = false;
};

/// RequestError if the text is no rule.
PatternRule parse_rule(const std::string& text);

/// The pattern of the last rule that is for `name`, which is used then; `otherwise` if there is
/// none. With `by_name` only rules without * and ? are for it.
PatternSpec ruled(std::vector<PatternRule>& rules, const std::string& name, PatternSpec otherwise,
                  bool by_name = false);

/// Shares the density that all sparse gemm rows of `trace` ask for between them as Erdos-Renyi
/// does (see erdos_renyi_densities()); the sum of what they keep stays. Rows whose density
/// reaches 1 become dense. RequestError if they do not all ask for the same.
void share_density(WorkloadTrace& trace);

}  // namespace lacuna
