// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/codelets.hpp"

#include <algorithm>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

/// Bundles of AMP work for one column of one block, and the products of each.
struct AmpColumn {
  unsigned bundles;
  unsigned macs;
};

AmpColumn amp_column(const Target& target, const Types& types, unsigned block) {
  const unsigned bundles = amp_bundles(target, types, block);
  return {bundles, block * block / bundles};
}

}  // namespace

std::vector<RowRange> divide_rows(const RowCounts& rows, unsigned workers) {
  std::vector<RowRange> result;
  std::uint64_t total = 0;
  for (const std::uint32_t* row = rows.begin; row != rows.end; ++row) total += *row;
  std::uint32_t next = 0;
  for (unsigned worker = 0; worker < workers; ++worker) {
    RowRange range{next, next};
    if (rows.size() <= workers) {
      range.last = std::min(rows.size(), next + 1);
    } else {
      for (std::uint64_t taken = 0; taken * workers < total && range.last < rows.size();) {
        taken += rows.begin[range.last++];
      }
    }
    next = range.last;
    result.push_back(range);
  }
  return result;
}

StaticCodelets::StaticCodelets(ProgramBuilder& builder, const Target& target, const Types& types,
                               unsigned block)
    : builder_(builder), target_(target), types_(types), block_(block) {
  overhead_ = builder_.bundle(Bundle("static overhead"));
  store_ = builder_.bundle(Bundle("static store")
                               .add(Tally::write_partial, 1)
                               .add(Tally::round_fp16, halves_of(types_.partials, 1)));
  if (block_ == 1) {
    make_element_bundles();
  } else {
    make_block_bundles();
    make_block_supervisor();
  }
}

std::uint32_t StaticCodelets::vertex(const RowCounts& rows, std::uint64_t columns) {
  return block_ == 1 ? element_vertex(rows, columns) : block_vertex(rows, columns);
}

// For eight halves (four singles) of a row of the dense operand: two multiplications by the
// non-zero and one accumulation, with the loads beside them; for half of that, one of each.
void StaticCodelets::make_element_bundles() {
  const Tally macs = types_.half() ? Tally::mac_fp16 : Tally::mac_fp32;
  const unsigned width = types_.half() ? 4 : 2;
  multiply_ = builder_.bundle(Bundle("static multiply")
                                  .add(Tally::read_metadata, 1)
                                  .add(Tally::meta_words, 1)
                                  .add(Tally::read_input, 1)
                                  .add(macs, width));
  multiply_more_ =
      builder_.bundle(Bundle("static multiply more").add(Tally::read_input, 1).add(macs, width));
  accumulate_ = builder_.bundle(Bundle("static accumulate").add(Tally::read_weight, 1));
}

/// The work on one row; its argument is the row's number of non-zeros.
std::uint32_t StaticCodelets::row_codelet(std::uint64_t columns) {
  const auto found = rows_of_columns_.find(columns);
  if (found != rows_of_columns_.end()) return found->second;
  const std::uint64_t width = types_.half() ? 4 : 2;
  const std::uint64_t wide = columns == width ? 0 : columns / (2 * width);
  const bool narrow = columns % (2 * width) != 0;
  const ElementWiseBundles bundles = element_wise_bundles(types_, columns, Form::run_time);
  // The row's overhead: all that is not in the loops over its non-zeros, nor a store.
  const std::uint64_t stores = 2 * wide + (narrow ? 1 : 0);
  const std::uint64_t overhead = bundles.row - bundles.nonzero - stores;

  Codelet codelet{issue(overhead_, count(overhead))};
  if (wide != 0) {
    codelet.push_back(loop(5, count(wide)));
    codelet.push_back(loop(3, 0, 0));
    codelet.push_back(issue(multiply_, 1));
    codelet.push_back(issue(multiply_more_, 1));
    codelet.push_back(issue(accumulate_, 1));
    codelet.push_back(issue(store_, 2));
  }
  if (narrow) {
    codelet.push_back(loop(2, 0, 0));
    codelet.push_back(issue(multiply_, 1));
    codelet.push_back(issue(accumulate_, 1));
    codelet.push_back(issue(store_, 1));
  }
  return rows_of_columns_[columns] = builder_.codelet(std::move(codelet));
}

std::uint32_t StaticCodelets::entry_codelet(std::uint64_t bundles) {
  return once(entries_, bundles,
              [&] { return builder_.codelet({issue(overhead_, count(bundles))}); });
}

// With at most half as many rows as workers, each row is given to two workers, half of the
// columns each.
std::uint32_t StaticCodelets::element_vertex(const RowCounts& rows, std::uint64_t columns) {
  const std::uint64_t width = types_.half() ? 4 : 2;
  const bool halved =
      rows.size() * 2 <= target_.workers && columns % (2 * width) == 0 && target_.workers % 2 == 0;
  const std::uint64_t share = halved ? columns / 2 : columns;
  const std::vector<RowRange> ranges =
      divide_rows(rows, halved ? target_.workers / 2 : target_.workers);
  const std::uint32_t row = row_codelet(share);
  const std::uint64_t entry = element_wise_bundles(types_, share, Form::run_time).entry;

  std::vector<std::uint32_t> set;
  std::vector<Call> calls;
  for (const RowRange& range : ranges) {
    const bool idle = range.first == range.last;
    calls.assign(1, {entry_codelet(idle ? kElementWiseIdleBundles : entry), {}});
    for (std::uint32_t r = range.first; r < range.last; ++r) {
      calls.push_back({row, {rows.begin[r], 0, 0}});
    }
    set.push_back(builder_.worker(calls));
    if (halved) set.push_back(set.back());
  }
  const std::uint32_t launch =
      entries_.count(0) != 0 ? entries_[0] : entries_[0] = builder_.codelet({run(0)});
  return builder_.vertex({{launch, {}}}, set);
}

// A column of a block is read, and a column of partials read and written, 64 bits with a bundle;
// with FP32 there are more bundles than accesses. Where partials are zeroed beforehand the first
// block of a row reads them as well.
void StaticCodelets::make_block_bundles() {
  const AmpColumn column = amp_column(target_, types_, block_);
  const Tally macs = types_.half() ? Tally::amp_mac_fp16 : Tally::amp_mac_fp32;
  const bool zeroed = !types_.half() && block_ >= 8;
  const unsigned more_partials = !types_.half() && block_ == 16 ? 1 : 0;
  const unsigned passes = block_passes(target_, types_, block_);
  const auto amp = [&](const char* name, unsigned inputs, unsigned reads, unsigned writes) {
    return builder_.bundle(Bundle(name)
                               .add(macs, column.macs / passes)
                               .add(Tally::read_input, inputs)
                               .add(Tally::read_partial, reads)
                               .add(Tally::write_partial, writes)
                               .add(Tally::round_fp16, halves_of(types_.partials, writes)));
  };
  weights_ =
      builder_.bundle(Bundle("static weights").add(Tally::read_weight, target_.amp.load_words()));
  amp_first_ = amp("static amp first", 1, zeroed ? 1 : 0, 1);
  amp_ = amp("static amp", 1, 1, 1);
  amp_more_ = amp("static amp more", 0, more_partials, more_partials);
  amp_input_ = amp("static amp input", 1, 0, 0);
  amp_only_ = amp("static amp only", 0, 0, 0);
}

// Worker sets: 0 at the entry, 1 for the first block of a row, 2 for the others.
void StaticCodelets::make_block_supervisor() {
  const BlockCost cost = block_cost(target_, types_, block_);
  block_entry_ = builder_.codelet({issue(overhead_, count(cost.entry)), run(0)});
  Codelet row{issue(overhead_, count(cost.row))};
  const unsigned passes = block_passes(target_, types_, block_);
  const auto add_block = [&](std::uint32_t set) {
    row.push_back(loop(5, count(passes)));
    row.push_back(issue(overhead_, kBeforeWeights));
    row.push_back(issue(weights_, count(cost.loads / passes)));
    row.push_back(
        issue(overhead_, count(kBlockLaunch + cost.weights / passes - cost.loads / passes)));
    row.push_back(run(set));
    row.push_back(issue(overhead_, kSyncAndNext));
  };
  add_block(1);
  row.push_back(loop(6, -1, 0));
  add_block(2);
  block_row_ = builder_.codelet(std::move(row));
}

std::uint32_t StaticCodelets::block_worker(std::uint64_t columns, bool first) {
  const BlockCost cost = block_cost(target_, types_, block_);
  const AmpColumn column = amp_column(target_, types_, block_);
  const std::uint64_t all =
      block_worker_bundles(target_, types_, block_, columns) + (first ? cost.row_bundles : 0);
  const std::uint64_t inputs = columns * block_ * types_.bytes() / 8;
  const std::uint64_t more = columns * column.bundles - inputs;
  // a pass has a share of the block's rows, and so of its partials
  const unsigned passes = block_passes(target_, types_, block_);
  const std::uint64_t stored = inputs / passes;
  const std::uint64_t stored_more = more / passes;
  const std::uint32_t codelet = builder_.codelet(
      {issue(overhead_, count(all - inputs - more)),
       issue(first ? amp_first_ : amp_, count(stored)), issue(amp_input_, count(inputs - stored)),
       issue(amp_more_, count(stored_more)), issue(amp_only_, count(more - stored_more))});
  return builder_.worker({{codelet, {}}});
}

/// The worker sets of a tile with `columns` columns: each worker has an equal share of them.
std::vector<std::uint32_t> StaticCodelets::block_sets(std::uint64_t columns) {
  const auto found = sets_of_columns_.find(columns);
  if (found != sets_of_columns_.end()) return found->second;
  const std::uint64_t share = ceil_div(columns, target_.workers);
  const std::uint32_t entry =
      builder_.worker({{entry_codelet(block_cost(target_, types_, block_).entry_bundles), {}}});
  std::vector<std::uint32_t> sets(target_.workers, entry);
  for (const bool first : {true, false}) {
    std::map<std::uint64_t, std::uint32_t> made;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t begin = std::min(columns, worker * share);
      const std::uint64_t mine = std::min(share, columns - begin);
      if (made.count(mine) == 0) made[mine] = block_worker(mine, first);
      sets.push_back(made[mine]);
    }
  }
  return sets_of_columns_[columns] = sets;
}

std::uint32_t StaticCodelets::block_vertex(const RowCounts& rows, std::uint64_t columns) {
  std::vector<Call> calls{{block_entry_, {}}};
  for (const std::uint32_t* row = rows.begin; row != rows.end; ++row) {
    calls.push_back({block_row_, {*row, 0, 0}});
  }
  return builder_.vertex(calls, block_sets(columns));
}

}  // namespace lacuna::ipu
