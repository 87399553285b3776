// SPDX-License-Identifier: Apache-2.0
#include "models/wse/wafer_stats.hpp"

#include <algorithm>

namespace lacuna::wse {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Memory accesses of the cores of one row, whose counters are `core`.
class MemoryTraffic {
 public:
  MemoryTraffic(const StreamingKernel& kernel, const CoreParams& params, std::uint64_t tokens)
      : tokens_(tokens),
        element_(kernel.element_bytes()),
        output_(kernel.output_bytes()),
        psum_(kernel.sum_bytes()),
        cached_(kernel.psum_cached),
        scattered_(!kernel.held.empty()),
        beats_(kernel.beats(static_cast<std::uint32_t>(tokens))),
        per_beat_input_(ceil_div(kernel.simd * element_, 8)),
        per_beat_psum_(ceil_div(kernel.simd * psum_, 8)) {
    const std::uint64_t e = std::uint64_t{kernel.ring_elements} * params.fabric_words_per_issue;
    reduce_beats_ = ceil_div(tokens, e);
    per_reduce_psum_ = ceil_div(e * psum_, 8);
    per_reduce_output_ = ceil_div(e * output_, 8);
  }

  void add(const CoreCounters& core, WaferStats& stats) const {
    const std::uint64_t summed = core.summed * reduce_beats_ * per_reduce_psum_;
    add_gathered(core, stats);
    stats.core.writes_output += core.kept * reduce_beats_ * per_reduce_output_;
    stats.sram_write_bytes += core.kept * tokens_ * output_;
    add_exchanged(core, stats);
    if (scattered_) {
      add_scattered(core, summed, stats);
      return;
    }
    const std::uint64_t later = core.weights - core.first_weights;
    const std::uint64_t reads = later * beats_ * per_beat_psum_ + summed;
    const std::uint64_t writes = core.weights * beats_ * per_beat_psum_;
    stats.core.reads_input += core.weights * beats_ * per_beat_input_;
    stats.sram_read_bytes += core.weights * tokens_ * element_;
    if (cached_) {
      stats.core.cache_accesses += reads + writes;
      return;
    }
    stats.core.reads_partial += reads;
    stats.core.writes_partial += writes;
    stats.sram_read_bytes += (later + core.summed) * tokens_ * psum_;
    stats.sram_write_bytes += core.weights * tokens_ * psum_;
  }

 private:
  /// Results are read where they are kept and written where they are taken.
  void add_exchanged(const CoreCounters& core, WaferStats& stats) const {
    stats.core.reads_input += core.rows_sent * reduce_beats_ * per_reduce_output_;
    stats.sram_read_bytes += core.rows_sent * tokens_ * output_;
    stats.core.writes_output += core.rows_taken * reduce_beats_ * per_reduce_output_;
    stats.sram_write_bytes += core.rows_taken * tokens_ * output_;
  }

  /// Sums that take what came in are written back.
  void add_gathered(const CoreCounters& core, WaferStats& stats) const {
    const std::uint64_t writes = core.gathered * reduce_beats_ * per_reduce_psum_;
    if (cached_) {
      stats.core.cache_accesses += writes;
      return;
    }
    stats.core.writes_partial += writes;
    stats.sram_write_bytes += core.gathered * tokens_ * psum_;
  }

  /// Each held element is read with its 16-bit place and added to one sum; a reduction leaves
  /// zeros where it reads.
  void add_scattered(const CoreCounters& core, std::uint64_t summed, WaferStats& stats) const {
    stats.core.reads_input += core.products;
    stats.sram_read_bytes += core.products * (element_ + 2);
    if (cached_) {
      stats.core.cache_accesses += 2 * core.products + 2 * summed;
      return;
    }
    stats.core.reads_partial += core.products + summed;
    stats.core.writes_partial += core.products + summed;
    stats.sram_read_bytes += (core.products + core.summed * tokens_) * psum_;
    stats.sram_write_bytes += (core.products + core.summed * tokens_) * psum_;
  }

  std::uint64_t tokens_;
  std::uint64_t element_;
  std::uint64_t output_;
  std::uint64_t psum_;
  bool cached_;
  bool scattered_;
  std::uint64_t beats_;
  std::uint64_t per_beat_input_;
  std::uint64_t per_beat_psum_;
  std::uint64_t reduce_beats_ = 0;
  std::uint64_t per_reduce_psum_ = 0;
  std::uint64_t per_reduce_output_ = 0;
};

void add_work(const CoreCounters& core, const StreamingKernel& kernel, CoreStats& stats) {
  (kernel.int8        ? stats.mac_int8
   : kernel.fp32      ? stats.mac_fp32
   : kernel.psum_fp32 ? stats.mac32
                      : stats.mac16) += core.products;
  const std::uint64_t issues = core.cycles[kFma] + core.cycles[kScalar] + core.cycles[kReduce];
  stats.issues += issues + core.beside;
  stats.busy += issues;
  if (kernel.has_index()) stats.index_decodes += core.words;
  stats.tasks += core.words + core.commands;
  stats.tallies.add([&](std::size_t i) { return core.tallies.at(i); });
}

void add_router(const RouterCounters& router, Color weights, RouterStats& stats) {
  stats.add(router);
  for (std::size_t color = 0; color < kColors; ++color) {
    // Those of columns with colors of their own follow the first.
    const auto first = static_cast<std::size_t>(weights);
    const bool weight = first == 0 ? color == 0 : color >= first;
    (weight ? stats.stalls_weights : stats.stalls_ring) += router.stalls[color];
  }
}

/// The idle cycles of the cores of `row` that are not in its representative's counters as they
/// stand: the skew before the first word and after the end, and the rest after the end.
void add_ends(const RowCounts& counts, const Program& program, Cycle hop, Cycle behind,
              std::size_t row, Cycle at, CoreStats& stats) {
  const Cycle before = std::min(program.distance(row) * hop, at);
  const Cycle after = (program.farthest() - program.distance(row)) * hop;
  for (const Cycle end : counts.ends) {
    const Cycle done = end == kNever ? 0 : at - (end + behind);
    stats.skew += before + std::min(after, done);
    stats.drained += done - std::min(after, done);
  }
}

}  // namespace

Cycle full_cycles(const WaferOutcome& run, const FoldPlan& plan, const Program& program,
                  const RouterParams& params) {
  Cycle end = 0;
  if (program.kernel.steps == 0) return end;
  for (std::size_t row = 0; row < program.rows; ++row) {
    for (std::size_t c = 0; c < program.columns; ++c) {
      const Cycle done =
          end_of(run, std::size_t{plan.representative[row]} * program.columns + c, program);
      end = std::max(end, done + Cycle{plan.hops_behind(row)} * QueueShapes(params).link().latency);
    }
  }
  return end;
}

RowCounts count_row(const WaferOutcome& run, std::size_t row, std::size_t columns) {
  RowCounts counts;
  for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
    counts.core.add(run.cores[i], 1);
    counts.router.add(run.routers[i], 1);
    counts.ends.push_back(run.cores[i].end);
  }
  return counts;
}

void WaferStats::collect(const WaferOutcome& run, const FoldPlan& plan, const Program& program,
                         const HardwareParams& params, std::uint64_t rows_off) {
  const Cycle end = full_cycles(run, plan, program, params.router);
  std::vector<RowCounts> kept;
  for (std::size_t i = 0; i < plan.kept.size(); ++i) {
    kept.push_back(count_row(run, i, program.columns));
  }
  for (std::size_t row = 0; row < program.rows; ++row) {
    add_row(kept[plan.representative[row]], plan, program, params, row, end);
  }
  core.unused += rows_off * program.columns * end;
  core.idle += (program.rows + rows_off) * program.columns * end - core.busy.value();
  add_edge(run.injectors, program, run.cycles, end);
  add_limits(run, program);
}

/// A vector unit that waits for its memory, or for its last sum, may be waited for by nobody: only
/// issue slots count. The edge begins without tokens, and its first word may need none.
void WaferStats::add_limits(const WaferOutcome& run, const Program& program) {
  std::uint64_t busiest = 0;
  std::uint64_t multiplies = 0;
  for (const CoreCounters& counted : run.cores) {
    const std::uint64_t products = counted.cycles[kFma] + counted.cycles[kScalar];
    multiplies = std::max(multiplies, products);
    busiest = std::max(busiest, products + counted.cycles[kReduce]);
  }
  limits.busiest += busiest;
  limits.multiplies += multiplies;
  const std::uint64_t cores = std::uint64_t{program.rows} * program.columns;
  if (cores != 0) limits.mean += core.busy.value() / cores;
  if (program.rate.words != 0 && edge.words.value() != 0) {
    limits.edge += (edge.words.value() - 1) * program.rate.per / program.rate.words;
  }
}

namespace {

/// Words of packets that come to more than one core.
std::uint64_t copies_of_packets(const Program& program, const CoreCounters& core,
                                std::uint32_t tokens) {
  const std::uint64_t words = program.kernel.packed_words(tokens) + 1;
  return (core.rows_copied - core.rows_sent) * words;
}

}  // namespace

void WaferStats::add_row(const RowCounts& counts, const FoldPlan& plan, const Program& program,
                         const HardwareParams& params, std::size_t row, Cycle at) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint32_t tokens = kernel.tokens[row];
  const Color weights = kernel.stream_color(0);
  if (row < program.distribution_rows) {
    core.unused += counts.ends.size() * at;
    add_router(counts.router, weights, router);
    return;
  }
  CoreCounters counted = counts.core;
  if (kernel.steps != 0) {
    // Its words came later than its representative's, and it had a buffer open meanwhile.
    const Cycle hop = QueueShapes(params.router).link().latency;
    const Cycle behind = std::min(Cycle{plan.hops_behind(row)} * hop, at);
    counted.cycles[kWaitWeights] += behind * counts.ends.size();
    counted.buffers_in_use += behind * counts.ends.size();
    counted.cycles[kWaitWeights] -= std::min(program.distance(row) * hop, at) * counts.ends.size();
    add_ends(counts, program, hop, behind, row, at, core);
  }
  add_work(counted, kernel, core);
  (kernel.int8                            ? core.add_int
   : kernel.psum_fp32 || kernel.ring_fp32 ? core.add32
                                          : core.add16) += counted.added * tokens;
  core.add(counted);
  MemoryTraffic(kernel, params.core, tokens).add(counted, *this);
  add_router(counts.router, weights, router);
  core.ejected += counts.router.sent[kRamp];
  core.deliveries +=
      counted.sent + counts.router.filtered + copies_of_packets(program, counted, tokens);
}

void WaferStats::add_edge(const std::vector<InjectorCounters>& injectors, const Program& program,
                          Cycle cycles, Cycle at) {
  for (const InjectorCounters& injector : injectors) {
    edge.add(injector);
    edge.bits += injector.words * 32;
    edge.done += at - cycles;
    const std::uint64_t copies = program.source.empty() ? 1 : program.kernel.groups.count;
    // what a filter drops is counted where it comes
    core.deliveries +=
        (injector.words - injector.zeros) * copies * (program.rows - program.distribution_rows);
  }
}

void WaferStats::collect_gradient(const WaferOutcome& run, const Program& program,
                                  const HardwareParams& params, std::uint64_t rows_off) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint64_t element = kernel.fp32 ? 4 : 2;
  const std::uint64_t each = params.core.fabric_words_per_issue;
  for (std::size_t i = 0; i < run.cores.size(); ++i) {
    const std::size_t row = i / program.columns;
    add_router(run.routers[i], kernel.stream_color(0), router);
    if (row < program.distribution_rows) {
      core.unused += run.cycles;
      continue;
    }
    const CoreCounters& counted = run.cores[i];
    const std::uint32_t tokens = kernel.tokens[row];
    const std::uint64_t words = kernel.packed_words(tokens);
    core.add(counted);
    core.drained += counted.cycles[kDone];
    add_work(counted, kernel, core);
    (kernel.ring_fp32 ? core.add32 : core.add16) += counted.added;
    // A dot product reads dY and X; dY is read where it is sent and written where it is kept.
    const std::uint64_t wide = ceil_div(kernel.simd * element, 8);
    core.reads_input +=
        counted.weights * 2 * wide * kernel.beats(tokens) + ceil_div(counted.summed, each);
    // Unless it is passed on as it is formed, it is written, and read for the chain.
    const std::uint64_t stored = program.gradient->kept ? counted.weights : 0;
    core.reads_partial += stored;
    core.writes_partial += stored + ceil_div(counted.kept, each);
    sram_read_bytes += (2 * counted.products + counted.summed / words * tokens) * element +
                       stored * kernel.sum_bytes();
    sram_write_bytes += counted.kept / words * tokens * element + stored * kernel.sum_bytes();
    core.ejected += run.routers[i].sent[kRamp];
    core.deliveries += counted.kept;
    if (row + 1 != program.rows) core.deliveries += counted.reductions;
  }
  core.unused += rows_off * program.columns * run.cycles;
  core.idle += (program.rows + rows_off) * program.columns * run.cycles - core.busy.value();
  for (const auto& words : run.collected) edge.collected += words.size();
  edge.bits += edge.collected.value() * 32;
  add_edge(run.injectors, program, run.cycles, run.cycles);
  add_limits(run, program);
}

}  // namespace lacuna::wse
