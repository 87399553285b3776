// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/random.hpp"
#include "workloads/mapping/wse/balance.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

struct Entry {
  double density;
  std::uint32_t rows;
  double balance;
};

// Mean over largest column work over blocks of rows, 768 columns of 16 features with independent
// zeros, as computed from exact binomials for the weight-streaming layer of a GPT-3.
const std::vector<Entry> kTable{
    {0.50, 1, 0.57}, {0.50, 4, 0.72}, {0.50, 16, 0.84}, {0.50, 64, 0.91}, {0.50, 256, 0.95},
    {0.25, 1, 0.40}, {0.25, 4, 0.58}, {0.25, 16, 0.74}, {0.25, 64, 0.85}, {0.25, 256, 0.92},
    {0.10, 1, 0.25}, {0.10, 4, 0.43}, {0.10, 16, 0.61}, {0.10, 64, 0.76}, {0.10, 256, 0.87}};

StreamingKernel random_kernel(std::uint32_t columns, std::uint32_t steps, double density) {
  StreamingKernel kernel;
  kernel.steps = steps;
  kernel.ring = ring_order(columns);
  Random random(11);
  const auto keeps = static_cast<std::uint64_t>(density * 1000);
  for (std::size_t i = 0; i < std::size_t{steps} * columns; ++i) {
    std::uint32_t kept = 0;
    for (unsigned j = 0; j < 16; ++j) kept += random.bounded(1000) < keeps ? 1 : 0;
    kernel.counts.push_back(kept);
  }
  return kernel;
}

/// What column_balance is expected to be for independent zeros: `columns` columns of `features`
/// features, of which each is kept with probability `density`.
double expected_balance(std::uint32_t columns, std::uint32_t features, double density,
                        std::uint32_t rows) {
  // The largest of independent binomials: E = sum over w of 1 - P(a column has at most w)^columns.
  const std::uint64_t all = std::uint64_t{features} * rows;
  const auto n = static_cast<double>(all);
  double at_most = 0;
  double largest = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    const auto w = static_cast<double>(i);
    const double log_p = std::lgamma(n + 1) - std::lgamma(w + 1) - std::lgamma(n - w + 1) +
                         w * std::log(density) + (n - w) * std::log1p(-density);
    at_most = std::min(1.0, at_most + std::exp(log_p));
    largest += 1 - std::pow(at_most, columns);
  }
  return n * density / largest;
}

TEST(ColumnBalance, HasTheExpectationOfExactBinomials) {
  for (const Entry& entry : kTable) {
    EXPECT_NEAR(expected_balance(768, 16, entry.density, entry.rows), entry.balance, 0.0051)
        << entry.density << " " << entry.rows;
  }
}

TEST(ColumnBalance, OfARandomMaskIsNearItsExpectation) {
  for (const double density : {0.5, 0.25, 0.1}) {
    const StreamingKernel kernel = random_kernel(768, 512, density);
    for (const Entry& entry : kTable) {
      if (entry.density != density) continue;
      EXPECT_NEAR(column_balance(kernel, entry.rows), entry.balance, 0.012)
          << density << " " << entry.rows;
    }
  }
}

/// Work of the mean column over all cycles, with no limit of I/O and a ring as good as free: a
/// row of sums is `words`, and a weight takes `beats` cycles.
double simulated(StreamingKernel kernel, std::uint32_t lookahead, std::uint32_t words = 1,
                 std::uint32_t beats = 1000) {
  const std::uint32_t tokens = 4 * beats;
  Program program;
  program.kernel = std::move(kernel);
  StreamingKernel& k = program.kernel;
  const auto columns = static_cast<std::uint32_t>(k.ring.size());
  k.tokens = {tokens};
  k.ring_elements = tokens / words;
  k.lookahead = lookahead;
  std::uint64_t weights = 0;
  for (const std::uint32_t count : k.counts) weights += count;
  for (std::uint32_t s = 0; s < k.steps; ++s) k.final_column.push_back(k.ring[s % columns]);
  route_streaming(program, columns);
  RunOptions options;
  options.lanes = true;
  const WaferOutcome outcome = simulate({}, program, options);
  return static_cast<double>(weights) * beats / columns / static_cast<double>(outcome.cycles);
}

/// With one vector a column begins a row when its sums of the row before are gone. They are gone
/// only when all others have done that row too, if a row of sums is longer than what the queues
/// of the ring can take in: 6 + 3 + 4 + 5 words between two columns, 126 between eight. Then all
/// meet after each row, and the efficiency is the balance of the mask, less the 160 words and 7
/// steps of the ring beside some ten weights of 4,000 cycles each.
TEST(ColumnBalance, IsTheEfficiencyAtLookAheadOneIfASumDoesNotFitTheQueuesOfTheRing) {
  for (const double density : {0.5, 0.25, 0.1}) {
    const StreamingKernel kernel = random_kernel(8, 48, density);
    const double efficiency = simulated(kernel, 1, 160, 4000);
    EXPECT_LE(efficiency, column_balance(kernel, 1)) << density;
    EXPECT_GE(efficiency, 0.98 * column_balance(kernel, 1)) << density;
    // With more vectors the window slides, and columns do better than the balance of blocks.
    for (const std::uint32_t lookahead : {4U, 16U}) {
      EXPECT_GE(simulated(kernel, lookahead, 160, 4000), 0.98 * column_balance(kernel, lookahead))
          << density << " " << lookahead;
    }
  }
}

/// The same without latencies: a column has its sums of a row when it has done its work and those
/// before it on the ring have passed theirs on; of `lookahead` vectors the first is free again
/// then.
double recurrence(const StreamingKernel& kernel, std::uint32_t lookahead) {
  const std::size_t columns = kernel.ring.size();
  std::vector<double> worked(columns, 0);
  std::vector<std::vector<double>> passed(columns);
  double weights = 0;
  for (std::uint32_t s = 0; s < kernel.steps; ++s) {
    double before = 0;
    for (std::size_t p = 1; p <= columns; ++p) {
      const std::uint32_t c = kernel.ring[(s + p) % columns];  // the last is the final column
      const double vector_free = s < lookahead ? 0 : passed[c][s - lookahead];
      worked[c] = std::max(worked[c], vector_free) + kernel.counts[s * columns + c];
      weights += kernel.counts[s * columns + c];
      before = std::max(before, worked[c]);
      passed[c].push_back(before);
    }
  }
  double end = 0;
  for (const std::vector<double>& of_column : passed) end = std::max(end, of_column.back());
  return weights / static_cast<double>(columns) / end;
}

/// A column waits only for those before it on the way of a row around the ring, and its window of
/// vectors slides: it does better than columns that all meet after each block.
TEST(ColumnBalance, IsALowerBoundOfTheEfficiencyOfAWaferWithAFreeRing) {
  for (const double density : {0.5, 0.25, 0.1}) {
    const StreamingKernel kernel = random_kernel(24, 64, density);
    double before = 0;
    for (const std::uint32_t lookahead : {1U, 4U, 16U}) {
      const double efficiency = simulated(kernel, lookahead);
      EXPECT_GE(efficiency, column_balance(kernel, lookahead)) << density << " " << lookahead;
      EXPECT_GE(efficiency, before);
      // 7 cycles a column of the ring and 8 of dispatch a row, beside 1,000 a weight
      EXPECT_LE(efficiency, recurrence(kernel, lookahead)) << density << " " << lookahead;
      EXPECT_GE(efficiency, 0.95 * recurrence(kernel, lookahead)) << density << " " << lookahead;
      before = efficiency;
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
