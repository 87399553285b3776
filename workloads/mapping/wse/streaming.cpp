// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/streaming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/group_use.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/reduction.hpp"
#include "workloads/mapping/wse/stream_bound.hpp"
#include "workloads/mapping/wse/stream_memory.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"
#include "workloads/mapping/wse/stream_words.hpp"
#include "workloads/mapping/wse/zero_scan.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_u32(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(ceil_div(a, b));
}

class StreamingPlanner {
 public:
  StreamingPlanner(const StreamingJob& job, const StreamingSetup& setup)
      : job_(job),
        operands_(job),
        setup_(setup),
        columns_(setup.wafer.columns),
        use_(use_groups(setup.wafer, setup.ws, job.resident)),
        groups_(use_.groups),
        fp32_(job.gemm.dtype == DType::fp32),
        int8_(job.gemm.dtype == DType::int8),
        queue_bytes_(StreamMemory::bytes_of(setup.queue)) {}

  StreamingNeed need() {
    check_filter();
    set_formats();
    share_elements();
    set_beats(setup_, tokens(), scattered(), kernel());
    share_features();
    hold();
    find_fullest();
    const auto rows = static_cast<std::uint32_t>(kernel().tokens.size());
    StreamingNeed found{0, plan_.bytes, memory().limit()};
    for (std::uint32_t r = 0; job_.resident && r < rows; ++r) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        found.weights = std::max(found.weights, memory().held_bytes(held_by(r, c), inputs_[c]));
      }
    }
    return found;
  }

  Cycle least_cycles() {
    prepare();
    const StreamingKernel& k = kernel();
    const std::vector<std::uint64_t> sent = column_loads();
    const bool whole = !filters() && !scattered() && !fp32_;
    const Rate rate = io_rate(setup_.io, setup_.wafer, setup_.clock_ghz);
    const Cycle enter = ceil_div(least_words(sent, whole) * rate.per, rate.words);
    if (k.tokens.empty()) return enter;
    order();
    StreamingKernel form = k;
    if (whole) form.form = StreamForm::packed;  // the faster of two forms counts
    const std::uint32_t first = plan_.program.distribution_rows;
    const std::uint32_t entry = plan_.program.entry;
    const std::uint32_t farthest = std::max(entry - first, plan_.program.rows - 1 - entry);
    StreamLoads loads{sent, farthest, entry, setup_.ws.reduce == Reduce::ring};
    // groups share rows, or each multiplies by all of them
    for (std::uint64_t& each : loads.sent) each *= plan_.element_shares;
    loads.exchanges = use_.exchanges && setup_.ws.lie == Lie::side_by_side;
    if (!loads.ring) {
      const Reduction way = plan_sums(setup_, use_, kernel());
      loads.gathers = gathers_of(way.plan, groups_, k.final_column);
    }
    loads.between = groups_.interleaved ? groups_.count : 1;
    loads.hop = setup_.hop;
    loads.ramp = setup_.ramp;
    const Cycle cores = scattered()
                            ? least_cycles_of_held(k, setup_.core, loads, words_by_feature())
                            : least_cycles_of_cores(form, setup_.core, loads);
    return std::max(enter + std::uint64_t{farthest} * setup_.hop, cores);
  }

  StreamingPlan plan() {
    if (job_.gemm.values && setup_.ws.reduce == Reduce::idealised) {
      throw UnsupportedError("ws.reduce = idealised adds up no numbers (--values)");
    }
    prepare();
    order();
    count_stream();
    set_io(setup_, use_, plan_);
    Reduction way = plan_sums(setup_, use_, kernel());
    plan_.tree_block = way.block;
    route_streaming(plan_.program, columns_, std::move(way));
    if (filters()) place_filter();
    const StreamPlaces places{owner_of_input_,      index_,           inputs_, first_element_,
                              plan_.element_shares, plan_.row_of_step};
    if (job_.gemm.values || !kernel().held.empty()) {
      fill_stream(job_, operands_, filters(), places, plan_.program);
    }
    if (job_.gemm.values) fill_held(job_, operands_, places, plan_.program);
    return std::move(plan_);
  }

 private:
  /// Where everything lies.
  void prepare() {
    check_filter();
    set_formats();
    share_elements();
    set_beats(setup_, tokens(), scattered(), kernel());
    check_size();
    share_features();
    hold();
    check_memory();
  }

  /// Elements that are sent down each column.
  std::vector<std::uint64_t> column_loads() const {
    std::vector<std::uint64_t> loads(groups_.width, 0);
    const std::vector<std::uint64_t> kept =
        filters() ? operands_.feature_loads() : std::vector<std::uint64_t>{};
    for (std::uint32_t j = 0; j < owner_of_input_.size(); ++j) {
      loads[owner_of_input_[j]] +=
          (filters() ? kept[j] : operands_.rows()) * std::uint64_t{job_.batch};
    }
    return loads;
  }

  /// Words that are paid for: elements, `whole` ones several in a word, which no two rows share,
  /// and for each stream the command that ends a row.
  std::uint64_t least_words(const std::vector<std::uint64_t>& sent, bool whole) const {
    const std::uint64_t streams = use_.share_elements ? groups_.width : columns_;
    std::uint64_t words = plan_.program.kernel.steps * streams;
    const unsigned each = fp32_ && filters() ? 2 : 1;  // of an element: its index, and itself
    for (std::uint32_t place = 0; place < groups_.width; ++place) {
      const std::uint64_t features = inputs_[groups_.column_of(0, place)];
      const std::uint64_t rows = std::uint64_t{operands_.rows()} * job_.batch;
      words += whole            ? rows * ceil_div(features, int8_ ? 4U : 2U)
               : at_receivers() ? rows * features
                                : sent[place] * each;
    }
    return words;
  }

  void check_filter() const {
    if (!filters()) return;
    if (at_receivers() && fp32_) {
      throw UnsupportedError(
          "zero_filter.at = receiver: a weight of FP32 with its index is two words, and the filter "
          "at a core's ramp sees one at a time");
    }
    if (groups_.count == 1 || (!at_receivers() && setup_.zero_filter.scan_width == 0)) return;
    throw UnsupportedError(
        fmt::format("ws.groups = {}: {} goes through the rows of one group", groups_.count,
                    at_receivers() ? "a filter at the receivers (zero_filter.at)"
                                   : "a filter that takes time (zero_filter.scan_width)"));
  }

  StreamingKernel& kernel() { return plan_.program.kernel; }
  /// Whether zeros of the stream start no tasks, and of these, whether they come to the cores.
  bool filters() const { return setup_.ws.zero_filter && operands_.streamed_mask() != nullptr; }
  bool at_receivers() const { return filters() && setup_.zero_filter.at == FilterAt::receiver; }

  void set_formats() {
    StreamingKernel& k = kernel();
    set_types(job_.gemm.dtype, job_.gemm.partials, setup_, k);
    k.instances = job_.batch;
    const bool indexed = filters() || !job_.packed || scattered();
    k.form = fp32_ ? (indexed ? StreamForm::wide : StreamForm::plain)
                   : (indexed ? StreamForm::indexed : StreamForm::packed);
    k.groups = groups_;
  }

  bool scattered() const {
    return operands_.held_mask() != nullptr && setup_.resident.storage == ResidentStorage::nonzeros;
  }

  /// By column and feature of it, how often its words come.
  std::vector<std::vector<std::uint32_t>> words_by_feature() const {
    std::vector<std::vector<std::uint32_t>> words(columns_);
    for (std::uint32_t c = 0; c < columns_; ++c)
      words[c].resize(std::size_t{inputs_[c]} * job_.batch);
    const auto add = [&](std::uint32_t group, std::uint32_t feature, std::uint32_t times) {
      words[groups_.column_of(group, owner_of_input_[feature])][index_[feature]] += times;
    };
    for (std::uint32_t g = 0; g < groups_.count; ++g) {
      if (filters()) {
        for_each_kept(
            operands_.streamed_mask(), operands_.rows(), operands_.features(),
            [&](std::uint32_t i, std::uint32_t j) { add(g, j, rows_.multiplies(g, i) ? 1 : 0); });
        continue;
      }
      const std::uint32_t rows = rows_.rows_of(g);
      for (std::uint32_t j = 0; j < operands_.features(); ++j) add(g, j, rows);
    }
    for (std::uint32_t c = 0; c < columns_; ++c) {  // instances have the same
      for (std::size_t i = inputs_[c]; i < words[c].size(); ++i)
        words[c][i] = words[c][i - inputs_[c]];
    }
    return words;
  }

  /// The rows next to the injectors take one more if they do not divide. Groups that share the
  /// elements of a row have as many each; those that are too many are padding.
  void share_elements() {
    Program& program = plan_.program;
    plan_.element_shares = use_.element_shares();
    program.source = stream_sources(setup_.ws, use_);
    program.from_north = setup_.ws.inject == Inject::column_top;
    const std::uint32_t distribution = distribution_rows(setup_.ws, setup_.io, use_);
    if (distribution >= setup_.wafer.rows) {
      throw UnsupportedError(fmt::format(
          "ws.inject = {} takes {} rows to bring words to {} columns{}, and wafer.rows = {} leaves "
          "none for tokens",
          setup_.ws.inject.value_text(), distribution, columns_,
          program.from_north ? "" : " (io.dist_rows)", setup_.wafer.rows.value()));
    }
    const std::uint32_t rows = setup_.wafer.rows - distribution;
    const std::uint32_t each = ceil_u32(operands_.elements(), plan_.element_shares);
    plan_.padding = each * plan_.element_shares - operands_.elements();
    kernel().tokens = deal_tokens(setup_.ws.inject, rows, each);
    const auto active = static_cast<std::uint32_t>(kernel().tokens.size());
    plan_.rows_off = rows - active;
    program.distribution_rows = active == 0 ? 0 : distribution;
    kernel().tokens.insert(kernel().tokens.begin(), program.distribution_rows, 0);
    program.rows = active + program.distribution_rows;
    program.entry = program.distribution_rows + entry_row(setup_.ws.inject, active);
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      first_element_.push_back(r == 0 ? 0 : first_element_.back() + kernel().tokens[r - 1]);
    }
  }

  void share_features() {
    const KPartition kind = setup_.ws.k_partition;
    const std::uint32_t features = operands_.features();
    const auto load =
        kind == KPartition::balanced ? operands_.feature_loads() : std::vector<std::uint64_t>{};
    const std::uint32_t width = groups_.width;
    owner_of_input_ = assign_features(kind, features, width, load);
    // Nothing is known of the layer that follows, so `balanced` gives outputs in blocks.
    const KPartition outputs = kind == KPartition::balanced ? KPartition::block : kind;
    rows_ = {use_, assign_features(outputs, operands_.rows(), width, {})};
    kernel().steps = rows_.steps() * job_.batch;
    index_.resize(features);
    std::vector<std::uint32_t> places(width, 0);  // features of each
    for (std::uint32_t j = 0; j < features; ++j) index_[j] = places[owner_of_input_[j]]++;
    inputs_.clear();
    for (std::uint32_t c = 0; c < columns_; ++c) inputs_.push_back(places[groups_.place_of(c)]);
    outputs_ = rows_.outputs();
    plan_.most_features = *std::max_element(inputs_.begin(), inputs_.end());
    plan_.most_outputs = *std::max_element(outputs_.begin(), outputs_.end());
    check_index(plan_.most_features);
  }

  void check_index(std::uint64_t features) const {
    if (features * job_.batch <= 65536) return;
    throw UnsupportedError(
        fmt::format("{}: a column would own {} input features, and an index of 16 bits tells "
                    "65536 apart",
                    job_.resident ? "static" : "streamed", features * job_.batch));
  }

  /// Before anything is made whose size depends on the product: no way to share the features
  /// leaves the fullest column less than the mean.
  void check_size() const {
    const bool all = use_.exchanges || use_.share_elements;
    const std::uint32_t inputs = ceil_u32(operands_.features(), groups_.width);
    const std::uint32_t outputs = ceil_u32(operands_.rows(), all ? groups_.width : columns_);
    check_index(inputs);
    const CoreShare share{tokens(), scattered() ? 0 : tokens() * inputs, inputs, outputs};
    if (memory().core_bytes(share) > memory().limit()) memory().refuse(0, share);
  }

  StreamMemory memory() const {
    return {job_, setup_, plan_.program.kernel, scattered(), queue_bytes_};
  }
  std::uint64_t tokens() const {
    const std::vector<std::uint32_t>& all = plan_.program.kernel.tokens;
    return all.empty() ? 0 : all[plan_.program.entry];
  }

  /// What each core keeps of sparse resident weights, if it keeps no zeros.
  void hold() {
    if (!scattered()) return;
    const std::size_t cores = kernel().tokens.size() * columns_;
    const std::size_t features = std::accumulate(inputs_.begin(), inputs_.end(), std::size_t{0});
    kernel().held.reserve(cores, kernel().tokens.size() * features * job_.batch);
    for (std::size_t core = 0; core < cores; ++core) {
      kernel().held.push_zeros(std::size_t{inputs_[core % columns_]} * job_.batch);
    }
    const std::uint32_t shares = plan_.element_shares;
    std::vector<std::size_t> core_of;  // of each element, its row and share
    for (std::uint32_t r = 0; r < kernel().tokens.size(); ++r) {
      for (std::uint32_t share = 0; share < shares; ++share) {
        core_of.insert(core_of.end(), kernel().tokens[r], std::size_t{r} * shares + share);
      }
    }
    for_each_kept(operands_.held_mask(), operands_.elements(), operands_.features(),
                  [&](std::uint32_t i, std::uint32_t j) {
                    const std::size_t row = core_of[i] / shares;
                    for (std::uint32_t g = 0; g < groups_.count; ++g) {
                      if (shares != 1 && g != core_of[i] % shares) continue;
                      hold_element(row * columns_ + groups_.column_of(g, owner_of_input_[j]), j);
                    }
                  });
  }

  void hold_element(std::size_t core, std::uint32_t feature) {
    for (std::uint32_t b = 0; b < job_.batch; ++b) {
      ++kernel().held[core][b * inputs_[core % columns_] + index_[feature]];
    }
  }

  std::uint64_t held_by(std::uint32_t row, std::uint32_t column) {
    if (!scattered()) return std::uint64_t{kernel().tokens[row]} * inputs_[column];
    const auto mine = kernel().held[std::size_t{row} * columns_ + column];
    return std::accumulate(mine.begin(), mine.begin() + inputs_[column], std::uint64_t{0});
  }

  CoreShare share_of(std::uint32_t row, std::uint32_t column) {
    return {kernel().tokens[row], held_by(row, column), inputs_[column], outputs_[column]};
  }

  /// The row of cores with the fullest.
  std::uint32_t find_fullest() {
    const auto rows = static_cast<std::uint32_t>(kernel().tokens.size());
    // Without zeros left out the row where words enter is the fullest.
    const std::uint32_t first = scattered() ? 0 : plan_.program.entry;
    const std::uint32_t last = scattered() ? rows : std::min(rows, first + 1);
    std::uint32_t fullest_row = first;
    for (std::uint32_t r = first; r < last; ++r) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        const std::uint64_t bytes = memory().core_bytes(share_of(r, c));
        if (bytes <= plan_.bytes) continue;
        plan_.bytes = bytes;
        plan_.fullest_column = c;
        fullest_row = r;
      }
    }
    return fullest_row;
  }

  void check_memory() {
    plan_.limit = memory().limit();
    const std::uint32_t fullest_row = find_fullest();
    const std::uint32_t fullest = plan_.fullest_column;
    if (plan_.bytes > plan_.limit) memory().refuse(fullest, share_of(fullest_row, fullest));
  }

  /// Instances of a batch follow each other. A group with fewer rows than others ends with one of
  /// no weights.
  void order() {
    const std::vector<std::uint32_t> row_of = rows_.in(setup_.ws.row_order);
    std::vector<std::uint32_t> keeps(columns_, 0);
    for (std::uint32_t b = 0; b < job_.batch; ++b) {
      for (std::size_t i = 0; i < row_of.size(); ++i) {
        const bool empty = row_of[i] == kNoRow;
        plan_.empty_rows += empty ? 1 : 0;
        plan_.row_of_step.push_back(empty ? kNoRow : b * operands_.rows() + row_of[i]);
        const auto group = static_cast<std::uint32_t>(i % groups_.count);
        const std::uint32_t keeper =
            empty ? keeper_of_nothing(group, keeps) : rows_.keeper(group, row_of[i]);
        ++keeps[keeper];
        kernel().final_column.push_back(keeper);
      }
    }
  }

  /// Turns of an order begin in the first column. Without turns sums of no weights need not go back
  /// there: of the columns from the keeper before on they go to the one that keeps least.
  std::uint32_t keeper_of_nothing(std::uint32_t group, const std::vector<std::uint32_t>& keeps) {
    const std::vector<std::uint32_t>& before = kernel().final_column;
    if (setup_.ws.row_order != RowOrder::natural || before.size() < groups_.count) {
      return rows_.keeper(group, kNoRow);
    }
    std::uint32_t least = before[before.size() - groups_.count];
    for (std::uint32_t p = groups_.place_of(least) + 1; p < groups_.width; ++p) {
      const std::uint32_t column = groups_.column_of(group, p);
      if (keeps[column] < keeps[least]) least = column;
    }
    return least;
  }

  /// Places of rows in the stream: a step of a group each.
  std::size_t stream_places() const { return std::size_t{rows_.steps()} * groups_.count; }

  /// The elements at a place that the `owner`-th column of its group has.
  std::uint32_t& count_at(std::size_t place, std::uint32_t owner) {
    const auto group = static_cast<std::uint32_t>(place % groups_.count);
    return kernel().counts[place / groups_.count * columns_ + groups_.column_of(group, owner)];
  }

  void count_kept() {
    // Of each row the places where it is streamed, which all groups have or one.
    const std::uint32_t times = use_.share_elements ? groups_.count : 1;
    std::vector<std::size_t> place_of_row(operands_.rows());
    for (std::size_t i = stream_places(); i-- != 0;) {
      if (plan_.row_of_step[i] != kNoRow) place_of_row[plan_.row_of_step[i]] = i;
    }
    for_each_kept(operands_.streamed_mask(), operands_.rows(), operands_.features(),
                  [&](std::uint32_t i, std::uint32_t j) {
                    for (std::uint32_t n = 0; n < times; ++n) {
                      ++count_at(place_of_row[i] + n, owner_of_input_[j]);
                    }
                  });
  }

  void count_all() {
    for (std::size_t i = 0; i < stream_places(); ++i) {
      if (plan_.row_of_step[i] == kNoRow) continue;
      for (std::uint32_t p = 0; p < groups_.width; ++p) {
        count_at(i, p) = inputs_[groups_.column_of(0, p)];
      }
    }
  }

  void count_stream() {
    StreamingKernel& k = kernel();
    const std::uint64_t all = std::uint64_t{operands_.rows()} * operands_.features();
    k.counts.assign(std::size_t{rows_.steps()} * columns_, 0);
    if (filters()) {
      count_kept();
    } else {
      count_all();
    }
    plan_.column_features = inputs_;
    plan_.column_weights.assign(columns_, 0);
    for (std::size_t i = 0; i < k.counts.size(); ++i) {
      const bool counts = enters(static_cast<std::uint32_t>(i % columns_));
      if (counts) plan_.column_weights[i % columns_] += std::uint64_t{k.counts[i]} * job_.batch;
    }
    const std::size_t once = k.counts.size();
    for (std::uint32_t b = 1; b < job_.batch; ++b) {
      for (std::size_t i = 0; i < once; ++i) k.counts.push_back(k.counts[i]);
    }
    plan_.weights =
        std::accumulate(plan_.column_weights.begin(), plan_.column_weights.end(), std::uint64_t{0});
    plan_.useful = operands_.useful_products() * job_.batch;
    if (!filters()) return;
    (at_receivers() ? plan_.tested_at_cores : plan_.tested) = all * job_.batch;
    if (!at_receivers()) plan_.left_out = plan_.tested - plan_.weights;
  }

  /// Whether a column's stream is paid for: of equal ones of groups that share elements one is.
  bool enters(std::uint32_t column) const {
    if (!use_.share_elements) return true;
    return use_.copies ? plan_.program.has_stream(column) : groups_.group_of(column) == 0;
  }

  /// Zeros travel to the cores; or how long the sender looks for each word.
  void place_filter() {
    const ScannedStream stream{
        *operands_.streamed_mask(),    plan_.row_of_step,          owner_of_input_, inputs_,
        setup_.zero_filter.scan_width, kernel().words_per_weight()};
    if (at_receivers()) {
      filter_at_receivers(zeros_between(stream), plan_.program);
      return;
    }
    if (setup_.zero_filter.scan_width == 0) return;
    if (plan_.program.column_fifo != 0) {
      throw UnsupportedError(
          "zero_filter.scan_width: the filter of io.stream = row_ordered is not modelled");
    }
    plan_.program.scan_cycles = scan_cycles(stream);
  }

  const StreamingJob& job_;
  const StreamOperands operands_;
  const StreamingSetup& setup_;
  std::uint32_t columns_;
  const GroupUse use_;
  const ColumnGroups groups_;
  bool fp32_;
  bool int8_;
  std::uint64_t queue_bytes_;
  StreamingPlan plan_;
  std::vector<std::uint32_t> first_element_;  // of each row of cores
  std::vector<std::uint32_t> owner_of_input_;
  GroupRows rows_;                    // of weights, whose outputs have owners
  std::vector<std::uint32_t> index_;  // of a feature within its column
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> outputs_;
};

}  // namespace

void set_io(const StreamingSetup& setup, const GroupUse& use, StreamPlan& plan) {
  plan.program.rate = io_rate(setup.io, setup.wafer, setup.clock_ghz);
  if (use.share_elements && !use.copies) plan.program.rate.words *= use.groups.count;
  plan.program.column_fifo = column_fifo(setup.io);
  const double columns = setup.wafer.columns;
  plan.io_share = setup.io.share > 0 ? setup.io.share.value()
                                     : std::min(1.0, columns / setup.wafer.program_columns);
}

StreamingNeed streaming_need(const StreamingJob& job, const StreamingSetup& setup) {
  return StreamingPlanner(job, setup).need();
}

Cycle least_cycles(const StreamingJob& job, const StreamingSetup& setup) {
  return StreamingPlanner(job, setup).least_cycles();
}

StreamingPlan plan_streaming(const StreamingJob& job, const StreamingSetup& setup) {
  return StreamingPlanner(job, setup).plan();
}

}  // namespace lacuna::wse
