// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/pattern_rules.hpp"

#include <fnmatch.h>

#include "sim/base/error.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/generate/sparse_training.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

PatternRule parse_rule(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    refuse_setting("sparse", text,
                   "WHERE=PATTERN, such as *.ffn1=block16:0.1, or the file of a recipe");
  }
  return {text.substr(0, equals), *make_pattern({text.substr(equals + 1), {}, {}, {}})};
}

PatternSpec ruled(std::vector<PatternRule>& rules, const std::string& name, PatternSpec otherwise,
                  bool by_name) {
  for (PatternRule& rule : rules) {
    const bool matches = fnmatch(rule.where.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    if (by_name ? rule.where != name : !matches) continue;
    rule.used = true;
    otherwise = rule.pattern;
  }
  return otherwise;
}

void share_density(WorkloadTrace& trace) {
  std::vector<LayerOp*> sparse;
  std::vector<LayerDimensions> dimensions;
  for (LayerOp& op : trace.ops) {
    if (op.op != "gemm" || !op.pattern.density || op.pattern.name == "ref") continue;
    sparse.push_back(&op);
    dimensions.push_back({op.k, op.m});
    if (!(*op.pattern.density == *sparse.front()->pattern.density)) {
      throw RequestError(
          "layerwise=er: found weights of different densities; allowed: one "
          "density for all, which is then shared");
    }
  }
  if (sparse.empty()) {
    throw RequestError(
        "layerwise=er: found no weights with a density; allowed: a pattern with one");
  }
  const std::vector<double> shares =
      erdos_renyi_densities(dimensions, *sparse.front()->pattern.density);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    if (shares[i] >= 1) {
      sparse[i]->pattern = PatternSpec{};
      sparse[i]->mode = Mode::automatic;
    } else {
      sparse[i]->pattern.density = rounded_share(shares[i]);
    }
  }
}

}  // namespace lacuna
