// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

#include "models/wse/pe/datapath.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/feature_shares.hpp"
#include "workloads/mapping/wse/rule_grid.hpp"
#include "workloads/mapping/wse/stream_memory.hpp"

namespace lacuna::wse {
namespace {

// Chosen on 45 products of a wse2; none is a property of hardware.
constexpr double kSideLink = 1.25;        // of results that groups tell each other, on a link
constexpr double kExchangeAlone = 2.2;    // of one column to a group
constexpr double kKeeperFree = 0.15;      // of its turn in which a keeper is not held up
constexpr double kWindowRows = 20;        // rows over which the fullest column is evened out,
constexpr double kWindowLookahead = 2.5;  // and more for each vector of look-ahead
constexpr double kWithinLeast = 1.03;     // estimates that count as equal
constexpr std::uint32_t kMostGroups = 5;
constexpr std::uint32_t kMostGroupsHeld = 2;  // of sparse resident weights

/// The larger of two, and more where the other is near it.
template <int power>
double norm(double a, double b) {
  const double most = std::max(a, b);
  if (most <= 0) return 0;
  const double part = std::min(a, b) / most;
  double raised = part;
  for (int i = 1; i < power; ++i) raised *= part;
  return raised < 1e-6 ? most : most * std::pow(1 + raised, 1.0 / power);
}

/// The product in one of its two roles: rows are streamed, the cores hold elements.
class Product {
 public:
  Product(const StreamingJob& job, const WeightCounts& counts, const StreamingSetup& setup)
      : job_(job),
        counts_(counts),
        setup_(setup),
        streamed_(job.resident ? WeightCounts{counts.x_density, counts.x_density < 1} : counts),
        streams_sparse_(streamed_.sparse && setup.ws.zero_filter),
        holds_sparse_(counts.sparse && job.resident &&
                      setup.resident.storage == ResidentStorage::nonzeros),
        words_(io_rate(setup.io, setup.wafer, setup.clock_ghz)),
        queue_bytes_(StreamMemory::bytes_of(setup.queue)) {
    set_types(job.gemm.dtype, job.gemm.partials, setup, kernel_);
    kernel_.lookahead = 0;  // that of a layout counts
  }

  std::uint32_t rows() const { return job_.resident ? job_.gemm.n : job_.gemm.m; }
  std::uint32_t elements() const { return job_.resident ? job_.gemm.m : job_.gemm.n; }
  std::uint32_t features() const { return job_.gemm.k; }
  bool streams_sparse() const { return streams_sparse_; }
  bool holds_sparse() const { return holds_sparse_; }
  bool counts_blocks() const { return streams_sparse_ && streamed_.blocks != nullptr; }
  bool shares_elements(const StreamLayout& at) const {
    return at.groups > 1 && (at.share == Share::rows) == job_.resident;
  }

  bool fits(const StreamLayout& at) const;
  CoreBytes bytes(const StreamLayout& at) const;
  double cycles(const StreamLayout& at) const;

 private:
  struct Shape;
  double row_elements(const Shape& s) const;
  double words(const Shape& s) const;
  double row_cycles(const Shape& s, const StreamLayout& at) const;
  double link_cycles(const Shape& s) const;
  Shape shape(const StreamLayout& at) const;
  double sum_words(double elements) const { return std::ceil(elements / kernel_.ring_elements); }
  /// Elements of one word of a stream without indices.
  double packed() const { return kernel_.int8 ? 4 : kernel_.fp32 ? 1 : 2; }
  bool in_packs() const { return !streams_sparse_ && !holds_sparse_; }

  const StreamingJob job_;
  const WeightCounts counts_;
  const StreamingSetup setup_;
  const WeightCounts streamed_;  // of the operand that is
  bool streams_sparse_;
  bool holds_sparse_;
  Rate words_;
  std::uint64_t queue_bytes_;
  StreamingKernel kernel_;
};

/// The numbers of a layout that its costs follow from.
struct Product::Shape {
  double width = 1;     // columns of a group
  double features = 1;  // of a column
  double used = 1;      // columns with features
  double elements = 1;  // of a core
  double first = 1;     // cycles of the datapath for the first element of a row that is streamed,
  double next = 1;      // for each that follows, which reads sums too,
  double reduce = 1;    // and for a word of sums
  double sums = 1;      // words of the sums of a core
  double steps = 1;
  double last = 0;  // place of the last row's sums
  double groups = 1;
  double lookahead = 64;
  bool exchanges = false;
  bool dealt = false;  // features one by one, not those that follow each other
};

/// Rows of the group with most of them. Those of each place are dealt to the groups in turn, those
/// of the next place from the next group on.
double most_dealt(double rows, double each, double groups) {
  const double full = std::floor(rows / each);  // places
  const double over = std::fmod(each, groups);
  return full * std::floor(each / groups) + std::floor(full / groups) * over +
         std::min(std::fmod(full, groups), over) + std::ceil((rows - full * each) / groups);
}

Product::Shape Product::shape(const StreamLayout& at) const {
  Shape s;
  s.groups = at.groups;
  s.lookahead = at.lookahead;
  s.dealt = at.partition != KPartition::block;
  s.width = at.columns / at.groups;
  s.features = std::ceil(features() / s.width);
  s.used = std::ceil(features() / s.features);
  const bool shares = shares_elements(at);
  s.exchanges = at.groups > 1 && !shares;
  const std::uint32_t routers = shares ? 1 : 0;  // rows that copy streams to the groups
  const double cores = std::max(1U, at.rows - routers) * (shares ? s.groups : 1.0);
  s.elements = std::ceil(elements() / cores);
  StreamingKernel kernel = kernel_;
  const auto elements = static_cast<std::uint32_t>(s.elements);
  set_beats(setup_, elements, false, kernel);
  s.first = static_cast<double>(kernel.first_beats.cycles_of(elements, kernel.simd));
  s.next = static_cast<double>(kernel.beats_that_add.cycles_of(elements, kernel.simd)) +
           residual_stalls(elements, kernel.stalls);
  s.reduce = 1.0 * kernel.reduce_cycles / setup_.core.fabric_words_per_issue;
  s.sums = sum_words(s.elements);
  const double each = std::ceil(rows() / s.width);  // rows of a place
  s.last = std::ceil(rows() / each) - 1;
  s.steps = (shares ? rows() : most_dealt(rows(), each, s.groups)) * job_.batch;
  return s;
}

bool Product::fits(const StreamLayout& at) const {
  if (shares_elements(at) && at.rows < 2) return false;
  const double most = std::ceil(1.0 * features() / (at.columns / at.groups));
  return bytes(at).all <= std::uint64_t{1024} * setup_.mem.kib && most * job_.batch <= 65536;
}

/// What the fullest core holds, and all that it needs.
CoreBytes Product::bytes(const StreamLayout& at) const {
  const Shape s = shape(at);
  const auto elements = static_cast<std::uint64_t>(s.elements);
  const double all = s.elements * s.features;
  const double kept = all * counts_.density;
  const double held =
      holds_sparse_ ? kept + fullest(s.used * at.rows) * std::sqrt(kept * (1 - counts_.density))
                    : all;
  const StreamMemory memory{job_, setup_, kernel_, holds_sparse_, queue_bytes_};
  CoreShare share;
  share.rows = elements;
  share.held = static_cast<std::uint64_t>(std::ceil(held));
  share.inputs = static_cast<std::uint32_t>(s.features);
  share.outputs = static_cast<std::uint32_t>(std::ceil(rows() / s.width));
  const std::uint64_t sums = at.lookahead * elements * kernel_.sum_bytes();
  return {memory.held_bytes(share.held, share.inputs), memory.core_bytes(share) + sums};
}

/// Elements of a row that the fullest column has, over the rows that look-ahead evens out.
double Product::row_elements(const Shape& s) const {
  if (!streams_sparse_) return s.features;
  const double d = streamed_.density;
  const double mean = d * (s.dealt ? features() / s.width : s.features);
  double window = std::min(s.steps, kWindowRows + kWindowLookahead * s.lookahead);
  if (streamed_.blocks != nullptr) {
    const auto width = static_cast<std::uint32_t>(s.width);
    return streamed_.blocks->fullest(width, s.dealt, window * s.groups);
  }
  double variance = mean * (1 - d) * std::min<double>(streamed_.block_cols, s.features);
  if (streamed_.even) variance = 0;
  window = std::max(1.0, window * std::min(1.0, s.groups / streamed_.block_rows));
  return mean + fullest(s.used) * std::sqrt(variance / window);
}

double Product::words(const Shape& s) const {
  const double all = 1.0 * rows() * job_.batch;
  const double commands = all * s.width;
  if (in_packs()) return all * s.used * std::ceil(s.features / packed()) + commands;
  const double kept = all * features() * (streams_sparse_ ? streamed_.density : 1);
  return kept * (kernel_.fp32 ? 2 : 1) + commands;
}

/// Of the busiest link of a row of cores in a step: sums of all groups share it.
double Product::link_cycles(const Shape& s) const {
  if (s.groups == 1) return s.sums;
  if (s.width == 1) return s.exchanges ? kExchangeAlone * (s.groups - 1) * (s.sums + 1) : 0;
  const double own = s.groups * s.sums;
  return s.exchanges ? own + kSideLink * (s.groups - 1) / s.groups * (s.sums + 1) : own;
}

double Product::row_cycles(const Shape& s, const StreamLayout& at) const {
  const double dispatch = setup_.core.dispatch;
  const double command = setup_.core.cmd_cycles;
  const double pace = in_packs() ? dispatch / packed() : dispatch;  // of an element
  const double most = row_elements(s);
  const double later = std::max(0.0, most - 1);
  double issue = (most - later) * s.first + later * s.next;
  double main = (most - later) * std::max(s.first, pace) + later * std::max(s.next, pace);
  if (holds_sparse_) {
    const double sent = s.features * (streams_sparse_ ? streamed_.density : 1);
    const double kept = sent * s.elements * counts_.density;
    issue = setup_.resident.nonzero_cycles *
            (kept + fullest(s.used * at.rows) * std::sqrt(kept * (1 - counts_.density)));
    main = issue + dispatch * sent * std::exp(-s.elements * counts_.density);
  }
  const double sums = s.sums * s.reduce;
  const double core =
      s.next >= pace ? issue + std::max(command, sums) : norm<5>(main + command, issue + sums);
  const double row = norm<8>(core, link_cycles(s));
  // a keeper of many rows in turn takes in what both sides and the other groups send it
  const double others = s.exchanges ? std::min(2.0, s.groups - 1) + s.groups - 1 : 0;
  const double keeper = issue + (2 + others) * sums - row;
  const double turn = rows() / (s.width * s.groups * at.lookahead) - kKeeperFree;
  return row + std::max(0.0, keeper) * std::clamp(turn, 0.0, 1.0);
}

double Product::cycles(const StreamLayout& at) const {
  const Shape s = shape(at);
  const double enter =
      words(s) * static_cast<double>(words_.per) / static_cast<double>(words_.words);
  const double row = row_cycles(s, at);
  const double place = 1 + 2.0 * setup_.ramp + s.groups * setup_.hop;
  const double way = (s.width - 1) * place;
  const double fill = at.inject == Inject::middle_row ? at.rows / 2.0 : at.rows;
  const double waits = s.steps > at.lookahead ? std::max(0.0, way - at.lookahead * row) : 0;
  const bool sparse = streams_sparse_ || holds_sparse_;
  // the first place sends no sums before it has those of its own first row, from the other end
  const double sums =
      s.width == 1 ? 0 : way + s.steps * std::max(link_cycles(s), s.sums * s.reduce);
  const double stream = std::max(s.steps * row + waits, sums);
  const double end = std::max(s.last, s.width - 1 - s.last) * place;
  return (sparse ? norm<4>(enter, stream) : norm<10>(enter, stream)) + fill + end +
         (s.groups - 1) * (s.sums + 11) + 30;
}

class Candidates {
 public:
  /// Of layouts like `like` but for what is chosen.
  Candidates(const Product& product, const GivenLayout& given, const StreamingSetup& setup,
             const StreamLayout& like, std::vector<StreamLayout>& into)
      : product_(product), given_(given), setup_(setup), like_(like), into_(into) {}

  void add() {
    const std::uint32_t most = product_.holds_sparse() ? kMostGroupsHeld : kMostGroups;
    const std::uint32_t first = given_.groups.value_or(1);
    for (std::uint32_t groups = first; groups <= given_.groups.value_or(most); ++groups) {
      for (const Share share : {Share::rows, Share::tokens}) {
        // of one group it says nothing
        const bool once = groups > 1 || given_.share || share == Share::rows;
        if (given_.share.value_or(share) == share && once) add(groups, share);
      }
    }
  }

 private:
  void add(std::uint32_t groups, Share share) {
    StreamLayout at = like_;
    at.groups = groups;
    at.share = share;
    const bool shares = product_.shares_elements(at);
    const bool middle = !shares && !product_.holds_sparse();
    at.inject = given_.inject.value_or(middle ? Inject::middle_row : Inject::column_top);
    if (shares && at.inject == Inject::middle_row) return;  // no stream is copied from there
    const KPartition even = product_.streams_sparse() ? KPartition::balanced : KPartition::block;
    at.partition = given_.partition.value_or(even);
    add_shapes(at, groups, shares);
    if (!product_.counts_blocks() || given_.partition) return;
    at.partition = KPartition::block;  // keeps blocks whole
    add_shapes(at, groups, shares);
  }

  void add_shapes(StreamLayout at, std::uint32_t groups, bool shares) {
    const std::uint32_t routers = shares ? 1 : 0;
    if (setup_.wafer.rows <= routers) return;
    const auto elements =
        static_cast<std::uint32_t>(ceil_div(product_.elements(), shares ? groups : 1));
    for (const std::uint32_t rows : heights(elements, setup_.wafer.rows - routers)) {
      for (const std::uint32_t width : widths(product_.features(), setup_.wafer.columns / groups)) {
        at.rows = rows + routers;
        at.columns = width * groups;
        add(at);
      }
    }
  }

  void add(StreamLayout at) {
    for (const std::uint32_t lookahead : {64U, 16U}) {
      at.lookahead = given_.lookahead.value_or(lookahead);
      if (!product_.fits(at)) continue;
      at.cycles = product_.cycles(at);
      into_.push_back(at);
      return;
    }
  }

  const Product& product_;
  const GivenLayout& given_;
  const StreamingSetup& setup_;
  StreamLayout like_;
  std::vector<StreamLayout>& into_;
};

}  // namespace

WeightCounts weight_counts(const Mask* mask) {
  if (mask == nullptr) return {};
  WeightCounts counts{mask->density(), true, mask->block_rows, mask->block_cols, false};
  if (mask->block_rows * mask->block_cols != 1) counts.blocks = std::make_shared<BlockLoads>(*mask);
  return counts;
}

bool operator==(const StreamLayout& a, const StreamLayout& b) {
  const auto key = [](const StreamLayout& at) {
    return std::tuple(at.resident, at.columns, at.rows, at.groups, at.share, at.inject,
                      at.partition, at.lookahead, at.keeps_zeros);
  };
  return key(a) == key(b);
}

std::vector<StreamLayout> stream_layouts(const StreamingJob& job, const WeightCounts& counts,
                                         const GivenLayout& given, const StreamingSetup& setup) {
  std::vector<StreamLayout> all;
  for (const bool keeps : {false, true}) {
    if (keeps && !(counts.sparse && given.may_keep_zeros)) continue;
    StreamLayout like;
    like.resident = job.resident;
    like.keeps_zeros = keeps;
    const Product product(job, keeps ? WeightCounts{} : counts, setup);
    Candidates(product, given, setup, like, all).add();
  }
  sort_by_cycles(all);
  return all;
}

namespace {

/// Each the least with so many features in its fullest column, of as many for each group: what
/// groups and functions have lies side by side.
void add_even_widths(std::uint32_t features, std::uint32_t groups, std::uint32_t most,
                     std::set<std::uint32_t>& all) {
  for (const std::uint32_t each : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 64U, 128U}) {
    const auto width = static_cast<std::uint32_t>(ceil_div(features, std::uint64_t{each} * groups));
    if (width <= most) all.insert(width);
  }
}

/// What rows take in turn; infinite if one has no room.
double sum_of(const std::vector<SharedRow>& rows, const StreamLayout& at) {
  double sum = 0;
  for (const SharedRow& row : rows) sum += row.times * row.cycles(at);
  return sum;
}

/// Elements that rows of cores own of rows in either place.
std::set<std::uint32_t> all_heights(const std::vector<SharedRow>& rows, std::uint32_t most) {
  std::set<std::uint32_t> all;
  for (const SharedRow& row : rows) {
    for (const std::uint32_t elements : {row.elements, row.staying ? row.held : row.elements}) {
      for (const std::uint32_t each : heights(elements, most)) all.insert(each);
    }
  }
  return all;
}

}  // namespace

double SharedRow::cycles(const StreamLayout& at) const {
  const double streamed = cost(at);
  return at.resident && staying ? std::min(streamed, staying(at)) : streamed;
}

RowCost product_cost(const StreamingJob& job, const WeightCounts& counts, const GivenLayout& given,
                     const StreamingSetup& setup) {
  std::vector<Product> forms;  // with zeros left out, and kept
  forms.emplace_back(job, counts, setup);
  const bool zeros = counts.sparse || counts.x_density < 1;
  if (zeros && given.may_keep_zeros) forms.emplace_back(job, WeightCounts{}, setup);
  return [forms](const StreamLayout& at) {
    double least = std::numeric_limits<double>::infinity();
    for (const Product& form : forms) {
      if (form.fits(at)) least = std::min(least, form.cycles(at));
    }
    return least;
  };
}

RowBytes staying_bytes(const StreamingJob& job, const WeightCounts& counts,
                       const StreamingSetup& setup) {
  return
      [product = Product(job, counts, setup)](const StreamLayout& at) { return product.bytes(at); };
}

bool weights_fit(const std::vector<SharedRow>& rows, const StreamLayout& at, std::uint64_t working,
                 const StreamingSetup& setup) {
  std::uint64_t weights = 0;
  for (const SharedRow& row : rows) {
    if (!row.staying) continue;
    const CoreBytes bytes = row.bytes(at);
    weights += static_cast<std::uint64_t>(row.times) * bytes.weights;
    working = std::max(working, bytes.all - bytes.weights);
  }
  return weights + working <= std::uint64_t{1024} * setup.mem.kib;
}

std::vector<StreamLayout> shared_layouts(const std::vector<SharedRow>& rows,
                                         const GivenLayout& given, const StreamingSetup& setup) {
  StreamLayout at;
  at.partition = given.partition.value_or(KPartition::block);
  at.inject = given.inject.value_or(Inject::column_top);
  const std::set<std::uint32_t> tall = all_heights(rows, setup.wafer.rows);
  std::vector<StreamLayout> all;
  for (at.groups = given.groups.value_or(1); at.groups <= given.groups.value_or(kMostGroups);
       ++at.groups) {
    const std::uint32_t most = setup.wafer.columns / at.groups;
    if (most == 0) break;
    std::set<std::uint32_t> wide = {most};
    for (const SharedRow& row : rows) add_even_widths(row.features, at.groups, most, wide);
    for (const std::uint32_t width : wide) {
      for (const std::uint32_t height : tall) {
        at.columns = width * at.groups;
        at.rows = height;
        for (const std::uint32_t lookahead : {64U, 16U}) {
          at.lookahead = given.lookahead.value_or(lookahead);
          at.resident = weights_fit(rows, at, 0, setup);
          at.cycles = sum_of(rows, at);
          if (std::isfinite(at.cycles)) break;
        }
        if (std::isfinite(at.cycles)) all.push_back(at);
      }
    }
  }
  sort_by_cycles(all);
  return all;
}

const StreamLayout& least_of(const std::vector<StreamLayout>& layouts) {
  const StreamLayout* least = &layouts.front();
  for (const StreamLayout& each : layouts) {
    if (each.cycles > kWithinLeast * layouts.front().cycles) break;
    if (each.cores() < least->cores()) least = &each;
  }
  return *least;
}

}  // namespace lacuna::wse
