// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/resident/held_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// Elements of the heaviest core of each row.
std::vector<std::uint64_t> heaviest_cores(const Program& program) {
  std::vector<std::uint64_t> heaviest(program.rows, 0);
  for (std::size_t core = 0; core < program.kernel.held.size(); ++core) {
    const auto held = program.kernel.held[core];
    std::uint64_t& most = heaviest[core / program.columns];
    most = std::max(most, std::accumulate(held.begin(), held.end(), std::uint64_t{0}));
  }
  return heaviest;
}

WaferOutcome run_held(const HardwareParams& params, const Program& program, RunOptions options) {
  options.lanes = true;
  return simulate(params, program, options);
}

}  // namespace

FoldPlan sample_rows(const Program& program, std::uint32_t most) {
  const std::uint32_t rows = program.rows;
  const std::vector<std::uint32_t>& tokens = program.kernel.tokens;
  const std::uint32_t apart = std::max(1U, (rows + most / 2) / std::max(most / 2, 1U));
  std::vector<std::uint32_t> stands_for(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const bool first = row == 0 || tokens[row] != tokens[row - 1];
    const bool last = row + 1 == rows;  // which sends nothing on
    stands_for[row] = first || last || row % apart == 0 ? row : stands_for[row - 1];
  }
  const std::vector<std::uint64_t> heaviest = heaviest_cores(program);
  std::vector<std::uint32_t> by_weight(rows);
  std::iota(by_weight.begin(), by_weight.end(), 0U);
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return heaviest[a] > heaviest[b]; });
  by_weight.resize(std::min(rows, most / 2));
  for (const std::uint32_t row : by_weight) stands_for[row] = row;
  FoldPlan plan;
  std::vector<std::uint32_t> place(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    place[row] = static_cast<std::uint32_t>(plan.kept.size());
    if (stands_for[row] == row) plan.kept.push_back(row);
  }
  for (const std::uint32_t row : stands_for) plan.representative.push_back(place[row]);
  plan.classes = static_cast<std::uint32_t>(plan.kept.size());
  return plan;
}

Program fullest_row(const Program& program) {
  FoldPlan last = no_fold(program, "");
  last.kept = {program.rows - 1};
  last.entry = last.kept_entry = 0;
  Program one = fold(program, last);
  StreamingKernel& kernel = one.kernel;
  const std::vector<std::uint32_t>& tokens = program.kernel.tokens;
  kernel.tokens = {*std::max_element(tokens.begin(), tokens.end())};
  for (std::size_t core = 0; core < program.kernel.held.size(); ++core) {
    const auto held = program.kernel.held[core];
    const auto most = kernel.held[core % program.columns];
    for (std::size_t i = 0; i < held.size(); ++i) most[i] = std::max(most[i], held[i]);
  }
  return one;
}

bool samples_rows(const HardwareParams& params, const Program& program) {
  // The first row of a sample is the one where words enter.
  const auto runs = [&](const Program& rows) {
    return reason_against_stream_lanes(params, rows).empty();
  };
  return !program.kernel.held.empty() && program.entry == 0 && runs(program) &&
         runs(fullest_row(program));
}

SampledRows run_sampled(const HardwareParams& params, const Program& program, std::uint32_t most,
                        const RunOptions& options) {
  SampledRows sampled{sample_rows(program, most), {}, 0, 0};
  sampled.outcome = run_held(params, fold(program, sampled.sample), options);
  sampled.cycles = full_cycles(sampled.outcome, sampled.sample, program, params.router);
  const Cycle hop = QueueShapes(params.router).link().latency;
  const WaferOutcome fullest = run_held(params, fullest_row(program), options);
  sampled.fullest = fullest.cycles + Cycle{program.rows - 1} * hop;
  return sampled;
}

}  // namespace lacuna::wse
