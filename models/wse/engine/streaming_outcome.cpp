// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_outcome.hpp"

#include <algorithm>

namespace lacuna::wse {

StreamingOutcome::StreamingOutcome(const HardwareParams& params, const Program& program)
    : params_(params),
      program_(program),
      weights_(program.columns, 0),
      words_(program.columns, 0),
      sums_(count_sums(program)) {
  const StreamingKernel& kernel = program.kernel;
  const std::size_t columns = program.columns;
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::uint32_t count = kernel.count(s, c);
      weights_[c] += count;
      words_[c] += kernel.words_of(count);
    }
  }
}

/// A core of `row`, whose first word comes `behind` cycles after that of the row simulated.
CoreCounters StreamingOutcome::core(std::uint32_t column, const LaneCounts& counts,
                                    std::uint32_t row, Cycle behind) const {
  const StreamingKernel& kernel = program_.kernel;
  const SumCounts::Column& sums = sums_.columns[column];
  const std::uint32_t tokens = kernel.tokens[row];
  const std::uint64_t words = kernel.sum_words(tokens);
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  CoreCounters core;
  core.cycles = counts.cycles;
  const bool scattered = !kernel.held.empty();
  core.cycles[kFma] = scattered ? counts.elements : weights_[column] * kernel.beats(tokens);
  core.cycles[kReduce] = (kernel.steps + sums.gathered) * ((words + each - 1) / each);
  core.cycles[kWaitWeights] += behind;
  if (!scattered) core.cycles[kScalar] = 0;
  core.cycles[kConflict] -= core.cycles[kScalar];
  core.beside = counts.beside;
  core.words = words_[column] / kernel.words_per_weight();
  core.weights = weights_[column];
  core.products = scattered ? counts.elements : weights_[column] * tokens;
  core.first_weights = sums.filled;
  core.commands = core.reductions = kernel.steps;
  core.summed = sums.summed;
  core.added = sums.added;
  core.gathered = sums.gathered;
  core.kept = sums.kept;
  core.sent = words * (kernel.steps - sums.kept);
  core.received = words_[column] + kernel.steps + words * sums.inputs;
  core.stream_words = words_[column] + kernel.steps;
  core.sum_words = words * (kernel.steps + sums.gathered);
  core.tallies = counts.tallies;
  core.buffers_in_use = counts.in_use + behind;
  core.end = counts.end + behind;
  if (kernel.exchange.on()) add_exchange(column, kernel.packed_words(tokens), core);
  core.cycles[kReduce] -= core.beside;
  return core;
}

/// What a core does for the exchange of results.
void StreamingOutcome::add_exchange(std::uint32_t column, std::uint64_t words,
                                    CoreCounters& core) const {
  const ExchangePlan& plan = program_.kernel.exchange;
  const ExchangePlan::Column& mine = plan.columns[column];
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  core.rows_sent = std::uint64_t{plan.packets} * mine.sends.size();
  core.rows_taken = std::uint64_t{plan.packets} * mine.takes.size();
  for (const ExchangePlan::Send& send : mine.sends) {
    core.rows_copied += std::uint64_t{plan.packets} * send.copies;
  }
  core.cycles[kReduce] += (core.rows_sent + core.rows_taken) * ((words + each) / each);
  core.sent += core.rows_sent * (words + 1);
  core.received += core.rows_taken * (words + 1);
}

/// Words of buses that a router sends on.
void StreamingOutcome::add_buses(std::uint32_t column, std::uint64_t words,
                                 RouterCounters& router) const {
  const ExchangePlan& plan = program_.kernel.exchange;
  for (const ExchangePlan::Part& part : plan.columns[column].parts) {
    const ExchangePlan::Bus& bus = plan.buses[part.bus];
    const std::uint64_t each = std::uint64_t{plan.packets} * (words + 1);  // of a sender
    const std::uint64_t through = part.upstream * each;
    if (part.passes) router.sent[bus.east ? kEast : kWest] += through + (part.sends ? each : 0);
    if (!part.takes) continue;
    router.sent[kRamp] += through;
    if (!part.every) router.filtered += through - each;
  }
}

/// The routers of `row`.
void StreamingOutcome::add_routers(std::uint32_t row, const std::vector<LaneCounts>& counts,
                                   RouterCounters* routers) const {
  const StreamingKernel& kernel = program_.kernel;
  const std::uint64_t words = kernel.sum_words(kernel.tokens[row]);
  const bool south = row >= program_.entry && row + 1 != program_.rows;
  const bool north = program_.both_ways() && row <= program_.entry && row != 0;
  for (std::uint32_t c = 0; c < program_.columns; ++c) {
    RouterCounters& router = routers[c];
    for (unsigned port = 0; port < kPorts; ++port) {
      router.sent.at(port) += sums_.columns[c].passed.at(port) * words;
    }
    const std::uint64_t zeros = kernel.zeros_of(c);
    const std::uint64_t streamed = words_[c] + kernel.steps + zeros;
    router.sent[kRamp] += streamed;
    router.filtered += zeros;
    if (kernel.exchange.on()) add_buses(c, kernel.packed_words(kernel.tokens[row]), router);
    if (south) router.sent[kSouth] += streamed;
    if (north) router.sent[kNorth] += streamed;
    router.add_buffer(kernel.stream_color(c), counts[c].heads);
    router.closures += counts[c].closures;
  }
}

/// By column, commands and zeros included.
std::vector<std::uint64_t> StreamingOutcome::streamed_words() const {
  const StreamingKernel& kernel = program_.kernel;
  std::vector<std::uint64_t> words = words_;
  for (std::size_t c = 0; c < words.size(); ++c) words[c] += kernel.steps + kernel.zeros_of(c);
  return words;
}

}  // namespace lacuna::wse
