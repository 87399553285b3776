// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/reduce/column_reduce.hpp"
#include "workloads/mapping/ipu/rows/row_compare.hpp"
#include "workloads/mapping/ipu/rows/row_plan.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"
#include "workloads/mapping/ipu/shared_vector.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// The lengths of the rows: of all, or of each row of the mask.
std::vector<std::uint64_t> row_lengths(const OperationRequest& request, const RowFunction& f) {
  if (f.columns) return {request.op.m};
  if (request.mask == nullptr) return {request.op.n};
  const Mask mask = request.mask->elements();
  std::vector<std::uint64_t> lengths;
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    lengths.push_back(mask.offsets[r + 1] - mask.offsets[r]);
  }
  return lengths;
}

class RowLowering {
 public:
  RowLowering(const OperationRequest& request, const RowFunction& function)
      : request_(request),
        function_(function),
        op_(request.op),
        type_(request.op.dtype),
        target_(make_target(request.chip, request.planner)),
        rows_(std::uint64_t{function.columns ? op_.n : op_.m} * op_.batch),
        builder_(request.chip),
        codelets_(builder_, target_, type_),
        sums_(builder_, target_, {type_, DType::fp32}, DType::fp32),
        results_(builder_, target_, {type_, DType::fp32}, type_),
        plan_(plan_row_parts(target_, function, rows_, row_lengths(request, function),
                             codelets_.width(), request.chip.sync.cycles)),
        stride_(function.columns ? op_.m : op_.n) {}

  PlannedOperation run() {
    lay_out();
    exchange_vectors();
    passes();
    if (function_.sums > 0) sum_columns();
    if (request_.values) place_operands();
    return finish();
  }

 private:
  TileId tile(std::uint64_t group, std::uint64_t part) const {
    return static_cast<TileId>(group * plan_.parts + part);
  }
  std::uint64_t rows_of(std::uint64_t group) const {
    return plan_.first[group + 1] - plan_.first[group];
  }
  /// Elements of `row` on the tiles of `part`.
  std::uint64_t count(std::uint64_t row, std::uint64_t part) const {
    const std::uint64_t begin = std::min(plan_.length(row), part * plan_.part_length);
    return std::min(plan_.part_length, plan_.length(row) - begin);
  }
  /// What a row takes in a region.
  std::uint64_t room(std::uint64_t row) const {
    return plan_.lengths.size() == 1 ? plan_.part_length
                                     : round_up(plan_.length(row), codelets_.width());
  }
  template <class Visit>
  void for_each_tile(Visit visit) const {
    for (std::uint64_t g = 0; g < plan_.groups(); ++g) {
      for (std::uint64_t p = 0; p < plan_.parts; ++p) visit(g, p);
    }
  }

  void lay_out();
  void exchange_vectors();
  void passes();
  void add_pass(std::uint64_t group, std::uint64_t part, std::size_t first, std::size_t last);
  std::vector<WorkerCode> combining(std::uint64_t rows, unsigned stats) const;
  void share_stats(std::size_t stage);
  void sum_columns();
  std::uint32_t column_vertex(std::uint64_t rows, std::uint64_t elements);
  void place_operands();
  RowPart part_of(std::uint64_t group, std::uint64_t part) const;
  PlannedOperation finish();

  const OperationRequest& request_;
  const RowFunction& function_;
  const LayerOp& op_;
  const DType type_;
  const Target target_;
  const std::uint64_t rows_;
  ProgramBuilder builder_;
  VectorCodelets codelets_;
  ReduceCodelets sums_;
  ReduceCodelets results_;
  const RowPlan plan_;
  const std::uint64_t stride_;  // of rows in the operands
  RowPart layout_;              // addresses alone
  std::uint32_t end_ = 0;
  std::vector<ColumnReduce> column_sums_;  // by part
};

void RowLowering::lay_out() {
  std::uint64_t elements = 0;
  for (std::uint64_t g = 0; g < plan_.groups(); ++g) {
    std::uint64_t sum = 0;
    for (std::uint64_t r = plan_.first[g]; r < plan_.first[g + 1]; ++r) sum += room(r);
    elements = std::max(elements, sum);
    layout_.most_rows = std::max(layout_.most_rows, rows_of(g));
  }
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t begin = next;
    next += ceil_div(bytes, 8) * 2;
    return static_cast<std::uint32_t>(begin);
  };
  const unsigned size = bytes_of(type_);
  layout_.function = &function_;
  layout_.type = type_;
  layout_.parts = plan_.parts;
  for (unsigned t = 0; t < function_.tensors; ++t) layout_.operands[t] = take(elements * size);
  if (function_.output()) layout_.output = take(elements * size);
  for (unsigned v = 0; v < function_.vectors; ++v) layout_.vectors[v] = take(stride_ * size);
  if (function_.saved) layout_.saved = take(layout_.most_rows * kRowStats * 4);
  for (const RowStage& stage : function_.stages) {
    layout_.stats.push_back(take(plan_.parts * layout_.most_rows * stage.stats * 4));
  }
  builder_.operands(OperandBytes()
                        .add(Operand::input, elements * size * function_.tensors)
                        .add(Operand::weight, stride_ * size * function_.vectors)
                        .add(Operand::output, function_.output() ? elements * size : 0));
  layout_.column_stride = plan_.part_length;
  layout_.columns = take(function_.sums * plan_.part_length * 4);
  for (std::uint64_t p = 0; function_.sums > 0 && p < plan_.parts; ++p) {
    std::vector<TileId> tiles;
    for (std::uint64_t g = 0; g < plan_.groups(); ++g) tiles.push_back(tile(g, p));
    column_sums_.emplace_back(tiles, function_.sums * plan_.part_length, layout_.columns,
                              static_cast<std::uint32_t>(next));
  }
  if (!column_sums_.empty()) next += column_sums_.front().scratch_words();
  check_tile_bytes(request_.chip, op_, next * 4);
  end_ = static_cast<std::uint32_t>(next);
}

void RowLowering::exchange_vectors() {
  TransferList list;
  for (unsigned v = 0; v < function_.vectors; ++v) {
    SharedVector vector(stride_, bytes_of(type_), target_.tiles);
    for_each_tile([&](std::uint64_t g, std::uint64_t p) {
      const std::uint64_t begin = p * plan_.part_length;
      vector.need(tile(g, p), begin, begin + count(plan_.first[g], p));
    });
    vector.transfers(layout_.vectors[v], list);
    if (!request_.values) continue;
    vector.for_each_home([&](unsigned home, std::uint64_t begin, std::uint64_t end) {
      const SeededRows rows(request_.seed, stride_, {request_.sigma, type_, request_.given});
      std::vector<float> values;
      for (std::uint64_t i = begin; i < end; ++i) {
        values.push_back(static_cast<float>(rows.vector(v, i)));
      }
      const auto address =
          static_cast<std::uint32_t>(layout_.vectors[v] + begin * bytes_of(type_) / 4);
      builder_.program().images.push_back({{home, address}, pack_words(values, type_)});
    });
  }
  builder_.superstep(kNone, builder_.exchange("vectors of all rows", list));
}

/// Whole rows take all passes in one vertex; parts meet after each pass that finds something.
void RowLowering::passes() {
  const std::size_t stages = function_.stages.size();
  if (stages == 0) return;
  if (plan_.parts == 1) {
    for_each_tile([&](std::uint64_t g, std::uint64_t p) { add_pass(g, p, 0, stages); });
    builder_.superstep(builder_.compute_set("rows"), kNone);
    return;
  }
  for (std::size_t s = 0; s < stages; ++s) {
    for_each_tile([&](std::uint64_t g, std::uint64_t p) { add_pass(g, p, s, s + 1); });
    share_stats(s);
  }
}

void RowLowering::add_pass(std::uint64_t group, std::uint64_t part, std::size_t first,
                           std::size_t last) {
  std::vector<std::uint64_t> vectors;
  for (std::uint64_t r = plan_.first[group]; r < plan_.first[group + 1]; ++r) {
    vectors.push_back(codelets_.vectors_of(count(r, part)));
  }
  RowWork work = row_work(target_, row_passes(function_).stages, first, last, vectors);
  if (first > 0 && function_.stages[first - 1].stats > 0) {
    work.launches.insert(work.launches.begin(),
                         combining(vectors.size(), function_.stages[first - 1].stats));
  }
  std::uint32_t function = kNone;
  if (request_.values) {
    function = builder_.function([p = part_of(group, part), first, last](TileMemory& memory) {
      p.run_stages(memory, first, last);
    });
  }
  builder_.work(tile(group, part), codelets_.vertex(work.launches, kRowRendezvous), function);
}

/// Combines what the parts of each row found: FP32 numbers, two at a time.
std::vector<WorkerCode> RowLowering::combining(std::uint64_t rows, unsigned stats) const {
  VectorPass pass;
  pass.inputs = pass.adds = 1;
  constexpr std::uint64_t kSetup = 4;
  std::vector<WorkerCode> workers(target_.workers);
  for (std::uint64_t r = 0; r < rows; ++r) {
    WorkerCode& code = workers[r % target_.workers];
    const std::uint64_t entry = code.empty() ? kVectorEntry : 0;
    code.push_back({pass, entry + kSetup, ceil_div(plan_.parts * stats, 2)});
  }
  return workers;
}

void RowLowering::share_stats(std::size_t stage) {
  const std::uint32_t compute = builder_.compute_set(fmt::format("rows, pass {}", stage + 1));
  const unsigned stats = function_.stages[stage].stats;
  TransferList list;
  std::vector<Place> places;
  for_each_tile([&](std::uint64_t g, std::uint64_t p) {
    const auto address =
        static_cast<std::uint32_t>(layout_.stats[stage] + p * layout_.most_rows * stats);
    places.clear();
    for (std::uint64_t q = 0; q < plan_.parts; ++q) {
      if (q != p) places.push_back({tile(g, q), address});
    }
    list.add({tile(g, p), address}, static_cast<std::uint32_t>(rows_of(g) * stats), places.data(),
             places.data() + places.size());
  });
  builder_.superstep(compute, builder_.exchange("statistics of rows", list));
}

/// Workers share the columns; each adds up its columns over all rows of the tile.
std::uint32_t RowLowering::column_vertex(std::uint64_t rows, std::uint64_t elements) {
  const std::uint64_t vectors = codelets_.vectors_of(elements);
  const std::uint64_t share = ceil_div(vectors, target_.workers);
  std::vector<WorkerCode> workers(target_.workers);
  for (std::uint64_t v = 0; v < vectors; ++v) {
    WorkerCode& code = workers[v / share];
    const std::uint64_t entry = code.empty() ? kVectorEntry : 0;
    code.push_back({row_passes(function_).columns, entry + kColumnSetup, rows});
  }
  return codelets_.vertex({workers});
}

void RowLowering::sum_columns() {
  for_each_tile([&](std::uint64_t g, std::uint64_t p) {
    const std::uint64_t elements = count(plan_.first[g], p);
    if (elements == 0) return;
    std::uint32_t function = kNone;
    if (request_.values) {
      function = builder_.function(
          [part = part_of(g, p)](TileMemory& memory) { part.sum_columns(memory); });
    }
    builder_.work(tile(g, p), column_vertex(rows_of(g), elements), function);
  });
  TransferList slices;
  for (const ColumnReduce& sum : column_sums_) sum.gather_slices(slices);
  std::uint32_t compute = builder_.compute_set("sums of columns");
  builder_.superstep(compute, builder_.exchange("partial sums", slices));
  TransferList parts;
  for (const ColumnReduce& sum : column_sums_) {
    sum.sum_slices(builder_, sums_, request_.values);
    sum.gather_parts(parts);
  }
  compute = builder_.compute_set("reduce within clusters");
  builder_.superstep(compute, builder_.exchange("sums of clusters", parts));
  for (const ColumnReduce& sum : column_sums_) {
    sum.sum_parts(builder_, results_, type_, request_.values);
  }
  builder_.superstep(builder_.compute_set("reduce"), kNone);
}

RowPart RowLowering::part_of(std::uint64_t group, std::uint64_t part) const {
  RowPart result = layout_;
  result.first_row = plan_.first[group];
  result.rows = rows_of(group);
  result.part = part;
  result.begin = part * plan_.part_length;
  std::uint64_t offset = 0;
  for (std::uint64_t r = plan_.first[group]; r < plan_.first[group + 1]; ++r) {
    result.counts.push_back(count(r, part));
    result.lengths.push_back(plan_.length(r));
    result.offsets.push_back(offset);
    offset += room(r);
  }
  return result;
}

void RowLowering::place_operands() {
  const SeededRows seeded(request_.seed, stride_, {request_.sigma, type_, request_.given});
  for_each_tile([&](std::uint64_t g, std::uint64_t p) {
    const RowPart part = part_of(g, p);
    for (unsigned t = 0; t < function_.tensors; ++t) {
      std::vector<float> values;
      for (std::uint64_t r = 0; r < part.rows; ++r) {
        values.resize(part.offsets[r], 0);
        for (std::uint64_t i = 0; i < part.counts[r]; ++i) {
          const double value = seeded.operand(t, part.first_row + r, part.begin + i);
          values.push_back(static_cast<float>(value));
        }
      }
      if (values.empty()) continue;
      builder_.program().images.push_back(
          {{tile(g, p), layout_.operands[t]}, pack_words(values, type_)});
    }
    if (!function_.saved) return;
    std::vector<float> saved;
    for (std::uint64_t r = 0; r < part.rows; ++r) {
      for (unsigned s = 0; s < kRowStats; ++s) {
        saved.push_back(static_cast<float>(seeded.saved(part.first_row + r, s)));
      }
    }
    builder_.program().images.push_back(
        {{tile(g, p), layout_.saved}, pack_words(saved, DType::fp32)});
  });
}

PlannedOperation RowLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = request_.values;
  program.memory_words = end_;
  planned.types = {type_, type_};
  planned.lowered.tile_bytes = std::uint64_t{end_} * 4;
  planned.lowered.output = type_;
  planned.notes.emplace_back("plan", fmt::format("{} rows in {} parts, {} groups of tiles", rows_,
                                                 plan_.parts, plan_.groups()));
  if (plan_.estimate > 0) planned.estimates = {{"total", plan_.estimate}};
  if (request_.values) {
    RowResult result{{},      column_sums_,  rows_,          plan_.part_length,
                     stride_, request_.seed, request_.sigma, request_.given};
    for_each_tile([&](std::uint64_t g, std::uint64_t p) { result.parts.push_back(part_of(g, p)); });
    planned.compare = [result](const ChipMemory& chip) { return compare_rows(result, chip); };
  }
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_rows(const OperationRequest& request) {
  check_vector_type(request.op);
  const RowFunction* function = find_row_function(request.op);
  if (function == nullptr) {
    throw UnsupportedError(fmt::format("an IPU does not run {} {} in phase {}", request.op.op,
                                       request.op.fn, word(request.op.phase)));
  }
  return RowLowering(request, *function).run();
}

}  // namespace lacuna::ipu
