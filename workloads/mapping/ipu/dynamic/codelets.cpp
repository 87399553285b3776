// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/codelets.hpp"

#include <algorithm>
#include <utility>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"

namespace lacuna::ipu {
DynamicCodelets::DynamicCodelets(ProgramBuilder& builder, const Target& target, const Types& types,
                                 unsigned block, unsigned grain, SparsePass pass)
    : builder_(builder), target_(target), types_(types), block_(block), grain_(grain), pass_(pass) {
  overhead_ = builder_.bundle(Bundle("dynamic overhead"));
  read_ = builder_.bundle(Bundle("dynamic read").add(Tally::read_partial, 1));
  store_ = builder_.bundle(Bundle("dynamic store")
                               .add(Tally::write_partial, 1)
                               .add(Tally::round_fp16, halves_of(types_.partials, 1)));
  const std::uint32_t zeros = builder_.bundle(Bundle("dynamic zero").add(Tally::write_partial, 1));
  zero_ = builder_.codelet({issue(overhead_, count(kZeroEntry)), issue(zeros, 0, 0)});
  start_ = builder_.codelet({run(0)});
  if (block_ == 1) {
    make_element_bundles();
  } else {
    make_block_bundles();
  }
}

const SupervisorClocks& DynamicCodelets::supervisor_clocks() const {
  if (block_ != 1) return kBlockSupervisor;
  return pass_ == SparsePass::transposed ? kTransposedSupervisor : kForwardSupervisor;
}

std::uint32_t DynamicCodelets::zero_vertex(std::uint64_t elements) {
  return once(zeros_, elements, [&] {
    const std::uint64_t stores = ceil_div(elements * types_.partial_bytes(), 8);
    const std::uint64_t share = ceil_div(stores, target_.workers);
    std::vector<std::uint32_t> set;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t begin = std::min(stores, worker * share);
      const auto mine = static_cast<std::uint32_t>(std::min(share, stores - begin));
      set.push_back(builder_.worker({{zero_, {mine, 0, 0}}}));
    }
    return builder_.vertex({{start_, {}}}, set);
  });
}

std::uint32_t DynamicCodelets::control_vertex() {
  if (control_ != kNone) return control_;
  std::vector<std::uint32_t> set(target_.workers, kNone);
  set.front() = wait(kStepControl / target_.pipeline.slots());
  return control_ = builder_.vertex({{start_, {}}}, set);
}

// Workers share the blocks; the supervisor's clocks and the bundles of the busiest worker are
// those of block_transpose_clocks(). A block is read and written once, 64 bits at a time.
std::uint32_t DynamicCodelets::transpose_vertex(std::uint64_t blocks) {
  const std::uint32_t move = builder_.bundle(
      Bundle("dynamic transpose").add(Tally::read_weight, 1).add(Tally::write_weight, 1));
  const std::uint64_t vectors = std::uint64_t{block_} * block_ * types_.bytes() / 8;
  const std::uint64_t share = ceil_div(blocks, target_.workers);
  std::vector<std::uint32_t> set;
  for (unsigned worker = 0; worker < target_.workers; ++worker) {
    const std::uint64_t begin = std::min(blocks, worker * share);
    const std::uint64_t mine = std::min(share, blocks - begin);
    const Cycle alone = block_transpose_clocks(target_, types_, block_, mine * target_.workers);
    const std::uint64_t all = (alone - kTransposeSupervisor) / target_.pipeline.slots();
    const std::uint64_t moves = std::min(all, mine * vectors);
    set.push_back(builder_.worker(
        {{builder_.codelet({issue(overhead_, count(all - moves)), issue(move, count(moves))}),
          {}}}));
  }
  return builder_.vertex({{clocks(kTransposeSupervisor), {}}, {start_, {}}}, set);
}

std::uint32_t DynamicCodelets::vertex(const std::vector<BucketWork>& buckets,
                                      std::uint64_t columns) {
  std::vector<Call> supervisor{{clocks(supervisor_clocks().entry), {}}};
  std::vector<std::uint32_t> sets;
  for (const BucketWork& work : buckets) {
    if (block_ == 1) {
      element_calls(work, columns, supervisor, sets);
    } else {
      block_calls(work, columns, supervisor, sets);
    }
  }
  if (sets.empty()) sets.assign(target_.workers, kNone);
  return builder_.vertex(supervisor, sets);
}

std::uint32_t DynamicCodelets::clocks(std::uint64_t n) {
  return once(clocks_, n, [&] { return builder_.codelet({issue(overhead_, count(n))}); });
}

std::uint32_t DynamicCodelets::wait(std::uint64_t bundles) {
  return once(waits_, bundles, [&] { return builder_.worker({{clocks(bundles), {}}}); });
}

std::uint32_t DynamicCodelets::launch(std::uint32_t set) {
  return once(launches_, set, [&] { return builder_.codelet({run(set)}); });
}

void DynamicCodelets::make_element_bundles() {
  const Tally macs = types_.half() ? Tally::mac_fp16 : Tally::mac_fp32;
  const unsigned width = types_.half() ? 4 : 2;
  multiply_ = builder_.bundle(Bundle("dynamic multiply")
                                  .add(Tally::read_metadata, 1)
                                  .add(Tally::meta_words, 1)
                                  .add(Tally::read_input, 1)
                                  .add(macs, width));
  multiply_more_ =
      builder_.bundle(Bundle("dynamic multiply more").add(Tally::read_input, 1).add(macs, width));
  accumulate_ = builder_.bundle(Bundle("dynamic accumulate").add(Tally::read_weight, 1));
  update_ = builder_.bundle(
      Bundle("dynamic update").add(Tally::read_partial, 1).add(Tally::write_partial, 1));
}

// The loops over the non-zeros of a row, for each eight halves (four singles) of the columns and
// for half of that; partials are read before and written after each. What the formula counts
// beyond that is overhead. The argument is the number of non-zeros.
std::uint32_t DynamicCodelets::row_codelet(std::uint64_t columns) {
  const auto found = rows_of_columns_.find(columns);
  if (found != rows_of_columns_.end()) return found->second;
  const std::uint64_t width = types_.half() ? 4 : 2;
  const std::uint64_t wide = columns == width ? 0 : columns / (2 * width);
  const bool narrow = columns % (2 * width) != 0;
  const auto bundles = [&](std::uint64_t rows) {
    return dynamic_forward_bundles(types_, rows, 0, columns, Form::run_time);
  };
  const auto accesses = static_cast<std::int32_t>(2 * width * types_.partial_bytes() / 8);
  const auto moved = static_cast<std::uint64_t>(2 * accesses) * wide +
                     (narrow ? static_cast<std::uint64_t>(accesses) : 0);
  Codelet codelet{issue(overhead_, count(bundles(2) - bundles(1) - moved))};
  if (wide != 0) {
    codelet.push_back(loop(6, count(wide)));
    codelet.push_back(issue(read_, accesses));
    codelet.push_back(loop(3, 0, 0));
    codelet.push_back(issue(multiply_, 1));
    codelet.push_back(issue(multiply_more_, 1));
    codelet.push_back(issue(accumulate_, 1));
    codelet.push_back(issue(store_, accesses));
  }
  if (narrow) {
    codelet.push_back(issue(read_, accesses / 2));
    codelet.push_back(loop(2, 0, 0));
    codelet.push_back(issue(multiply_, 1));
    codelet.push_back(issue(accumulate_, 1));
    codelet.push_back(issue(store_, accesses - accesses / 2));
  }
  return rows_of_columns_[columns] = builder_.codelet(std::move(codelet));
}

// Of the transposed product from forward buckets a worker has its share of the non-zeros of each
// row, found at run time. Each adds its row of the dense operand to a row of partials: for each
// 64 bits of the operand a product, partials read and written. What the formula counts beyond that
// is overhead, of the row or (argument 0, the non-zeros) of a non-zero.
std::uint32_t DynamicCodelets::transposed_row_codelet(std::uint64_t columns) {
  const auto found = rows_of_columns_.find(columns);
  if (found != rows_of_columns_.end()) return found->second;
  const auto bundles = [&](std::uint64_t rows, std::uint64_t each) {
    return dynamic_transposed_bundles(target_, types_, rows, each * target_.workers, columns);
  };
  const std::uint64_t row = bundles(2, 0) - bundles(1, 0);
  const std::uint64_t nonzero = bundles(1, 2) - bundles(1, 1);
  const unsigned width = types_.half() ? 4 : 2;
  const std::uint64_t vectors = ceil_div(columns, width);
  const std::uint64_t accesses = vectors * width * types_.partial_bytes() / 8;
  const std::uint64_t read_only = nonzero - vectors;  // bundles beside the products
  Codelet codelet{issue(overhead_, count(row)),
                  loop(4, 0, 0),
                  issue(multiply_, count(1)),
                  issue(multiply_more_, count(vectors - 1)),
                  issue(update_, count(std::min(read_only, accesses))),
                  issue(overhead_, count(read_only - std::min(read_only, accesses)))};
  return rows_of_columns_[columns] = builder_.codelet(std::move(codelet));
}

std::vector<std::uint32_t> DynamicCodelets::transposed_workers(const BucketWork& work,
                                                               std::uint64_t columns) {
  const std::uint64_t entry = dynamic_transposed_bundles(target_, types_, 0, 0, columns);
  std::vector<std::uint32_t> set;
  for (unsigned w = 0; w < target_.workers; ++w) {
    std::vector<Call> calls{{clocks(entry), {}}};
    for (const std::uint32_t nonzeros : work.row_counts) {
      const std::uint32_t more = w < nonzeros % target_.workers ? 1 : 0;
      calls.push_back({transposed_row_codelet(columns), {nonzeros / target_.workers + more, 0, 0}});
    }
    set.push_back(builder_.worker(calls));
  }
  return set;
}

// Each bucket is one launch. Rows are dealt to the workers in runs by the pieces of split_tile().
void DynamicCodelets::element_calls(const BucketWork& work, std::uint64_t columns,
                                    std::vector<Call>& supervisor,
                                    std::vector<std::uint32_t>& sets) {
  const SupervisorClocks& own = supervisor_clocks();
  supervisor.push_back({clocks(own.other * work.others), {}});
  if (work.row_counts.empty()) return;
  supervisor.push_back({clocks(own.find + own.start), {}});
  if (pass_ == SparsePass::transposed) {
    supervisor.push_back({launch(static_cast<std::uint32_t>(sets.size() / target_.workers)), {}});
    const std::vector<std::uint32_t> set = transposed_workers(work, columns);
    sets.insert(sets.end(), set.begin(), set.end());
    return;
  }
  std::vector<std::uint32_t> set;
  for (const WorkerTile& piece :
       split_tile(work.row_counts.size(), columns / grain_, target_.workers)) {
    const std::uint64_t mine = piece.columns * grain_;
    const std::uint64_t entry = dynamic_forward_bundles(types_, 0, 0, mine, Form::run_time);
    std::vector<Call> calls{{clocks(entry), {}}};
    for (std::uint64_t r = 0; r < piece.rows; ++r) {
      calls.push_back({row_codelet(mine), {work.row_counts[piece.first_row + r], 0, 0}});
    }
    set.push_back(builder_.worker(calls));
  }
  set.resize(target_.workers, kNone);
  supervisor.push_back({launch(static_cast<std::uint32_t>(sets.size() / target_.workers)), {}});
  sets.insert(sets.end(), set.begin(), set.end());
}

void DynamicCodelets::make_block_bundles() {
  const DynamicBlockCost cost = dynamic_block_cost(target_, types_, block_, 4, false);
  const DynamicBlockCost more = dynamic_block_cost(target_, types_, block_, 5, false);
  const auto bundles = static_cast<unsigned>(more.block - cost.block);  // of a column
  const unsigned macs = block_ * block_ / (bundles * static_cast<unsigned>(cost.passes));
  const unsigned inputs = block_ * types_.bytes() / 8;
  const unsigned partials =
      block_ * types_.partial_bytes() / 8 / static_cast<unsigned>(cost.passes);
  std::map<std::pair<unsigned, unsigned>, unsigned> kinds;
  for (unsigned i = 0; i < bundles; ++i) {
    const auto part = [&](unsigned all) { return all * (i + 1) / bundles - all * i / bundles; };
    ++kinds[{part(inputs), part(partials)}];
  }
  for (const auto& [kind, per_column] : kinds) {
    const Tally tally = types_.half() ? Tally::amp_mac_fp16 : Tally::amp_mac_fp32;
    amp_.push_back(
        {builder_.bundle(Bundle("dynamic amp")
                             .add(tally, macs)
                             .add(Tally::read_input, kind.first)
                             .add(Tally::read_partial, kind.second)
                             .add(Tally::write_partial, kind.second)
                             .add(Tally::round_fp16, halves_of(types_.partials, kind.second))),
         per_column});
  }
  weights_ =
      builder_.bundle(Bundle("dynamic weights").add(Tally::read_weight, target_.amp.load_words()));
}

std::uint32_t DynamicCodelets::block_worker(std::uint64_t columns) {
  if (columns == 0) return wait(1);
  const bool retained = pass_ == SparsePass::forward;
  std::uint64_t overhead = dynamic_block_cost(target_, types_, block_, columns, retained).block;
  Codelet codelet;
  for (const AmpKind& kind : amp_) {
    codelet.push_back(issue(kind.bundle, count(columns * kind.per_column)));
    overhead -= columns * kind.per_column;
  }
  codelet.push_back(issue(overhead_, count(overhead)));
  return builder_.worker({{builder_.codelet(std::move(codelet)), {}}});
}

// Worker sets: 0 at the entry of a sub-group, 1 for each pass of a block.
void DynamicCodelets::make_block_row(std::uint64_t columns) {
  const bool retained = pass_ == SparsePass::forward;
  const DynamicBlockCost cost = dynamic_block_cost(target_, types_, block_, columns, retained);
  const std::uint64_t loads = cost.loads / cost.passes;
  const std::uint64_t waits = cost.weights / cost.passes - loads;
  // FP16 weights pass 64 bits in a clock, FP32 weights as well: four halves or two singles.
  block_row_ = builder_.codelet({issue(overhead_, retained ? count(kBlockClocks.row) : 0),
                                 loop(5, 0, 0), issue(overhead_, count(kBlockClocks.block)),
                                 loop(3, count(cost.passes)), issue(weights_, count(loads)),
                                 issue(overhead_, count(kBlockClocks.pass + waits)), run(1)});
}

void DynamicCodelets::block_calls(const BucketWork& work, std::uint64_t columns,
                                  std::vector<Call>& supervisor, std::vector<std::uint32_t>& sets) {
  const SupervisorClocks& own = supervisor_clocks();
  supervisor.push_back({clocks(own.other * work.others), {}});
  if (work.row_counts.empty()) return;
  supervisor.push_back({clocks(own.find + own.start), {}});
  if (sets.empty()) {
    make_block_row(columns);
    const DynamicBlockCost cost = dynamic_block_cost(target_, types_, block_, columns, true);
    sets.assign(target_.workers, wait(cost.entry));
    const std::vector<WorkerTile> pieces = split_tile(1, columns / grain_, target_.workers);
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t mine = worker < pieces.size() ? pieces[worker].columns * grain_ : 0;
      sets.push_back(block_worker(mine));
    }
    supervisor.push_back({launch(0), {}});
    supervisor.push_back({clocks(kBlockClocks.exit), {}});
  }
  for (const std::uint32_t blocks : work.row_counts) {
    supervisor.push_back({block_row_, {blocks, 0, 0}});
  }
}

}  // namespace lacuna::ipu
