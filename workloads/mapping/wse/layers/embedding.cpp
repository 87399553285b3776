// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/functions/operands.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"
#include "workloads/trace/look_ups.hpp"

namespace lacuna::wse {
namespace {

constexpr Color kUp{0};  // of a scatter: gradients to the first core of a column, and to all
constexpr Color kDown{1};
constexpr std::uint32_t kBank = 65536;     // rows that the index of a wavelet tells apart
constexpr std::uint32_t kMostBanks = 8;    // a color and a queue for each
constexpr std::uint32_t kOffsets = 65536;  // elements of a block, likewise

/// Look-ups in a table, or gradients that are added to its rows. A column of cores owns features,
/// as of activations; the table's rows are dealt to all its cores. Columns exchange nothing.
///
/// A wavelet for each look-up goes down the column; its upper half is the row's number, its lower
/// half the token's place. The range filter of each core keeps those of its own rows. Each of these
/// triggers a task that copies the row into a block of all tokens, or adds the token's gradient to
/// the row. Blocks, zero but for the rows found, are added up along the column and come back, the
/// counter filter of each core keeping its own tokens.
class Embedding {
 public:
  explicit Embedding(const LayerRequest& request)
      : request_(request),
        op_(request.op),
        type_(request.op.dtype),
        size_(bytes_of(request.op.dtype)),
        element_(type_ == DType::fp32 ? Element::fp32 : Element::fp16),
        tokens_(request.op.n * std::max(request.op.batch, 1U)),
        tensor_(request.setup.wafer, request.op.m, tokens_, 1),
        share_(static_cast<std::uint32_t>(ceil_div(op_.k, request.setup.wafer.rows.value()))),
        height_(static_cast<std::uint32_t>(ceil_div(op_.k, share_))),
        banks_(static_cast<std::uint32_t>(ceil_div(op_.k, kBank))),
        look_ups_(look_ups(request.op, request.seed)) {
    height_ = std::max(height_, layout().rows());
  }

  LayerPlan plan() {
    if (banks_ > kMostBanks) {
      throw UnsupportedError(fmt::format("embed '{}' of {} rows: a wafer tells up to {} apart",
                                         op_.id, op_.k, kMostBanks * kBank));
    }
    LayerPlan plan;
    place_operands(plan);
    if (scatters()) add_stage(plan, "gradients to all", &Embedding::collect_part);
    add_stage(plan, scatters() ? "add rows" : "look up", &Embedding::look_up_part);
    if (!scatters()) add_stage(plan, "rows to tokens", &Embedding::return_part);
    plan.notes.emplace_back("table", fmt::format("{} rows of {} features in a core, at most",
                                                 share_, layout().most_features()));
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  bool scatters() const { return op_.fn == "scatter_add"; }
  const LayerLayout& layout() const { return tensor_.layout(); }
  std::uint32_t token_rows() const { return layout().rows(); }

  std::uint32_t index_of(std::uint32_t lookup) const { return look_ups_[lookup]; }

  /// The rows of the table that core `r` of a column has: [first_row(r), first_row(r + 1)).
  std::uint32_t first_row(std::uint32_t r) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(op_.k, std::uint64_t{r} * share_));
  }
  /// Those of a bank.
  struct Rows {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  Rows rows_of(std::uint32_t r, std::uint32_t bank) const {
    const auto clamped = [&](std::uint32_t row) {
      return std::clamp<std::uint64_t>(row, std::uint64_t{bank} * kBank,
                                       (std::uint64_t{bank} + 1) * kBank);
    };
    return {static_cast<std::uint32_t>(clamped(first_row(r))),
            static_cast<std::uint32_t>(clamped(first_row(r + 1)))};
  }

  /// Elements of a block that the tokens of rows before `r` take: whole words for each row.
  std::uint32_t block_begin(std::uint32_t r, std::uint32_t features) const {
    std::uint32_t begin = 0;
    for (std::uint32_t row = 0; row < r; ++row) begin += segment(row, features);
    return begin;
  }
  std::uint32_t segment(std::uint32_t r, std::uint32_t features) const {
    return words_of(size_, own(r, features)) * (4 / size_);
  }
  std::uint32_t own(std::uint32_t r, std::uint32_t features) const {
    return r < token_rows() ? layout().tokens(r) * features : 0;
  }

  /// Whether tokens of halves do not end with words, where a beat ends with a token: they cross the
  /// fabric side by side, from and to the block.
  bool packs(std::uint32_t features) const {
    return size_ == 2 && features % 2 != 0 && request_.setup.hardware.simd.by_rows;
  }
  Operand own_block(std::uint32_t r, std::uint32_t features) const {
    return in_memory(block_at_ + block_begin(r, features) * size_);
  }

  /// A core's own tokens, feature after feature in memory, in the order of a block.
  Operand by_token(std::uint32_t r, std::uint32_t features) const {
    Operand operand = in_memory(tokens_at_, static_cast<std::int32_t>(layout().tokens(r)));
    operand.inner = features;
    operand.outer = 1;
    return operand;
  }

  using MakePart = TaskProgram (Embedding::*)(std::uint32_t features) const;
  void add_stage(LayerPlan& plan, const char* name, MakePart make) const;
  void place_operands(LayerPlan& plan);
  void route_gradients(std::uint32_t r, TaskBuilder& builder) const;
  TaskProgram collect_part(std::uint32_t features) const;
  TaskProgram look_up_part(std::uint32_t features) const;
  TaskProgram return_part(std::uint32_t features) const;
  void take_tokens(const LineSums& line, std::uint32_t r, std::uint32_t features,
                   CoreCode& code) const;
  void send_indices(std::uint32_t features, Script& script) const;
  CoreProgram look_up_core(std::uint32_t r, std::uint32_t features) const;
  void route_indices(std::uint32_t r, RouterProgram& router) const;
  std::vector<std::vector<std::uint32_t>> index_words(std::uint32_t features) const;
  void store_indices(std::vector<std::uint8_t>& memory, std::uint32_t features) const;
  void fill(LayerPlan& plan) const;
  LayerComparison compare(const WaferMemory& memory) const;
  template <class Visit>
  void for_each_entry(const Visit& visit) const;

  const LayerRequest& request_;
  const LayerOp op_;  // outlives the request, in compare()
  DType type_;
  unsigned size_;
  Element element_;
  std::uint32_t tokens_;
  LayerTensor tensor_;
  std::uint32_t share_;   // rows of the table in a core
  std::uint32_t height_;  // cores of a column
  std::uint32_t banks_;
  std::vector<std::uint32_t> look_ups_;  // the table's row of each
  std::uint32_t table_at_ = 0;           // addresses, the same in every core
  std::uint32_t block_at_ = 0;
  std::uint32_t tokens_at_ = 0;
  std::uint32_t indices_at_ = 0;  // of the first core of a column
};

/// Columns of as many features do the same.
void Embedding::add_stage(LayerPlan& plan, const char* name, MakePart make) const {
  StageParts<std::uint32_t> stage(name);
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    const std::uint32_t features = layout().features(c);
    stage.add(features, 0, c, [&] { return (this->*make)(features); });
  }
  plan.stages.push_back(stage.take());
}

void Embedding::place_operands(LayerPlan& plan) {
  const std::uint32_t features = layout().most_features();
  const std::uint64_t most = std::uint64_t{tokens_} * features + token_rows();
  if (most > kOffsets) {
    throw OutOfMemoryError(fmt::format(
        "embed '{}': {} look-ups of {} features in a column, more than the {} elements of a block",
        op_.id, tokens_, features, kOffsets));
  }
  CoreSpace space;
  table_at_ = space.take(std::uint64_t{share_} * features, size_, Half8::upper);
  block_at_ = space.take(block_begin(token_rows(), features), size_);
  tokens_at_ = space.take(own(0, features), size_, Half8::upper);
  indices_at_ = space.take(tokens_, 4);
  check_core_bytes(request_, space.bytes(), plan);
}

void Embedding::route_gradients(std::uint32_t r, TaskBuilder& builder) const {
  const auto to_south = static_cast<PortSet>(r + 1 < height_ ? bit(kSouth) : 0);
  builder.route(r, kDown, r == 0 ? kRamp : kNorth, static_cast<PortSet>(to_south | bit(kRamp)));
  const bool more = r + 1 < token_rows();
  if (r == 0 && more) builder.route(r, kUp, kSouth, bit(kRamp));
  if (r == 0 || r >= token_rows()) return;
  builder.route(r, kUp, kRamp, bit(kNorth), 0);
  if (more) builder.route(r, kUp, kSouth, bit(kNorth), 1);
}

/// Each row's tokens go to the first core, the nearest first, and from there to all.
TaskProgram Embedding::collect_part(std::uint32_t features) const {
  TaskBuilder builder(1, height_);
  const std::uint32_t all = block_begin(token_rows(), features);
  for (std::uint32_t r = 0; r < height_; ++r) {
    Script script;
    route_gradients(r, builder);
    script.program().in.push_back({kDown, 0});
    const auto then = [&](const Instruction& what) {
      script.then(work(request_.setup.costs.next(2)));
      script.then(what);
    };
    script.beside(move(element_, in_memory(block_at_), on_fabric(kDown), all), 1);
    const bool more = r + 1 < token_rows();
    const Color out = r == 0 ? kDown : kUp;
    if (r < token_rows()) {
      script.program().out.push_back({out, 2});
      Instruction send = move(element_, on_fabric(out), by_token(r, features), own(r, features));
      if (packs(features)) {
        then(move(element_, own_block(r, features), send.a, send.length));
        send.a = own_block(r, features);
      }
      if (r != 0) send.switches = first_command(SwitchCommand::advance) | kOwnRouterOnly;
      then(send);
    }
    if (r == 0 && more) {
      script.program().in.push_back({kUp, 1});
      then(move(element_, on_fabric(out), on_fabric(kUp), all - segment(0, features)));
    }
    builder.core(r, std::move(script).finish());
  }
  return std::move(builder).finish();
}

void Embedding::route_indices(std::uint32_t r, RouterProgram& router) const {
  for (std::uint32_t bank = 0; bank < banks_; ++bank) {
    const auto color = static_cast<Color>(bank);
    const Rows rows = rows_of(r, bank);
    const bool more = r + 1 < height_ && rows_of(height_, bank).first != rows_of(r + 1, bank).first;
    PortSet to = more ? bit(kSouth) : PortSet{0};
    if (rows.first != rows.end) {
      to = static_cast<PortSet>(to | bit(kRamp));
      router.filters.push_back(
          {color, WaveletFilter::range(rows.first % kBank, (rows.end - 1) % kBank)});
    }
    if (to != 0) router.routes.push_back({color, r == 0 ? kRamp : kNorth, to, 0});
  }
}

/// In a microthread, so that the first core can take its own.
void Embedding::send_indices(std::uint32_t features, Script& script) const {
  const auto words = index_words(features);
  std::uint32_t at = indices_at_;
  for (std::uint32_t bank = 0; bank < banks_; ++bank) {
    // two numbers in a word
    const Instruction send = move(Element::int16, on_fabric(static_cast<Color>(bank)),
                                  in_memory(at), 2 * words[bank].size());
    at += send.length * 2;
    if (send.length == 0) continue;
    script.program().out.push_back({static_cast<Color>(bank), 2});
    script.beside(send, 1);
  }
}

CoreProgram Embedding::look_up_core(std::uint32_t r, std::uint32_t features) const {
  const ScalarParams& scalar = request_.setup.costs.scalar;
  Script script;
  if (r == 0) send_indices(features, script);
  if (!scatters()) {
    script.then(work(request_.setup.costs.next(2)));
    script.then(
        move(element_, in_memory(block_at_), number(0), block_begin(token_rows(), features)));
  }
  CoreProgram core = std::move(script).finish();
  const std::uint32_t row_bytes = features * size_;
  for (std::uint32_t bank = 0; bank < banks_; ++bank) {
    const Rows rows = rows_of(r, bank);
    if (rows.first == rows.end) continue;
    core.in.push_back({static_cast<Color>(bank), static_cast<std::uint8_t>(bank)});
    const std::int64_t base = std::int64_t{table_at_} -
                              (std::int64_t{first_row(r)} - std::int64_t{bank} * kBank) * row_bytes;
    const Operand row = at_index(static_cast<std::uint32_t>(base), row_bytes);
    const Operand token = at_offset(block_at_, size_);
    const Instruction copy = scatters()
                                 ? instruction(VectorOp::add, element_, row, token, row, features)
                                 : move(element_, token, row, features);
    Task task;
    task.kind = Task::Kind::data;
    task.color = static_cast<Color>(bank);
    task.steps = {work(scalar.imul + 2 * scalar.dsr_write + request_.setup.costs.next(0)),
                  run(copy)};
    core.tasks.push_back(std::move(task));
  }
  return core;
}

/// What is found depends on what the wavelets hold, so these cores have a memory in any case.
TaskProgram Embedding::look_up_part(std::uint32_t features) const {
  TaskProgram part;
  part.columns = 1;
  part.rows = height_;
  const std::uint32_t bytes = indices_at_ + (tokens_ + 1) * 4;
  for (std::uint32_t r = 0; r < height_; ++r) {
    part.router_of.push_back(r);
    part.core_of.push_back(r);
    part.routers.emplace_back();
    route_indices(r, part.routers.back());
    part.cores.push_back(look_up_core(r, features));
    part.memory.emplace_back(bytes, std::uint8_t{0});
  }
  store_indices(part.memory[0], features);
  return part;
}

/// The tokens of core `r` out of the block of `all` elements, which the root has and sends round.
void Embedding::take_tokens(const LineSums& line, std::uint32_t r, std::uint32_t features,
                            CoreCode& code) const {
  const std::uint32_t length = own(r, features);
  const Operand tokens = by_token(r, features);
  const Operand block = own_block(r, features);
  const bool takes = r < token_rows() && r != line.root();
  const bool packed = packs(features) || !takes;
  if (r == line.root() && (r != 0 || token_rows() > 1)) {
    line.broadcast(code, r, element_, in_memory(block_at_), block_begin(token_rows(), features));
  }
  if (takes) line.broadcast(code, r, element_, packed ? block : tokens, length);
  if (packed) code.move(element_, tokens, block, length);
}

/// Blocks are added up along the column and go back as far as cores have tokens; filters keep those
/// of each core.
TaskProgram Embedding::return_part(std::uint32_t features) const {
  const LineSums line = line_of(request_.setup, height_);
  const std::uint32_t all = block_begin(token_rows(), features);
  const std::uint32_t per_word = 4 / size_;
  SummedVector sums{block_at_, all, element_};
  sums.to_all = false;
  TaskProgram part = plan_line(
      line, Direction::rows, request_.setup.costs, request_.setup.functions,
      [&](CoreCode& code, std::uint32_t r) {
        line.write(code, r, sums);
        take_tokens(line, r, features, code);
      },
      token_rows());
  for (std::uint32_t r = 0; r < token_rows(); ++r) {
    if (r == line.root()) continue;
    RouterProgram router = part.routers[part.router_of[r]];
    router.filters.push_back(
        {line.result(), WaveletFilter::counter(segment(r, features) / per_word, all / per_word,
                                               block_begin(r, features) / per_word)});
    part.router_of[r] = static_cast<std::uint32_t>(part.routers.size());
    part.routers.push_back(std::move(router));
  }
  return part;
}

/// By bank: the number of the row in the upper half, the place in the block in the lower.
std::vector<std::vector<std::uint32_t>> Embedding::index_words(std::uint32_t features) const {
  std::vector<std::vector<std::uint32_t>> words(banks_);
  std::uint32_t begin = 0;
  std::uint32_t token = 0;
  for (std::uint32_t r = 0; r < token_rows(); ++r) {
    for (std::uint32_t i = 0; i < layout().tokens(r); ++i, ++token) {
      const std::uint32_t row = index_of(token);
      words[row / kBank].push_back((row % kBank) << 16U | (begin + i * features));
    }
    begin += segment(r, features);
  }
  return words;
}

void Embedding::store_indices(std::vector<std::uint8_t>& memory, std::uint32_t features) const {
  std::uint32_t at = indices_at_;
  for (const std::vector<std::uint32_t>& bank : index_words(features)) {
    for (const std::uint32_t word : bank) {
      for (unsigned half = 0; half < 2; ++half, at += 2) {
        const auto bits = static_cast<std::int16_t>(word >> (16U * half));
        store_element(memory, at, false, true, static_cast<float>(bits));
      }
    }
  }
}

/// visit(row, feature, core, index): entries of the table and where they lie.
template <class Visit>
void Embedding::for_each_entry(const Visit& visit) const {
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    const std::uint32_t features = layout().features(c);
    for (std::uint32_t row = 0; row < op_.k; ++row) {
      const std::size_t core = std::size_t{row / share_} * request_.setup.wafer.columns + c;
      for (std::uint32_t f = 0; f < features; ++f) {
        visit(row, layout().first_feature(c) + f, core, row % share_ * features + f);
      }
    }
  }
}

void Embedding::fill(LayerPlan& plan) const {
  plan.memory = tensor_.empty_memory(plan.bytes);
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    store_indices(plan.memory[c], layout().features(c));
  }
  for_each_entry([&](std::uint32_t row, std::uint32_t feature, std::size_t core, std::uint32_t at) {
    store(plan.memory[core], table_at_, at, type_,
          real_operand(request_.seed + 1, std::uint64_t{row} * op_.m + feature));
  });
  if (scatters()) {
    tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
      store(plan.memory[at.core], tokens_at_, at.index, type_,
            real_operand(request_.seed + 2, e % tokens_ * op_.m + e / tokens_));
    });
  }
  plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Embedding::compare(const WaferMemory& memory) const {
  constexpr double kRoundings = 64;  // of sums of many gradients
  LayerComparison comparison;
  std::vector<double> table(std::size_t{op_.k} * op_.m);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = real_operand(request_.seed + 1, i);
  if (!scatters()) {
    tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
      const std::size_t row = index_of(static_cast<std::uint32_t>(e % tokens_));
      compare_element(comparison, load(memory[at.core], tokens_at_, at.index, type_),
                      table[row * op_.m + e / tokens_], type_, 0, 0);
    });
    return comparison;
  }
  for (std::uint32_t token = 0; token < tokens_; ++token) {
    for (std::uint32_t i = 0; i < op_.m; ++i) {
      table[std::size_t{index_of(token)} * op_.m + i] +=
          real_operand(request_.seed + 2, std::uint64_t{token} * op_.m + i);
    }
  }
  for_each_entry([&](std::uint32_t row, std::uint32_t feature, std::size_t core, std::uint32_t at) {
    compare_element(comparison, load(memory[core], table_at_, at, type_),
                    table[std::size_t{row} * op_.m + feature], type_, kRoundings, 1);
  });
  return comparison;
}

}  // namespace

LayerPlan plan_layer_embedding(const LayerRequest& request) {
  check_layer_type(request.op);
  return Embedding(request).plan();
}

}  // namespace lacuna::wse
