// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/kernels/collective.hpp"
#include "workloads/mapping/wse/reduce_search.hpp"

namespace lacuna::wse {
namespace {

double line_broadcast(double p, double b, double ramp) { return b + p + 2 * ramp; }

/// T = max(C, E/N + L) + (2 T_R + 1) D, evaluated for each pattern.
double line_reduce(ReducePattern pattern, std::uint32_t cores, std::uint32_t words,
                   unsigned ramp_cycles) {
  const double p = cores;
  const double b = words;
  const double ramp = ramp_cycles;
  const double step = 2 * ramp + 1;
  if (cores == 1) return 0;
  const double log_p = std::ceil(std::log2(p));
  switch (pattern) {
    case ReducePattern::star:
      // Published for two words and more. In T above, hops and distance of single words outweigh
      // what the root takes, but single words wait for nobody: the distance alone is left.
      return b * (p - 1) + step;
    case ReducePattern::tree:
      return std::max(b * log_p, b * p * log_p / (2 * (p - 1)) + p - 1) + step * log_p;
    case ReducePattern::two_phase:  // fewer than two groups of two are a chain
      return cores < 4 ? b + (step + 1) * (p - 1) : two_phase_cycles(cores, words, ramp_cycles);
    case ReducePattern::generated:
      return ReduceSearch(cores, words, ramp_cycles).cycles();
    case ReducePattern::chain:
      return b + (2 * ramp + 2) * (p - 1);
    case ReducePattern::automatic:
    case ReducePattern::ring:
    case ReducePattern::snake:
      break;
  }
  throw InternalError(fmt::format("no reduction along a line is a {}", word(pattern)));
}

double reduce(const Collective& c, ReducePattern pattern) {
  const std::uint32_t words = words_of(c);
  if (pattern == ReducePattern::snake) {
    return line_reduce(ReducePattern::chain, c.columns * c.rows, words, c.ramp);
  }
  return line_reduce(pattern, c.columns, words, c.ramp) +
         line_reduce(pattern, c.rows, words, c.ramp);
}

double cycles_of(const Collective& c, ReducePattern pattern) {
  const double b = words_of(c);
  const double p = c.columns;
  const double broadcast =
      c.rows == 1 ? line_broadcast(p, b, c.ramp) : b + p + c.rows - 2 + 2.0 * c.ramp + 1;
  if (c.op == CollectiveOp::broadcast) return broadcast;
  if (pattern == ReducePattern::ring) {
    return 2 * (p - 1) * b / p + 4 * p - 6 + 2 * (p - 1) * (2.0 * c.ramp + 1);
  }
  const double sum = reduce(c, pattern);
  return c.op == CollectiveOp::reduce ? sum : sum + broadcast;
}

std::vector<ReducePattern> candidates(const Collective& c) {
  std::vector<ReducePattern> patterns = {ReducePattern::chain, ReducePattern::star,
                                         ReducePattern::tree, ReducePattern::two_phase};
  if (c.op == CollectiveOp::allreduce && c.rows == 1 && c.columns > 2) {
    patterns.push_back(ReducePattern::ring);
  }
  if (c.rows > 1) patterns.push_back(ReducePattern::snake);
  return patterns;
}

}  // namespace

ReducePattern best_pattern(const Collective& collective) {
  ReducePattern best = ReducePattern::chain;
  double least = std::numeric_limits<double>::infinity();
  for (const ReducePattern pattern : candidates(collective)) {
    const double cycles = cycles_of(collective, pattern);
    if (cycles < least) best = pattern;
    least = std::min(least, cycles);
  }
  return best;
}

double model_cycles(const Collective& collective) {
  const ReducePattern pattern = collective.pattern == ReducePattern::automatic
                                    ? best_pattern(collective)
                                    : collective.pattern;
  return cycles_of(collective, pattern);
}

const char* word(ReducePattern pattern) {
  switch (pattern) {
    case ReducePattern::automatic:
      return "auto";
    case ReducePattern::chain:
      return "chain";
    case ReducePattern::star:
      return "star";
    case ReducePattern::tree:
      return "tree";
    case ReducePattern::two_phase:
      return "two_phase";
    case ReducePattern::generated:
      return "generated";
    case ReducePattern::ring:
      return "ring";
    case ReducePattern::snake:
      return "snake";
  }
  return "?";
}

}  // namespace lacuna::wse
