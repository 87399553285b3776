// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_outcome.hpp"

#include <algorithm>
#include <utility>

namespace lacuna::wse {

GradientOutcome::GradientOutcome(const HardwareParams& params, const Program& program)
    : params_(params), program_(program), lanes_(params, program), work_(program.columns) {
  const StreamingKernel& kernel = program_.kernel;
  for (const std::uint32_t owner : kernel.final_column) ++work_[owner].owned;
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::size_t c = 0; c < work_.size(); ++c) work_[c].weights += kernel.count(s, c);
  }
  for (std::size_t c = 0; c < work_.size(); ++c) {
    work_[c].passed = kernel.steps - work_[lanes_.after[c]].owned;
    expected_ += work_[c].weights;
  }
  outcome_.cores.resize(std::size_t{program.rows} * program.columns);
  outcome_.routers.resize(outcome_.cores.size());
}

void GradientOutcome::add_row(std::uint32_t row, const std::vector<GradientLaneCounts>& counts,
                              Cycle cycles) {
  const std::size_t columns = program_.columns;
  for (std::size_t lane = 0; lane < columns; ++lane) {
    outcome_.cores[row * columns + lane] = core(lane, counts[lane], row, cycles);
  }
  add_routers(row, counts);
}

WaferOutcome GradientOutcome::finish(std::vector<InjectorCounters> injectors, Cycle cycles) {
  outcome_.cycles = cycles;
  outcome_.injectors = std::move(injectors);
  for (const ColumnWork& work : work_) outcome_.collected.emplace_back(work.weights, 0U);
  return std::move(outcome_);
}

CoreCounters GradientOutcome::core(std::size_t lane, const GradientLaneCounts& counts,
                                   std::uint32_t row, Cycle cycles) const {
  const StreamingKernel& kernel = program_.kernel;
  const ColumnWork& work = work_[lane];
  const std::uint64_t tokens = kernel.tokens[row];
  const std::uint64_t words = kernel.packed_words(kernel.tokens[row]);
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  const std::uint64_t beats = (words + each - 1) / each;
  const std::uint64_t others = kernel.steps - work.owned;
  CoreCounters core;
  core.cycles[kFma] = work.weights * ((tokens + kernel.simd - 1) / kernel.simd);
  core.beside = counts.beside;
  core.cycles[kReduce] = (others + work.passed) * beats + work.weights - core.beside;
  core.cycles[kDispatch] = counts.dispatch;
  core.cycles[kWaitWeights] = counts.weights;
  core.cycles[kWaitRingIn] = counts.ring_in;
  core.cycles[kWaitRingOut] = counts.ring_out;
  core.cycles[kWaitBuffer] = counts.buffer;
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

/// The words that each link of a row of routers carried, and the stalls on their way.
void GradientOutcome::add_routers(std::uint32_t row,
                                  const std::vector<GradientLaneCounts>& counts) {
  const StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  const auto& down = program_.gradient->down;
  const auto weights = static_cast<std::size_t>(kernel.weights);
  RouterCounters* const routers = &outcome_.routers[row * columns];
  const CoreCounters* const cores = &outcome_.cores[row * columns];
  for (std::size_t lane = 0; lane < columns; ++lane) {
    add_ring(lane, counts, cores, routers);
    const CoreCounters& core = cores[lane];
    RouterCounters& mine = routers[lane];
    const std::uint64_t streamed = core.words + core.commands;
    mine.sent[kRamp] += streamed + core.added;
    mine.sent[kSouth] += core.reductions + (row + 1 == program_.rows ? 0 : streamed);
    mine.stalls[weights] += counts[lane].stall_weights;
    mine.stalls[static_cast<std::size_t>(down[(row + 1) % 2])] += counts[lane].stall_north;
    mine.stalls[static_cast<std::size_t>(down[row % 2])] += counts[lane].stall_south;
    mine.closures += counts[lane].closures;
  }
}

/// Those of the ring of a lane: dY that it sends to the next, past all routers between.
void GradientOutcome::add_ring(std::size_t lane, const std::vector<GradientLaneCounts>& counts,
                               const CoreCounters* cores, RouterCounters* routers) const {
  const auto from = static_cast<std::uint32_t>(lane);
  const std::uint32_t to = lanes_.after[lane];
  const auto color = static_cast<std::size_t>(program_.kernel.ring_in[to]);
  const std::uint64_t words = cores[from].summed;
  for (std::uint32_t at = from; at != to; at = to > from ? at + 1 : at - 1) {
    routers[at].sent[to > from ? kEast : kWest] += words;
  }
  routers[to].sent[kRamp] += words;
  routers[from].stalls[color] += counts[lane].stall_out;
  for (std::size_t s = 0; s < counts[lane].stall_over.size(); ++s) {
    const Color in = lanes_.streams.streams[s].lanes[from].in;
    routers[from].stalls[static_cast<std::size_t>(in)] += counts[lane].stall_over[s];
  }
}

}  // namespace lacuna::wse
