// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_outcome.hpp"

#include <algorithm>
#include <utility>

#include "models/wse/pe/gradient_control.hpp"

namespace lacuna::wse {

GradientOutcome::GradientOutcome(const HardwareParams& params, const Program& program)
    : params_(params),
      program_(program),
      after_(next_on_rings(program.kernel)),
      work_(program.columns) {
  const StreamingKernel& kernel = program_.kernel;
  for (const std::uint32_t owner : kernel.final_column) ++work_[owner].owned;
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::size_t c = 0; c < work_.size(); ++c) work_[c].weights += kernel.count(s, c);
  }
  for (std::size_t c = 0; c < work_.size(); ++c) {
    work_[c].passed = kernel.steps - work_[after_[c]].owned;
  }
  outcome_.cores.resize(std::size_t{program.rows} * program.columns);
  outcome_.routers.resize(outcome_.cores.size());
}

std::vector<std::uint64_t> GradientOutcome::positions() const {
  std::vector<std::uint64_t> words;
  for (const ColumnWork& work : work_) words.push_back(work.weights);
  return words;
}

RouterCounters* GradientOutcome::add_row(std::uint32_t row, const std::vector<LaneCounts>& counts,
                                         Cycle cycles) {
  const std::size_t columns = program_.columns;
  RouterCounters* const routers = &outcome_.routers[row * columns];
  for (std::size_t lane = 0; lane < columns; ++lane) {
    CoreCounters& mine = outcome_.cores[row * columns + lane];
    mine = core(lane, counts[lane], row, cycles);
    add_router(row, counts[lane], mine, routers[lane]);
    add_ring(static_cast<std::uint32_t>(lane), mine.summed, routers);
  }
  return routers;
}

WaferOutcome GradientOutcome::finish(std::vector<InjectorCounters> injectors, Cycle cycles) {
  outcome_.cycles = cycles;
  outcome_.injectors = std::move(injectors);
  for (const ColumnWork& work : work_) outcome_.collected.emplace_back(work.weights, 0U);
  return std::move(outcome_);
}

CoreCounters GradientOutcome::core(std::size_t lane, const LaneCounts& counts, std::uint32_t row,
                                   Cycle cycles) const {
  const StreamingKernel& kernel = program_.kernel;
  const ColumnWork& work = work_[lane];
  const std::uint32_t tokens = kernel.tokens[row];
  const std::uint64_t words = kernel.packed_words(tokens);
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  const std::uint64_t beats = (words + each - 1) / each;
  const std::uint64_t others = kernel.steps - work.owned;
  CoreCounters core;
  core.cycles = counts.cycles;
  core.cycles[kFma] = work.weights * kernel.beats(tokens);
  core.beside = counts.beside;
  core.cycles[kReduce] = (others + work.passed) * beats + work.weights - core.beside;
  core.cycles[kDone] = cycles;
  for (unsigned kind = 0; kind < kDone; ++kind) core.cycles[kDone] -= core.cycles[kind];
  core.words = core.weights = core.reductions = work.weights;
  core.products = work.weights * tokens;
  core.commands = kernel.steps;
  core.added = row == 0 ? 0 : work.weights;
  core.kept = others * words;
  core.summed = work.passed * words;
  core.sent = core.summed + work.weights;
  core.received = work.weights + kernel.steps + core.kept + core.added;
  core.buffers_in_use = counts.in_use;
  core.end = counts.end;
  return core;
}

/// The words that its links carried, but on the ring, and what its stream met.
void GradientOutcome::add_router(std::uint32_t row, const LaneCounts& counts,
                                 const CoreCounters& core, RouterCounters& router) const {
  const std::uint64_t streamed = core.words + core.commands;
  router.sent[kRamp] += streamed + core.added;
  router.sent[kSouth] += core.reductions + (row + 1 == program_.rows ? 0 : streamed);
  router.add_buffer(program_.kernel.weights, counts.heads);
  router.closures += counts.closures;
}

/// dY that a column sends to the next, past all routers between.
void GradientOutcome::add_ring(std::uint32_t from, std::uint64_t words,
                               RouterCounters* routers) const {
  const std::uint32_t to = after_[from];
  for (std::uint32_t at = from; at != to; at = to > from ? at + 1 : at - 1) {
    routers[at].sent[to > from ? kEast : kWest] += words;
  }
  routers[to].sent[kRamp] += words;
}

}  // namespace lacuna::wse
