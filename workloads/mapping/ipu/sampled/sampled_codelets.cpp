// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/sampled/sampled_codelets.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"

namespace lacuna::ipu {
namespace {

// All numbers of this file are those of the estimate that the header names, restated (confidence
// H): what hardware issues was not counted in the assembly. Where one is not from there it says so.

/// Bundles of a worker: at its entry, for each row, for each block, for each step of the depth.
struct ProductForm {
  std::uint64_t entry;
  std::uint64_t row;
  std::uint64_t block;
  std::uint64_t step;
  unsigned step_size;  // elements of the depth
};

// Single elements; one or two steps have codelets of their own.
constexpr ProductForm kTwoStepsOfHalves{30, 11, 3, 1, 4};
constexpr ProductForm kStepOfHalves{32, 10, 3, 1, 4};
constexpr ProductForm kElementHalves{35, 8, 11, 1, 4};
constexpr ProductForm kTwoStepsOfSingles{30, 9, 3, 1, 2};
constexpr ProductForm kStepOfSingles{32, 7, 3, 1, 2};
constexpr ProductForm kElementSingles{34, 9, 9, 1, 2};

// Blocks of a side, without the AMP: a step is a column of one and a row of the other operand.
constexpr ProductForm kBlock4Halves{26, 9, 33, 6, 1};
constexpr ProductForm kBlock4Singles{27, 9, 45, 12, 1};
constexpr ProductForm kBlock8Halves{26, 9, 113, 24, 1};
constexpr ProductForm kBlock8Singles{24, 7, 208, 48, 1};
constexpr ProductForm kBlock16Halves{27, 9, 505, 96, 1};

ProductForm element_form(const Types& types, std::uint64_t depth) {
  if (types.half()) {
    if (depth == 8) return kTwoStepsOfHalves;
    return depth == 4 ? kStepOfHalves : kElementHalves;
  }
  if (depth == 4) return kTwoStepsOfSingles;
  return depth == 2 ? kStepOfSingles : kElementSingles;
}

ProductForm form(const Types& types, unsigned block, std::uint64_t depth) {
  switch (block) {
    case 1:
      return element_form(types, depth);
    case 4:
      return types.half() ? kBlock4Halves : kBlock4Singles;
    case 8:
      return types.half() ? kBlock8Halves : kBlock8Singles;
    case 16:
      if (types.half()) return kBlock16Halves;
      break;
    default:
      break;
  }
  throw InternalError("no codelet for the gradient of blocks of this side");
}

/// The AMP's way: depth of a pass, and the workers' bundles in the first pass of a block and in
/// those after it.
struct AmpForm {
  unsigned depth;
  std::uint64_t first;
  std::uint64_t more;
};

constexpr AmpForm kAmp4Halves{16, 17, 15};
constexpr AmpForm kAmp8Halves{16, 27, 23};
constexpr AmpForm kAmp16Halves{16, 32, 28};
constexpr AmpForm kAmp4Singles{8, 20, 19};
constexpr AmpForm kAmp8Singles{8, 33, 31};

// The clocks in which the estimate has the weights of a pass loaded are as many as they have
// bundles of 128 bits, which interleaved memory gives (inferred, M).
constexpr std::uint64_t kWeightLoad = 16;  // bytes

// Clocks of the supervisor, each as the estimate named in the header has it.
constexpr Cycle kEntry = 37 + 38;     // at the entry, and before the first launch
constexpr Cycle kSearch = 26;         // for each sub-group looked at
constexpr Cycle kAmpPiece = 23;       // what the AMP is set up with, and the workers' entry
constexpr Cycle kAmpRow = 32;         // for a row,
constexpr Cycle kAmpNextRow = 8;      // further, for one after the first,
constexpr Cycle kAmpNextBlock = 10;   // and for a block after the first of a row
constexpr Cycle kAmpBlock = 15;       // for a block beside its passes
constexpr Cycle kAmpNextPass = 4;     // between two passes of one
constexpr Cycle kAmpRun = 8;          // from the weights of a pass until it runs
constexpr Cycle kTransposeCall = 18;  // for the vertex that transposes
// Bundles of a worker, likewise.
constexpr std::uint64_t kAmpEntry = 5;
constexpr std::uint64_t kTransposeEntry = 34;
constexpr std::uint64_t kTransposeBlock = 3;  // for a block beside its steps
constexpr std::uint64_t kTransposeStep = 3;   // for a step beside what it moves

// Bundles in which four halves, or two singles, of 16 or 8 rows are moved.
constexpr unsigned kGrainOfHalves = 23;
constexpr unsigned kGrainOfSingles = 12;

/// Bundles in which a step of a transposition moves its grains, of a row of 8 bytes each.
std::uint64_t transpose_moves(const Types& types, unsigned block) {
  return types.half() ? kGrainOfHalves * block / 4 : kGrainOfSingles * block / 2;
}

/// Clocks of the supervisor before the blocks of a row.
Cycle amp_row_clocks(bool first, std::uint64_t blocks) {
  return (first ? 0 : kAmpNextRow) + kAmpRow + kAmpNextBlock * (blocks - 1);
}

AmpForm amp_form(const Types& types, unsigned block) {
  if (types.half()) {
    if (block == 16) return kAmp16Halves;
    return block == 8 ? kAmp8Halves : kAmp4Halves;
  }
  return block == 8 ? kAmp8Singles : kAmp4Singles;
}

/// Loads of the weights of a pass, a clock each.
Cycle amp_weights(const Types& types, unsigned block) {
  const unsigned bytes = types.half() ? 2 : 4;
  return std::uint64_t{amp_form(types, block).depth} * block * bytes / kWeightLoad;
}

/// A pass of the AMP over a block: bundles that form products, and stores of its longest worker.
struct AmpPass {
  unsigned macs;  // of a bundle
  std::uint64_t bundles;
  std::uint64_t stores;
  std::uint64_t longest;
};

AmpPass amp_pass(const Target& target, const Types& types, unsigned block) {
  // A bundle forms as many products as a clock of the unit at this precision.
  const unsigned rate = target.amp.macs(types.half() ? AmpMode::mixed : AmpMode::single);
  const std::uint64_t area = std::uint64_t{block} * block;
  const std::uint64_t products = area * amp_form(types, block).depth;
  AmpPass pass{};
  // Small blocks do not fill the unit.
  pass.macs = static_cast<unsigned>(std::min<std::uint64_t>(rate, products / 8));
  pass.bundles = products / pass.macs;
  pass.stores = ceil_div(area * 4, std::uint64_t{8} * target.workers);
  pass.longest = std::max(ceil_div(pass.bundles, target.workers), pass.stores);
  return pass;
}

/// The form on this chip: what six workers and the unit as sold need, and what fewer workers or a
/// narrower unit take longer.
AmpForm amp_form_of(const Target& target, const Types& types, unsigned block) {
  AmpForm f = amp_form(types, block);
  const std::uint64_t sold = amp_pass(Target(), types, block).longest;
  const std::uint64_t here = amp_pass(target, types, block).longest;
  f.first += here > sold ? here - sold : 0;
  f.more += here > sold ? here - sold : 0;
  return f;
}

}  // namespace

unsigned sampled_grain(const Types& types, unsigned block) {
  if (block > 1) return 1;
  return types.half() ? 4 : 2;
}

bool sampled_amp_fits(const Types& types, unsigned block, std::uint64_t depth) {
  return block > 1 && (types.half() || block < 16) && depth % (types.half() ? 16 : 8) == 0;
}

std::uint64_t sampled_bundles(const Types& types, unsigned block, std::uint64_t rows,
                              std::uint64_t blocks, std::uint64_t depth) {
  const ProductForm f = form(types, block, depth);
  return f.entry + rows * f.row + blocks * (f.block + depth / f.step_size * f.step);
}

Cycle sampled_amp_clocks(const Target& target, const Types& types, unsigned block,
                         std::uint64_t rows, std::uint64_t blocks, std::uint64_t depth) {
  const AmpForm f = amp_form_of(target, types, block);
  const std::uint64_t passes = depth / f.depth;
  if (rows == 0) return 0;
  const Cycle of_rows = kAmpNextRow * (rows - 1) + kAmpRow * rows + kAmpNextBlock * (blocks - rows);
  const Cycle of_block =
      kAmpBlock + kAmpNextPass * (passes - 1) + passes * (kAmpRun + amp_weights(types, block));
  const Cycle supervisor = kAmpPiece + of_rows + blocks * of_block;
  return supervisor + target.worker_clocks(kAmpEntry + blocks * (f.first + (passes - 1) * f.more));
}

Cycle sampled_transpose_clocks(const Target& target, const Types& types, unsigned block,
                               std::uint64_t blocks, std::uint64_t depth) {
  const std::uint64_t steps = depth / (types.half() ? 16 : 8);
  const std::uint64_t of_block =
      kTransposeBlock + steps * (kTransposeStep + transpose_moves(types, block));
  return kTransposeCall +
         target.worker_clocks(kTransposeEntry + ceil_div(blocks, target.workers) * of_block);
}

SampledCodelets::SampledCodelets(ProgramBuilder& builder, const Target& target, const Types& types,
                                 unsigned block, std::uint64_t depth, bool amp)
    : builder_(builder), target_(target), types_(types), block_(block), depth_(depth), amp_(amp) {
  make_bundles();
  start_ = builder_.codelet({run(0)});
}

void SampledCodelets::make_bundles() {
  const Tally macs = types_.half() ? Tally::mac_fp16 : Tally::mac_fp32;
  const unsigned width = types_.half() ? 4 : 2;
  overhead_ = builder_.bundle(Bundle("sampled overhead"));
  meta_ = builder_.bundle(
      Bundle("sampled offset").add(Tally::read_metadata, 1).add(Tally::meta_words, 1));
  load_ = builder_.bundle(Bundle("sampled load").add(Tally::read_input, 1));
  store_ = builder_.bundle(Bundle("sampled store").add(Tally::write_partial, 1));
  Bundle mac("sampled multiply");
  mac.add(macs, width);
  if (block_ == 1) mac.add(Tally::read_input, 2);
  mac_ = builder_.bundle(std::move(mac));
  weights_ = builder_.bundle(Bundle("sampled weights").add(Tally::read_input, 1));
}

std::uint32_t SampledCodelets::vertex(const std::vector<std::vector<std::uint32_t>>& pieces,
                                      bool search) {
  const auto key = std::make_pair(pieces, search);
  const auto found = vertices_.find(key);
  if (found != vertices_.end()) return found->second;
  std::vector<Call> supervisor{{clocks(kEntry), {}}};
  std::vector<std::uint32_t> sets;
  if (amp_) add_amp_sets(sets);
  for (const std::vector<std::uint32_t>& rows : pieces) {
    if (search) supervisor.push_back({clocks(kSearch), {}});
    if (rows.empty()) continue;
    if (amp_) {
      add_amp_piece(rows, supervisor);
    } else {
      add_piece(rows, supervisor, sets);
    }
  }
  if (sets.empty()) sets.assign(target_.workers, kNone);
  return vertices_[key] = builder_.vertex(supervisor, sets);
}

std::uint32_t SampledCodelets::clocks(std::uint64_t n) {
  return once(clocks_, n, [&] { return builder_.codelet({issue(overhead_, count(n))}); });
}

std::uint32_t SampledCodelets::launch(std::uint32_t set) {
  return once(launches_, set, [&] { return builder_.codelet({run(set)}); });
}

// A row: its overhead, then for each block (argument 0) its meta-information, the loads and
// products of each step of the depth, and the store of what was summed.
std::uint32_t SampledCodelets::row_codelet() {
  if (row_ != kNone) return row_;
  const ProductForm f = form(types_, block_, depth_);
  const unsigned width = types_.half() ? 4 : 2;
  const std::uint64_t steps = depth_ / f.step_size;
  const std::uint64_t macs = block_ == 1 ? 1 : std::uint64_t{block_} * block_ / width;
  const std::uint64_t loads = block_ == 1 ? 0 : 2 * std::uint64_t{block_} * types_.bytes() / 8;
  const std::uint64_t stores = ceil_div(std::uint64_t{block_} * block_ * 4, 8);
  return row_ = builder_.codelet(
             {issue(overhead_, count(f.row)), loop(7, 0, 0), issue(meta_, 1),
              issue(overhead_, count(f.block - 1 - stores)), loop(3, count(steps)),
              issue(load_, count(loads)), issue(mac_, count(macs)),
              issue(overhead_, count(f.step - loads - macs)), issue(store_, count(stores))});
}

/// Workers have equal runs of the blocks, row by row.
void SampledCodelets::add_piece(const std::vector<std::uint32_t>& rows,
                                std::vector<Call>& supervisor, std::vector<std::uint32_t>& sets) {
  std::uint64_t all = 0;
  for (const std::uint32_t blocks : rows) all += blocks;
  const std::uint64_t share = ceil_div(all, target_.workers);
  const std::uint64_t entry = form(types_, block_, depth_).entry;
  std::vector<std::uint32_t> set;
  std::size_t row = 0;
  std::uint64_t done = 0;  // blocks of it
  for (unsigned w = 0; w < target_.workers; ++w) {
    std::vector<std::uint32_t> counts;
    for (std::uint64_t left = share; left > 0 && row < rows.size();) {
      const std::uint64_t take = std::min<std::uint64_t>(left, rows[row] - done);
      if (take > 0) counts.push_back(static_cast<std::uint32_t>(take));
      left -= take;
      done += take;
      if (done == rows[row]) {
        ++row;
        done = 0;
      }
    }
    auto found = workers_.find(counts);
    if (found == workers_.end()) {
      std::vector<Call> calls{{clocks(entry), {}}};
      for (const std::uint32_t blocks : counts) calls.push_back({row_codelet(), {blocks, 0, 0}});
      found = workers_.emplace(counts, builder_.worker(calls)).first;
    }
    set.push_back(found->second);
  }
  supervisor.push_back({launch(static_cast<std::uint32_t>(sets.size() / target_.workers)), {}});
  sets.insert(sets.end(), set.begin(), set.end());
}

/// Worker sets of the AMP: 0 the entry, 1 the first pass of a block, 2 the others. The products of
/// a pass are shared as evenly as whole bundles allow.
void SampledCodelets::add_amp_sets(std::vector<std::uint32_t>& sets) {
  const AmpForm f = amp_form_of(target_, types_, block_);
  const AmpPass pass = amp_pass(target_, types_, block_);
  Bundle matrix("sampled amp");
  matrix.add(types_.half() ? Tally::amp_mac_fp16 : Tally::amp_mac_fp32, pass.macs);
  matrix.add(Tally::read_input, 1);
  const std::uint32_t plain = builder_.bundle(matrix);
  matrix.add(Tally::write_partial, 1);
  const std::uint32_t first_pass = builder_.bundle(matrix);
  matrix.add(Tally::read_partial, 1);
  const std::uint32_t later_pass = builder_.bundle(matrix);
  sets.assign(target_.workers, builder_.worker({{clocks(kAmpEntry), {}}}));
  for (const bool first : {true, false}) {
    const std::uint64_t all = first ? f.first : f.more;
    for (unsigned w = 0; w < target_.workers; ++w) {
      const std::uint64_t mine =
          pass.bundles / target_.workers + (w < pass.bundles % target_.workers ? 1 : 0);
      // Results are stored beside products.
      const std::uint64_t both = std::min(mine, pass.stores);
      const std::uint64_t used = std::max(mine, pass.stores);
      if (used > all) throw InternalError("a pass of the AMP has no room for its products");
      const Codelet code{issue(first ? first_pass : later_pass, count(both)),
                         issue(plain, count(mine - both)), issue(store_, count(pass.stores - both)),
                         issue(overhead_, count(all - used))};
      sets.push_back(builder_.worker({{builder_.codelet(code), {}}}));
    }
  }
  const std::uint64_t passes = depth_ / f.depth;
  const std::int32_t weights = count(amp_weights(types_, block_));
  amp_block_ = builder_.codelet({loop(9, 0, 0), issue(overhead_, kAmpBlock),
                                 issue(weights_, weights), issue(overhead_, kAmpRun), run(1),
                                 loop(4, count(passes - 1)), issue(overhead_, kAmpNextPass),
                                 issue(weights_, weights), issue(overhead_, kAmpRun), run(2)});
}

void SampledCodelets::add_amp_piece(const std::vector<std::uint32_t>& rows,
                                    std::vector<Call>& supervisor) {
  supervisor.push_back({clocks(kAmpPiece), {}});
  supervisor.push_back({start_, {}});
  bool first = true;
  for (const std::uint32_t blocks : rows) {
    supervisor.push_back({clocks(amp_row_clocks(first, blocks)), {}});
    supervisor.push_back({amp_block_, {blocks, 0, 0}});
    first = false;
  }
}

std::uint32_t SampledCodelets::transpose_vertex(std::uint64_t blocks) {
  const auto found = transposes_.find(blocks);
  if (found != transposes_.end()) return found->second;
  const std::uint32_t move = builder_.bundle(
      Bundle("sampled transpose").add(Tally::read_input, 1).add(Tally::write_input, 1));
  const std::uint64_t share = ceil_div(blocks, target_.workers);
  const std::uint64_t vectors = block_ * depth_ * types_.bytes() / 8;
  std::vector<std::uint32_t> set;
  for (unsigned w = 0; w < target_.workers; ++w) {
    const std::uint64_t mine = std::min(share, blocks - std::min(blocks, w * share));
    const Cycle alone =
        sampled_transpose_clocks(target_, types_, block_, mine * target_.workers, depth_) -
        kTransposeCall;
    const std::uint64_t all = alone / target_.pipeline.slots();
    const std::uint64_t moves = std::min(mine * vectors, all);
    set.push_back(builder_.worker(
        {{builder_.codelet({issue(overhead_, count(all - moves)), issue(move, count(moves))}),
          {}}}));
  }
  return transposes_[blocks] = builder_.vertex({{clocks(kTransposeCall), {}}, {start_, {}}}, set);
}

}  // namespace lacuna::ipu
