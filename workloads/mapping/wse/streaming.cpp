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
#include "workloads/mapping/wse/exchange.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/reduction.hpp"
#include "workloads/mapping/wse/scan.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"
#include "workloads/mapping/wse/stream_words.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_u32(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(ceil_div(a, b));
}

class Planner {
 public:
  Planner(const StreamingJob& job, const StreamingSetup& setup)
      : job_(job),
        operands_(job),
        setup_(setup),
        columns_(setup.wafer.columns),
        groups_(setup.ws.groups),
        width_(columns_ / groups_),
        fp32_(job.gemm.dtype == DType::fp32),
        int8_(job.gemm.dtype == DType::int8) {}

  StreamingNeed need() {
    check_groups();
    set_formats();
    share_elements();
    set_beats();
    share_features();
    hold();
    find_fullest();
    const auto rows = static_cast<std::uint32_t>(kernel().tokens.size());
    StreamingNeed found{0, plan_.bytes, limit()};
    for (std::uint32_t r = 0; job_.resident && r < rows; ++r) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        found.weights = std::max(found.weights, held_bytes(held_by(r, c), inputs_[c]));
      }
    }
    return found;
  }

  Cycle least_cycles() {
    prepare();
    const StreamingKernel& k = kernel();
    const std::vector<std::uint64_t> sent = column_loads();
    const std::uint64_t all = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
    const bool whole = !filters() && !scattered() && !fp32_;
    const Rate rate = io_rate(setup_.io, setup_.wafer, setup_.clock_ghz);
    const Cycle enter =
        ceil_div(ceil_div(all, whole ? (int8_ ? 4U : 2U) : 1U) * rate.per, rate.words);
    if (k.tokens.empty()) return enter;
    const std::uint64_t cores = std::uint64_t{plan_.program.rows} * columns_;
    const std::uint64_t busiest = ceil_div(*std::max_element(sent.begin(), sent.end()), groups_);
    // Of scattered weights the mean core, as the busiest is not known.
    Cycle slots = scattered() ? operands_.useful_products() * job_.batch *
                                    setup_.resident.nonzero_cycles / cores
                              : busiest * ceil_div(tokens(), k.simd);
    if (setup_.ws.reduce == Reduce::ring && width_ > 1) {
      const std::uint64_t each =
          std::uint64_t{k.ring_elements} * setup_.core.fabric_words_per_issue;
      slots += k.steps * ceil_div(scattered() ? k.tokens.back() : tokens(), each);
    }
    return std::max(enter, slots);
  }

  StreamingPlan plan() {
    prepare();
    order();
    count_stream();
    plan_.program.rate = io_rate(setup_.io, setup_.wafer, setup_.clock_ghz);
    plan_.program.column_fifo = column_fifo(setup_.io);
    plan_.io_share =
        setup_.io.share > 0
            ? setup_.io.share.value()
            : std::min(1.0, static_cast<double>(columns_) / setup_.wafer.program_columns);
    Reduction way = reduction();
    plan_.tree_block = way.block;
    route_streaming(plan_.program, columns_, std::move(way));
    if (filters() && setup_.zero_filter.scan_width != 0) scan_stream();
    const StreamPlaces places{owner_of_input_, index_, inputs_, first_element_, plan_.row_of_step};
    if (job_.gemm.values || !kernel().held.empty()) {
      fill_stream(job_, operands_, filters(), places, plan_.program);
    }
    if (job_.gemm.values) fill_held(job_, operands_, places, plan_.program);
    return std::move(plan_);
  }

 private:
  /// Where everything lies.
  void prepare() {
    check_groups();
    set_formats();
    share_elements();
    set_beats();
    check_size();
    share_features();
    hold();
    check_memory();
  }

  /// Elements that are sent down each column.
  std::vector<std::uint64_t> column_loads() const {
    std::vector<std::uint64_t> loads(width_, 0);
    const std::vector<std::uint64_t> kept =
        filters() ? operands_.feature_loads() : std::vector<std::uint64_t>{};
    for (std::uint32_t j = 0; j < owner_of_input_.size(); ++j) {
      loads[owner_of_input_[j]] +=
          (filters() ? kept[j] : operands_.rows()) * std::uint64_t{job_.batch};
    }
    return loads;
  }

  /// What cannot be combined with groups of columns.
  void check_groups() const {
    if (groups_ == 1) return;
    const auto refuse = [&](const std::string& why) {
      throw UnsupportedError(fmt::format("ws.groups = {}: {}", groups_, why));
    };
    if (columns_ % groups_ != 0) {
      refuse(fmt::format("wafer.columns = {} are not a multiple of it", columns_));
    }
    if (job_.resident) {
      refuse("groups share the rows of weights that are streamed, and these stay in the cores");
    }
    if (setup_.zero_filter.scan_width != 0 && filters()) {
      refuse(
          "a filter that takes time (zero_filter.scan_width) goes through the rows of one group");
    }
    if (setup_.ws.inject == Inject::west_edge) {
      refuse(
          "the colors that bring words from the west edge (ws.inject) and those of groups are "
          "not dealt together");
    }
  }

  StreamingKernel& kernel() { return plan_.program.kernel; }
  bool filters() const { return setup_.ws.zero_filter && operands_.streamed_mask() != nullptr; }

  void set_formats() {
    StreamingKernel& k = kernel();
    const Partials partials = job_.gemm.partials;
    k.fp32 = fp32_;
    k.int8 = int8_;
    k.psum_fp32 = fp32_ || int8_ ||
                  (partials == Partials::automatic ? setup_.ws.psum == Precision::fp32
                                                   : partials == Partials::fp32);
    k.ring_fp32 = fp32_ || int8_ || setup_.ws.ring == Precision::fp32;
    k.simd = int8_         ? setup_.simd.int8
             : fp32_       ? setup_.simd.fma32
             : k.psum_fp32 ? setup_.simd.fma16_32
                           : setup_.simd.fma16;
    k.stalls = setup_.mem.model == MemoryModel::none || int8_ ? 0U
               : fp32_                                        ? setup_.mem.fma32_stalls.value()
                                                              : setup_.mem.fma16_stalls.value();
    k.ring_elements = k.ring_fp32 ? 1 : 2;
    k.lookahead = setup_.ws.lookahead;
    const bool indexed = filters() || !job_.packed || scattered();
    k.form = fp32_ ? (indexed ? StreamForm::wide : StreamForm::plain)
                   : (indexed ? StreamForm::indexed : StreamForm::packed);
    k.instances = job_.batch;
    k.groups = groups_;
  }

  bool scattered() const {
    return operands_.held_mask() != nullptr && setup_.resident.storage == ResidentStorage::nonzeros;
  }

  /// What a beat moves through the memory's ports decides how many cycles it takes; two reads of
  /// one cycle that meet in a bank cost one more.
  void set_beats() {
    StreamingKernel& k = kernel();
    const std::uint32_t psum = k.psum_fp32 ? 32 : 16;
    const auto element = static_cast<std::uint32_t>(8 * element_bytes());
    const auto output = static_cast<std::uint32_t>(8 * output_bytes());
    k.psum_cached = setup_.core.psum_cache && tokens() * sum_bytes() <= setup_.core.cache_bytes;
    const std::uint32_t in_sram = k.psum_cached ? 0 : psum;
    const MemoryPorts ports = setup_.mem.ports();
    const bool conflict =
        setup_.mem.model == MemoryModel::rule && in_sram != 0 && setup_.map.align == Alignment::bad;
    const std::uint32_t e = k.ring_elements * setup_.core.fabric_words_per_issue;
    k.first_cycles = ports.cycles(k.simd * element, k.simd * in_sram);
    k.beat_cycles =
        std::max(ports.cycles(k.simd * (element + in_sram), k.simd * in_sram), conflict ? 2U : 1U);
    k.reduce_cycles = ports.cycles(e * in_sram, e * output);
    k.gather_cycles = ports.cycles(e * in_sram, e * in_sram);
    k.exchange.send_cycles = ports.cycles(e * output, 0);
    k.exchange.take_cycles = ports.cycles(0, e * output);
    if (scattered()) k.beat_cycles = setup_.resident.nonzero_cycles;
    if (k.beat_cycles != 1) k.stalls = 0;  // see residual_place()
  }

  bool exchanges() const {
    return groups_ > 1 && setup_.ws.exchange == Exchange::product && !plan_.row_of_step.empty();
  }

  /// Its colors and queues must be there, and those of an exchange.
  Reduction reduction() {
    const Reduce kind = setup_.ws.reduce;
    const bool ring = kind == Reduce::ring || width_ == 1;
    if (ring && groups_ == 1) return {};
    auto queues = static_cast<unsigned>(setup_.queue.in_depths().size());
    // How many rows bring words from the west edge follows from the colors of a core as it is.
    if (setup_.ws.inject == Inject::west_edge) queues = std::min(queues, kInputQueues);
    const unsigned others = exchanges() ? groups_ - 1 : 0;  // that a core takes rows from
    const unsigned ways = exchanges() ? std::min(groups_ - 1, 2U) : 0;
    if (!ring) queues -= std::min(others, queues);
    Reduction reduction = ring ? ring_reduction(width_) : plan_reduction(kind, width_, queues);
    const unsigned parts = std::min(setup_.ws.buses.value(), width_);
    const auto need = [&](unsigned needed, std::size_t there, const char* what) {
      if (needed <= there) return;
      throw UnsupportedError(fmt::format(
          "ws.reduce = {} on {} columns{} needs {} {}, of which there are {}",
          setup_.ws.reduce.value_text(), width_,
          !exchanges() ? ""
                       : fmt::format(", with {} groups (ws.groups) that exchange results on {} "
                                     "buses each way (ws.buses),",
                                     groups_, parts),
          needed, what, there));
    };
    const unsigned buses = exchanges() ? exchange_colors(groups_, parts) : 0;
    need(reduction.colors + 1 + buses, kColors, "colors");
    need(reduction.inputs + 1 + others, setup_.queue.in_depths().size(),
         "input queues in a core (queue.in)");
    need(reduction.outputs + ways, setup_.queue.out_depths().size(),
         "output queues in a core (queue.out)");
    if (exchanges()) plan_exchange_of_rows(parts, 1 + reduction.colors);
    return reduction;
  }

  void plan_exchange_of_rows(std::uint32_t parts, unsigned first_color) {
    std::vector<std::uint32_t> keeps(columns_, 0);
    for (const std::uint32_t keeper : kernel().final_column) ++keeps[keeper];
    ExchangePlan plan = plan_exchange(
        {columns_, groups_, parts,
         setup_.ws.row_order == RowOrder::ring ? ring_order(width_) : std::vector<std::uint32_t>{},
         first_color},
        keeps);
    plan.send_cycles = kernel().exchange.send_cycles;
    plan.take_cycles = kernel().exchange.take_cycles;
    kernel().exchange = std::move(plan);
  }

  /// The rows next to the injectors take one more if they do not divide.
  void share_elements() {
    Program& program = plan_.program;
    const std::uint32_t spread = rows_at_edge(setup_.ws, setup_.io, columns_);
    if (spread >= setup_.wafer.rows) {
      throw UnsupportedError(fmt::format(
          "ws.inject = west_edge takes {} rows to bring words to {} columns (io.dist_rows), and "
          "wafer.rows = {} leaves none for tokens",
          spread, columns_, setup_.wafer.rows.value()));
    }
    const std::uint32_t rows = setup_.wafer.rows - spread;
    kernel().tokens = deal_tokens(setup_.ws.inject, rows, operands_.elements());
    const auto active = static_cast<std::uint32_t>(kernel().tokens.size());
    plan_.rows_off = rows - active;
    program.spread_rows = active == 0 ? 0 : spread;
    kernel().tokens.insert(kernel().tokens.begin(), program.spread_rows, 0);
    program.rows = active + program.spread_rows;
    program.entry = program.spread_rows + entry_row(setup_.ws.inject, active);
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      first_element_.push_back(r == 0 ? 0 : first_element_.back() + kernel().tokens[r - 1]);
    }
  }

  void share_features() {
    const KPartition kind = setup_.ws.k_partition;
    const std::uint32_t features = operands_.features();
    const auto load =
        kind == KPartition::balanced ? operands_.feature_loads() : std::vector<std::uint64_t>{};
    owner_of_input_ = assign_features(kind, features, width_, load);
    // Nothing is known of the layer that follows, so `balanced` gives outputs in blocks.
    const KPartition outputs = kind == KPartition::balanced ? KPartition::block : kind;
    owner_of_output_ = assign_features(outputs, operands_.rows(), width_, {});
    deal_rows();
    index_.resize(features);
    inputs_.assign(columns_, 0);
    outputs_.assign(columns_, 0);
    for (std::uint32_t j = 0; j < features; ++j) index_[j] = inputs_[owner_of_input_[j]]++;
    const bool all = setup_.ws.exchange == Exchange::product;  // each group has all results
    for (std::uint32_t i = 0; i < owner_of_output_.size(); ++i) {
      ++outputs_[(all ? 0 : group_of_[i] * width_) + owner_of_output_[i]];
    }
    for (std::uint32_t c = width_; c < columns_; ++c) {
      inputs_[c] = inputs_[c - width_];
      if (all) outputs_[c] = outputs_[c - width_];
    }
    plan_.most_features = *std::max_element(inputs_.begin(), inputs_.end());
    plan_.most_outputs = *std::max_element(outputs_.begin(), outputs_.end());
    check_index(plan_.most_features);
  }

  /// The rows that a column of each group would keep are dealt to the groups in turn, those of the
  /// next column from the next group on.
  void deal_rows() {
    std::vector<std::uint32_t> next(width_);
    for (std::uint32_t c = 0; c < width_; ++c) next[c] = c % groups_;
    std::vector<std::uint32_t> rows(groups_, 0);
    group_of_.clear();
    for (const std::uint32_t owner : owner_of_output_) {
      const std::uint32_t group = next[owner]++ % groups_;
      ++rows[group];
      group_of_.push_back(group);
    }
    steps_ = *std::max_element(rows.begin(), rows.end());
    kernel().steps = steps_ * job_.batch;
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
    const bool all = setup_.ws.exchange == Exchange::product;
    const std::uint32_t inputs = ceil_u32(operands_.features(), width_);
    const std::uint32_t outputs = ceil_u32(operands_.rows(), all ? width_ : columns_);
    check_index(inputs);
    const std::uint64_t held = scattered() ? 0 : tokens() * inputs;
    const std::uint64_t bytes = core_bytes(held, tokens(), inputs, outputs);
    if (bytes > limit()) refuse_memory(0, 0, held, inputs, outputs, bytes);
  }

  std::uint64_t limit() const { return std::uint64_t{setup_.mem.kib} * 1024; }
  std::uint64_t tokens() const {
    const std::vector<std::uint32_t>& all = plan_.program.kernel.tokens;
    return all.empty() ? 0 : all[plan_.program.entry];
  }
  std::uint64_t element_bytes() const { return fp32_ ? 4 : int8_ ? 1 : 2; }
  /// Results of INT8 are the INT32 sums: what scales them is another operation.
  std::uint64_t output_bytes() const { return fp32_ || int8_ ? 4 : 2; }
  std::uint64_t sum_bytes() const { return plan_.program.kernel.psum_fp32 ? 4 : 2; }
  /// Of a core with `rows` elements of each feature, of which it holds `held` in all.
  std::uint64_t core_bytes(std::uint64_t held, std::uint64_t rows, std::uint32_t inputs,
                           std::uint32_t outputs) const {
    return held_bytes(held, inputs) + rows * outputs * output_bytes() * job_.batch +
           plan_.program.kernel.lookahead * rows * sum_bytes() + queue_bytes_ +
           std::uint64_t{setup_.mem.code_kib} * 1024 + job_.beside;
  }

  std::uint64_t held_bytes(std::uint64_t held, std::uint32_t inputs) const {
    const std::uint64_t places = scattered() ? 2 * (held + inputs + 1) : 0;
    return (held * element_bytes() + places) * job_.batch;
  }

  [[noreturn]] void refuse_memory(std::uint32_t row, std::uint32_t column, std::uint64_t held,
                                  std::uint32_t inputs, std::uint32_t outputs,
                                  std::uint64_t bytes) const {
    const std::uint64_t rows = plan_.program.kernel.tokens[row];
    const std::string what =
        job_.resident ? fmt::format("{} weights of {} x {} held{} + {} outputs x {} tokens x {} B",
                                    held, rows, inputs, scattered() ? ", each with its place," : "",
                                    rows, outputs, output_bytes())
        : int8_ ? fmt::format("{} tokens x ({} input features + {} output features x 4 B)", rows,
                              inputs, outputs)
                : fmt::format("{} tokens x ({} input + {} output features) x {} B", rows, inputs,
                              outputs, element_bytes());
    throw OutOfMemoryError(fmt::format(
        "a core of column {} needs {} bytes of {}: {}{} + {} partial-sum vectors x {} {} x {} B + "
        "queues {} B + code {} B{}",
        column, bytes, limit(), what,
        job_.batch == 1 ? "" : fmt::format(" of each of {} products", job_.batch),
        plan_.program.kernel.lookahead, rows, job_.resident ? "outputs" : "tokens", sum_bytes(),
        queue_bytes_, std::uint64_t{setup_.mem.code_kib} * 1024, beside_text(job_.beside)));
  }

  /// What each core keeps of sparse resident weights, if it keeps no zeros.
  void hold() {
    if (!scattered()) return;
    const std::size_t cores = kernel().tokens.size() * columns_;
    kernel().held.resize(cores);
    for (std::size_t core = 0; core < cores; ++core) {
      kernel().held[core].assign(std::size_t{inputs_[core % columns_]} * job_.batch, 0);
    }
    std::vector<std::uint32_t> row_of;
    for (std::uint32_t r = 0; r < kernel().tokens.size(); ++r) {
      row_of.insert(row_of.end(), kernel().tokens[r], r);
    }
    for_each_kept(operands_.held_mask(), operands_.elements(), operands_.features(),
                  [&](std::uint32_t i, std::uint32_t j) {
                    const std::uint32_t column = owner_of_input_[j];
                    auto& mine = kernel().held[std::size_t{row_of[i]} * columns_ + column];
                    for (std::uint32_t b = 0; b < job_.batch; ++b) {
                      ++mine[b * inputs_[column] + index_[j]];
                    }
                  });
  }

  std::uint64_t held_by(std::uint32_t row, std::uint32_t column) {
    if (!scattered()) return std::uint64_t{kernel().tokens[row]} * inputs_[column];
    const auto& mine = kernel().held[std::size_t{row} * columns_ + column];
    return std::accumulate(mine.begin(), mine.begin() + inputs_[column], std::uint64_t{0});
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
        const std::uint64_t bytes =
            core_bytes(held_by(r, c), kernel().tokens[r], inputs_[c], outputs_[c]);
        if (bytes <= plan_.bytes) continue;
        plan_.bytes = bytes;
        plan_.fullest_column = c;
        fullest_row = r;
      }
    }
    return fullest_row;
  }

  void check_memory() {
    plan_.limit = limit();
    const std::uint32_t fullest_row = find_fullest();
    const std::uint32_t fullest = plan_.fullest_column;
    if (plan_.bytes > plan_.limit) {
      refuse_memory(fullest_row, fullest, held_by(fullest_row, fullest), inputs_[fullest],
                    outputs_[fullest], plan_.bytes);
    }
  }

  /// Instances of a batch follow each other. A group with fewer rows than others ends with one of
  /// no weights.
  void order() {
    const std::uint32_t rows = operands_.rows();
    std::vector<std::uint32_t> row_of(std::size_t{steps_} * groups_, kNoRow);
    for (std::uint32_t g = 0; g < groups_; ++g) {
      std::vector<std::uint32_t> mine;
      std::vector<std::uint32_t> owner;
      for (std::uint32_t i = 0; i < rows; ++i) {
        if (group_of_[i] != g) continue;
        mine.push_back(i);
        owner.push_back(owner_of_output_[i]);
      }
      const std::vector<std::uint32_t> turn = order_rows(setup_.ws.row_order, owner, width_);
      for (std::size_t s = 0; s < turn.size(); ++s) row_of[s * groups_ + g] = mine[turn[s]];
      plan_.empty_rows += (steps_ - static_cast<std::uint32_t>(mine.size())) * job_.batch;
    }
    for (std::uint32_t b = 0; b < job_.batch; ++b) {
      for (std::size_t i = 0; i < row_of.size(); ++i) {
        const bool empty = row_of[i] == kNoRow;
        const auto begin = static_cast<std::uint32_t>(i % groups_ * width_);
        plan_.row_of_step.push_back(empty ? kNoRow : b * rows + row_of[i]);
        kernel().final_column.push_back(begin + (empty ? 0 : owner_of_output_[row_of[i]]));
      }
    }
  }

  void count_stream() {
    StreamingKernel& k = kernel();
    const std::uint32_t rows = operands_.rows();
    const std::uint64_t all = std::uint64_t{rows} * operands_.features();
    const std::size_t places = std::size_t{steps_} * groups_;
    k.counts.assign(places * width_, 0);
    if (filters()) {
      std::vector<std::size_t> place_of_row(rows);
      for (std::size_t i = 0; i < places; ++i) {
        if (plan_.row_of_step[i] != kNoRow) place_of_row[plan_.row_of_step[i]] = i;
      }
      for_each_kept(operands_.streamed_mask(), rows, operands_.features(),
                    [&](std::uint32_t i, std::uint32_t j) {
                      ++k.counts[place_of_row[i] * width_ + owner_of_input_[j]];
                    });
    } else {
      for (std::size_t i = 0; i < places; ++i) {
        if (plan_.row_of_step[i] == kNoRow) continue;
        std::copy_n(inputs_.begin(), width_,
                    k.counts.begin() + static_cast<std::ptrdiff_t>(i * width_));
      }
    }
    plan_.column_features = inputs_;
    plan_.column_weights.assign(columns_, 0);
    for (std::size_t i = 0; i < k.counts.size(); ++i) {
      plan_.column_weights[i % columns_] += std::uint64_t{k.counts[i]} * job_.batch;
    }
    const std::size_t once = k.counts.size();
    for (std::uint32_t b = 1; b < job_.batch; ++b) {
      for (std::size_t i = 0; i < once; ++i) k.counts.push_back(k.counts[i]);
    }
    plan_.weights =
        std::accumulate(plan_.column_weights.begin(), plan_.column_weights.end(), std::uint64_t{0});
    plan_.useful = operands_.useful_products() * job_.batch;
    if (!filters()) return;
    plan_.tested = all * job_.batch;
    plan_.left_out = plan_.tested - plan_.weights;
  }

  /// How long the sender looks for each word.
  void scan_stream() {
    if (plan_.program.column_fifo != 0) {
      throw UnsupportedError(
          "zero_filter.scan_width: the filter of io.stream = row_ordered is not modelled");
    }
    plan_.program.scan =
        scan_cycles({*operands_.streamed_mask(), plan_.row_of_step, owner_of_input_, inputs_,
                     setup_.zero_filter.scan_width, kernel().words_per_weight()});
  }

  const StreamingJob& job_;
  const StreamOperands operands_;
  const StreamingSetup& setup_;
  const std::uint64_t queue_bytes_ =
      4 * (std::uint64_t{setup_.queue.stream()} + setup_.queue.sums_in() + setup_.queue.sums_out());
  std::uint32_t columns_;
  std::uint32_t groups_;
  std::uint32_t width_;  // columns of a group
  bool fp32_;
  bool int8_;
  StreamingPlan plan_;
  std::vector<std::uint32_t> first_element_;  // of each row of cores
  std::vector<std::uint32_t> owner_of_input_;
  std::vector<std::uint32_t> owner_of_output_;
  std::vector<std::uint32_t> group_of_;  // of an output, which multiplies its row of weights
  std::uint32_t steps_ = 0;              // of a product
  std::vector<std::uint32_t> index_;     // of a feature within its column
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> outputs_;
};

}  // namespace

StreamingNeed streaming_need(const StreamingJob& job, const StreamingSetup& setup) {
  return Planner(job, setup).need();
}

Cycle least_cycles(const StreamingJob& job, const StreamingSetup& setup) {
  return Planner(job, setup).least_cycles();
}

StreamingPlan plan_streaming(const StreamingJob& job, const StreamingSetup& setup) {
  return Planner(job, setup).plan();
}

}  // namespace lacuna::wse
