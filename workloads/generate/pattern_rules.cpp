// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/pattern_rules.hpp"

#include <cmath>

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
  PatternOptions options;
  options.pattern = text.substr(equals + 1);
  return {text.substr(0, equals), *make_pattern(options)};
}

namespace {

/// True if the whole of `name` matches.
bool matches(const std::string& where, const std::string& name) {
  // The last star may take more, letter by letter, until the rest fits.
  std::size_t w = 0;
  std::size_t star = std::string::npos;
  std::size_t taken = 0;
  for (std::size_t n = 0; n < name.size();) {
    if (w < where.size() && where[w] == '*') {
      star = w++;
      taken = n;
    } else if (w < where.size() && (where[w] == '?' || where[w] == name[n])) {
      ++w;
      ++n;
    } else if (star != std::string::npos) {
      w = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (w < where.size() && where[w] == '*') ++w;
  return w == where.size();
}

}  // namespace

PatternSpec ruled(std::vector<PatternRule>& rules, const std::string& name, PatternSpec otherwise,
                  bool by_name) {
  for (PatternRule& rule : rules) {
    if (by_name ? rule.where != name : !matches(rule.where, name)) continue;
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
  constexpr unsigned kDigits = 9;
  constexpr double kScale = 1e9;
  const std::vector<double> shares =
      erdos_renyi_densities(dimensions, *sparse.front()->pattern.density);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    if (shares[i] >= 1) {
      sparse[i]->pattern = PatternSpec{};
      sparse[i]->mode = Mode::automatic;
    } else {
      const auto mantissa = static_cast<std::uint64_t>(std::llround(shares[i] * kScale));
      sparse[i]->pattern.density = Decimal{mantissa, kDigits};
    }
  }
}

}  // namespace lacuna
