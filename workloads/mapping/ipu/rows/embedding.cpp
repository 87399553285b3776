// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"
#include "workloads/mapping/ipu/shared_vector.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/trace/look_ups.hpp"

namespace lacuna::ipu {
namespace {

// Bundles of one look-up beside the copy: load of the index, distance to the first row of the tile,
// comparison, address, choice between row and zeros, loop.
constexpr std::uint64_t kLookupSetup = 6;

/// How the table is cut: each tile has a part of its columns and of its rows. The pattern of the
/// exchange cannot depend on indices. So every tile looks for all indices among its rows, and what
/// the tiles found is summed. After popops' multiSlice with a split dictionary.
struct EmbeddingPlan {
  std::uint64_t column_parts = 1;
  std::uint64_t row_parts = 1;
  std::uint64_t columns = 0;  // of a part
  std::uint64_t rows = 0;
  std::uint64_t slice = 0;  // elements of the n x columns results that a tile sums
  std::uint64_t bytes = 0;
  Cycle estimate = kNever;

  TileId tile(std::uint64_t row_part, std::uint64_t column_part) const {
    return static_cast<TileId>(row_part * column_parts + column_part);
  }
};

struct Shape {
  std::uint64_t m;
  std::uint64_t k;
  std::uint64_t n;
  unsigned size;  // bytes of an element
  bool scatter;

  unsigned width() const { return 8 / size; }
};

VectorPass look_up_pass(bool scatter) {
  VectorPass pass;
  pass.inputs = 1;
  pass.outputs = 1;
  if (scatter) pass.parameters = pass.adds = 1;
  return pass;
}

EmbeddingPlan sized(const Target& target, const Shape& s, std::uint64_t columns,
                    std::uint64_t row_parts) {
  EmbeddingPlan plan;
  plan.columns = columns;
  plan.column_parts = ceil_div(s.m, columns);
  plan.rows = ceil_div(s.k, row_parts);
  plan.row_parts = ceil_div(s.k, plan.rows);
  const std::uint64_t block = s.n * columns;
  plan.slice = round_up(ceil_div(block, plan.row_parts), s.width());
  const std::uint64_t received = s.scatter ? 0 : (plan.row_parts - 1) * plan.slice;
  plan.bytes = (plan.rows * columns + block + received + plan.slice) * s.size + s.n * 4;
  const std::uint64_t vectors = columns / s.width();
  plan.estimate =
      target.worker_clocks(kVectorEntry + ceil_div(s.n, target.workers) * (kLookupSetup + vectors));
  plan.estimate += s.n;  // the indices arrive
  if (plan.row_parts > 1) {
    plan.estimate += (plan.row_parts - 1) * plan.slice * s.size / 4;
    const DType type = s.size == 4 ? DType::fp32 : DType::fp16;
    if (!s.scatter) {
      plan.estimate += reduce_clocks(target, plan.slice, plan.row_parts, type, type);
    }
  }
  return plan;
}

EmbeddingPlan plan_table(const Target& target, const Shape& s, const LayerOp& op) {
  EmbeddingPlan best;
  std::uint64_t least = kNever;
  std::uint64_t last = 0;
  const std::uint64_t grains = ceil_div(s.m, s.width());
  for (std::uint64_t p = 1; p <= std::min<std::uint64_t>(grains, target.tiles); ++p) {
    const std::uint64_t columns = ceil_div(grains, p) * s.width();
    if (columns == last) continue;
    last = columns;
    const std::uint64_t parts = ceil_div(s.m, columns);
    for (std::uint64_t d = 1; d <= std::min<std::uint64_t>(s.k, target.tiles / parts); ++d) {
      const EmbeddingPlan plan = sized(target, s, columns, d);
      least = std::min(least, plan.bytes);
      if (plan.bytes > target.tile_bytes || plan.estimate >= best.estimate) continue;
      best = plan;
    }
  }
  if (best.estimate == kNever) {
    throw OutOfMemoryError(fmt::format(
        "embed '{}', {} rows of {} and {} look-ups: the smallest partition needs {} bytes on a "
        "tile, which has {}",
        op.id, s.k, s.m, s.n, least, target.tile_bytes));
  }
  return best;
}

/// A tile's part of the table, with values. Addresses in words.
struct TableVertex {
  DType type;
  bool scatter;
  std::uint64_t lookups;
  std::uint64_t first_row;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint32_t table;
  std::uint32_t indices;
  std::uint32_t block;

  void operator()(TileMemory& memory) const {
    const std::uint64_t per_word = 4 / bytes_of(type);
    for (std::uint64_t l = 0; l < lookups; ++l) {
      const std::uint64_t row = memory.word(indices + l);
      const bool mine = row >= first_row && row < first_row + rows;
      for (std::uint64_t c = 0; c < columns; ++c) {
        const std::uint64_t here = table * per_word + (row - first_row) * columns + c;
        const std::uint64_t there = block * per_word + l * columns + c;
        if (!scatter) {
          write_element(memory, type, there, mine ? read_element(memory, type, here) : 0);
        } else if (mine) {
          const float sum = read_element(memory, type, here) + read_element(memory, type, there);
          write_element(memory, type, here, sum);
        }
      }
    }
  }
};

class EmbeddingLowering {
 public:
  explicit EmbeddingLowering(const OperationRequest& request)
      : request_(request),
        type_(request.op.dtype),
        numbers_{request.sigma, request.op.dtype, request.given},
        shape_{request.op.m, request.op.k, std::uint64_t{request.op.n} * request.op.batch,
               bytes_of(type_), request.op.fn == "scatter_add"},
        target_(make_target(request.chip, request.planner)),
        plan_(plan_table(target_, shape_, request.op)),
        builder_(request.chip),
        codelets_(builder_, target_, type_),
        reduce_(builder_, target_, {type_, type_}, type_),
        indices_vector_(shape_.n, 4, target_.tiles),
        look_ups_(rows_of(request)) {}

  PlannedOperation run() {
    lay_out();
    if (request_.values) place();
    exchange_operands();
    look_up();
    if (!shape_.scatter) gather();
    return finish();
  }

 private:
  static std::vector<std::uint32_t> rows_of(const OperationRequest& request) {
    if (request.given == nullptr) return look_ups(request.op, request.seed);
    const std::vector<float>& rows = request.given->at(request.seed + 3);
    return {rows.begin(), rows.end()};
  }

  template <class Visit>
  void for_each_tile(Visit visit) const {
    for (std::uint64_t d = 0; d < plan_.row_parts; ++d) {
      for (std::uint64_t e = 0; e < plan_.column_parts; ++e) visit(d, e);
    }
  }
  std::uint64_t block() const { return shape_.n * plan_.columns; }
  std::uint64_t slice_begin(std::uint64_t d) const { return std::min(block(), d * plan_.slice); }
  std::uint64_t slice_size(std::uint64_t d) const { return slice_begin(d + 1) - slice_begin(d); }
  std::uint32_t words(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(ceil_div(elements * shape_.size, 4));
  }
  std::uint64_t per_word() const { return 4 / shape_.size; }
  void lay_out();
  void place();
  void exchange_operands();
  void look_up();
  void gather();
  PlannedOperation finish();

  const OperationRequest& request_;
  const DType type_;
  const RealOperands numbers_;
  const Shape shape_;
  const Target target_;
  const EmbeddingPlan plan_;
  ProgramBuilder builder_;
  VectorCodelets codelets_;
  ReduceCodelets reduce_;
  SharedVector indices_vector_;
  std::vector<std::uint32_t> look_ups_;  // the table's row of each
  std::uint32_t table_ = 0;
  std::uint32_t indices_ = 0;
  std::uint32_t block_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t end_ = 0;
};

void EmbeddingLowering::lay_out() {
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t elements) {
    const std::uint64_t begin = next;
    next += round_up(words(elements), 2);
    return static_cast<std::uint32_t>(begin);
  };
  table_ = take(plan_.rows * plan_.columns);
  block_ = take(block());
  if (!shape_.scatter) {
    received_ = take((plan_.row_parts - 1) * plan_.slice);
    output_ = take(plan_.slice);
  }
  indices_ = static_cast<std::uint32_t>(next);
  next += round_up(shape_.n, 2);
  end_ = static_cast<std::uint32_t>(next);
  // A gather reads the table and writes the block, a scatter the other way round.
  OperandBytes operands;
  operands.add(shape_.scatter ? Operand::output : Operand::input,
               std::uint64_t{block_ - table_} * 4);
  operands.add(shape_.scatter ? Operand::input : Operand::output,
               std::uint64_t{indices_ - block_} * 4);
  builder_.operands(operands.add(Operand::metadata, shape_.n * 4));
}

/// Indices are at home in chunks; the gradients of a scatter by slices, as a gather leaves them.
void EmbeddingLowering::exchange_operands() {
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    indices_vector_.need(plan_.tile(d, e), 0, shape_.n);
  });
  TransferList list;
  indices_vector_.transfers(indices_, list);
  std::vector<Place> places;
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    if (!shape_.scatter) return;
    places.clear();
    const std::uint32_t address = block_ + words(slice_begin(d));
    for (std::uint64_t other = 0; other < plan_.row_parts; ++other) {
      if (other != d) places.push_back({plan_.tile(other, e), address});
    }
    list.add({plan_.tile(d, e), address}, words(slice_size(d)), places.data(),
             places.data() + places.size());
  });
  builder_.superstep(kNone,
                     builder_.exchange(shape_.scatter ? "indices and gradients" : "indices", list));
}

void EmbeddingLowering::look_up() {
  const VectorPass pass = look_up_pass(shape_.scatter);
  const std::uint64_t share = ceil_div(shape_.n, target_.workers);
  std::vector<WorkerCode> workers(target_.workers);
  for (std::uint64_t l = 0; l < shape_.n; ++l) {
    WorkerCode& code = workers[l / share];
    const std::uint64_t entry = code.empty() ? kVectorEntry : 0;
    code.push_back({pass, entry + kLookupSetup, codelets_.vectors_of(plan_.columns)});
  }
  const std::uint32_t vertex = codelets_.vertex({workers});
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    const TableVertex function{type_,         shape_.scatter, shape_.n, d * plan_.rows, plan_.rows,
                               plan_.columns, table_,         indices_, block_};
    builder_.work(plan_.tile(d, e), vertex, request_.values ? builder_.function(function) : kNone);
  });
  if (shape_.scatter) builder_.superstep(builder_.compute_set("add rows"), kNone);
}

/// Of the row parts one has found the row, the others zeros: their sum is the row.
void EmbeddingLowering::gather() {
  TransferList list;
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    for (std::uint64_t to = 0; to < plan_.row_parts; ++to) {
      if (to == d) continue;
      const std::uint64_t place = d < to ? d : d - 1;
      list.add({plan_.tile(d, e), block_ + words(slice_begin(to))}, words(slice_size(to)),
               {Place{plan_.tile(to, e), received_ + words(place * plan_.slice)}});
    }
  });
  const std::uint32_t compute = builder_.compute_set("look up");
  builder_.superstep(compute, builder_.exchange("rows found", list));
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    if (slice_size(d) == 0) return;
    Reduction sum{type_, type_, slice_size(d), output_ * per_word(), {}};
    sum.sources.push_back(block_ * per_word() + slice_begin(d));
    for (std::uint64_t p = 0; p + 1 < plan_.row_parts; ++p) {
      sum.sources.push_back(received_ * per_word() + p * plan_.slice);
    }
    const auto depth = static_cast<std::uint32_t>(plan_.row_parts);
    const std::uint32_t vertex = depth > 1 ? reduce_.add_vertex({slice_size(d), depth})
                                           : reduce_.copy_vertex(slice_size(d) * shape_.size);
    builder_.work(plan_.tile(d, e), vertex, request_.values ? builder_.function(sum) : kNone);
  });
  builder_.superstep(builder_.compute_set("combine"), kNone);
}

void EmbeddingLowering::place() {
  for_each_tile([&](std::uint64_t d, std::uint64_t e) {
    std::vector<float> table;
    for (std::uint64_t i = 0; i < plan_.rows * plan_.columns; ++i) {
      const std::uint64_t row = d * plan_.rows + i / plan_.columns;
      const std::uint64_t column = e * plan_.columns + i % plan_.columns;
      table.push_back(static_cast<float>(numbers_(request_.seed + 1, row * shape_.m + column)));
    }
    builder_.program().images.push_back({{plan_.tile(d, e), table_}, pack_words(table, type_)});
    if (!shape_.scatter || slice_size(d) == 0) return;
    std::vector<float> gradients;
    for (std::uint64_t i = slice_begin(d); i < slice_begin(d + 1); ++i) {
      const std::uint64_t at = i / plan_.columns * shape_.m + e * plan_.columns + i % plan_.columns;
      gradients.push_back(static_cast<float>(numbers_(request_.seed + 2, at)));
    }
    builder_.program().images.push_back(
        {{plan_.tile(d, e), block_ + words(slice_begin(d))}, pack_words(gradients, type_)});
  });
  indices_vector_.for_each_home([&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint32_t> indices;
    for (std::uint64_t l = begin; l < end; ++l) {
      indices.push_back(look_ups_[l]);
    }
    builder_.program().images.push_back(
        {{tile, static_cast<std::uint32_t>(indices_ + begin)}, indices});
  });
}

/// What a look-up or a table must hold after the run.
Comparison compare_gather(const EmbeddingPlan& plan, const Shape& shape,
                          const RealOperands& numbers, std::uint64_t seed,
                          const std::vector<std::uint32_t>& look_ups, std::uint32_t output,
                          const ChipMemory& chip) {
  const DType type = numbers.type;
  Comparison comparison;
  for (std::uint64_t l = 0; l < shape.n; ++l) {
    const std::uint64_t row = look_ups[l];
    for (std::uint64_t column = 0; column < shape.m; ++column) {
      const std::uint64_t at = l * plan.columns + column % plan.columns;
      const TileId tile = plan.tile(at / plan.slice, column / plan.columns);
      const std::uint64_t base = output * std::uint64_t{4} / shape.size;
      const double found = read_element(chip(tile), type, base + at % plan.slice);
      if (numbers.given != nullptr) comparison.keep(l * shape.m + column, found);
      compare_element(comparison, found, numbers(seed + 1, row * shape.m + column), type, 0, 0);
    }
  }
  return comparison;
}

Comparison compare_scatter(const EmbeddingPlan& plan, const Shape& shape,
                           const RealOperands& numbers, std::uint64_t seed,
                           const std::vector<std::uint32_t>& look_ups, const ChipMemory& chip) {
  const DType type = numbers.type;
  std::vector<double> table(shape.k * shape.m);
  for (std::uint64_t i = 0; i < table.size(); ++i) table[i] = numbers(seed + 1, i);
  for (std::uint64_t l = 0; l < shape.n; ++l) {
    const std::uint64_t row = look_ups[l];
    for (std::uint64_t c = 0; c < shape.m; ++c) {
      table[row * shape.m + c] += numbers(seed + 2, l * shape.m + c);
    }
  }
  Comparison comparison;
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    const std::uint64_t row = i / shape.m;
    const std::uint64_t column = i % shape.m;
    const TileId tile = plan.tile(row / plan.rows, column / plan.columns);
    const std::uint64_t at = row % plan.rows * plan.columns + column % plan.columns;
    const double found = read_element(chip(tile), type, at);
    if (numbers.given != nullptr) comparison.keep(i, found);
    compare_element(comparison, found, table[i], type, 64, numbers.growth(1));
  }
  return comparison;
}

PlannedOperation EmbeddingLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = request_.values;
  program.memory_words = end_;
  planned.types = {type_, type_};
  planned.lowered.tile_bytes = plan_.bytes;
  planned.lowered.output = type_;
  planned.notes.emplace_back("plan", fmt::format("table in {} parts of rows x {} of columns",
                                                 plan_.row_parts, plan_.column_parts));
  planned.estimates = {{"total", plan_.estimate}};
  if (request_.values) {
    planned.compare = [plan = plan_, shape = shape_, numbers = numbers_, seed = request_.seed,
                       rows = look_ups_, output = output_](const ChipMemory& chip) {
      return shape.scatter ? compare_scatter(plan, shape, numbers, seed, rows, chip)
                           : compare_gather(plan, shape, numbers, seed, rows, output, chip);
    };
  }
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_embedding(const OperationRequest& request) {
  check_vector_type(request.op);
  return EmbeddingLowering(request).run();
}

}  // namespace lacuna::ipu
