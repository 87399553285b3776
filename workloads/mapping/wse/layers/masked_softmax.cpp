// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/row_values.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/line.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;

/// The kept entries of one core: of each of its tokens, those of its features, side by side.
struct Kept {
  std::vector<std::uint32_t> counts;  // by token
  std::uint64_t total = 0;

  void add(std::uint32_t count) {
    counts.push_back(count);
    total += count;
  }
};

/// Softmax over the kept entries of each row. Every core holds what is kept of its block, so each
/// token has instructions of its own; the maxima and sums of a row of cores are as in a dense one.
class MaskedSoftmax {
 public:
  explicit MaskedSoftmax(const LayerRequest& request)
      : request_(request),
        op_(request.op),
        backward_(op_.phase == Phase::bwd),
        type_(op_.dtype),
        element_(type_ == DType::fp32 ? Element::fp32 : Element::fp16),
        to_sum_(type_ == DType::fp32 ? Element::fp32 : Element::fp16_32),
        mask_(request.mask->elements()),
        layout_(request.setup.wafer, op_.n, op_.m, op_.batch),
        line_(layout_.columns(), CoreLine::Direction::columns, request.setup.hardware.router) {}

  LayerPlan plan() {
    LayerPlan plan;
    find_kept();
    place_operands(plan);
    plan.stages.push_back(rows());
    plan.notes.emplace_back("row of cores",
                            fmt::format("{} columns in groups of {}, {} of {} entries kept",
                                        line_.cores(), line_.group(), mask_.nnz() * op_.batch,
                                        std::uint64_t{op_.m} * op_.n * op_.batch));
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  /// The kept columns of row i that a core of `column` holds, as places in mask_.columns.
  std::pair<std::uint64_t, std::uint64_t> range(std::uint32_t i, std::uint32_t column) const;
  /// By row of cores of a slot and column, of one matrix.
  const Kept& kept(std::uint32_t row, std::uint32_t column) const {
    return kept_[std::size_t{row} * layout_.columns() + column];
  }
  void find_kept();
  void place_operands(LayerPlan& plan);
  LayerStage rows() const;
  TaskProgram part(std::uint32_t row, std::uint32_t matrices) const;
  void forward(const Kept& kept, std::uint32_t core, std::uint32_t matrices, CoreCode& code) const;
  void backward(const Kept& kept, std::uint32_t core, std::uint32_t matrices, CoreCode& code) const;
  template <class Write>
  void for_each_token(const Kept& kept, std::uint32_t matrices, const Write& write) const;
  void sums(const Kept& kept, std::uint32_t core, std::uint32_t matrices, std::uint32_t a,
            const Operand& b, bool reciprocal, CoreCode& code) const;
  void fill(LayerPlan& plan) const;
  template <class Visit>
  void for_each_entry(const Visit& visit) const;
  LayerComparison compare(const WaferMemory& memory) const;

  std::uint32_t at(std::uint32_t base, std::uint64_t index) const {
    return static_cast<std::uint32_t>(base + index * bytes_of(type_));
  }

  const LayerRequest& request_;
  const LayerOp op_;
  bool backward_;
  DType type_;
  Element element_;
  Element to_sum_;
  Mask mask_;
  LayerLayout layout_;
  CoreLine line_;
  std::vector<Kept> kept_;
  std::uint32_t x_ = 0;
  std::uint32_t dy_ = 0;
  std::uint32_t y_ = 0;
  std::uint32_t sums_ = 0;
  std::uint32_t stats_ = 0;
};

std::pair<std::uint64_t, std::uint64_t> MaskedSoftmax::range(std::uint32_t i,
                                                             std::uint32_t column) const {
  const auto begin = mask_.columns.begin() + static_cast<std::ptrdiff_t>(mask_.offsets[i]);
  const auto end = mask_.columns.begin() + static_cast<std::ptrdiff_t>(mask_.offsets[i + 1]);
  const std::uint32_t first = layout_.first_feature(column);
  const auto low = std::lower_bound(begin, end, first);
  const auto high = std::lower_bound(low, end, first + layout_.features(column));
  return {static_cast<std::uint64_t>(low - mask_.columns.begin()),
          static_cast<std::uint64_t>(high - mask_.columns.begin())};
}

void MaskedSoftmax::find_kept() {
  for (std::uint32_t r = 0; r < layout_.rows(); ++r) {
    for (std::uint32_t c = 0; c < layout_.columns(); ++c) {
      Kept kept;
      for (std::uint32_t t = 0; t < layout_.tokens(r); ++t) {
        const auto [first, last] = range(layout_.first_token(r) + t, c);
        kept.add(static_cast<std::uint32_t>(last - first));
      }
      kept_.push_back(std::move(kept));
    }
  }
}

void MaskedSoftmax::place_operands(LayerPlan& plan) {
  std::uint64_t most = 0;
  for (const Kept& kept : kept_) most = std::max(most, kept.total);
  most *= layout_.instances(0);
  const std::uint64_t tokens = layout_.most_tokens();
  CoreSpace space;
  x_ = space.take(most, bytes_of(type_));
  if (backward_) dy_ = space.take(most, bytes_of(type_), Half8::upper);
  y_ = space.take(most, bytes_of(type_), Half8::upper);
  sums_ = space.take(tokens, 4);
  stats_ = space.take(tokens, bytes_of(type_), Half8::upper);
  check_core_bytes(request_, space.bytes(), plan);
}

LayerStage MaskedSoftmax::rows() const {
  LayerStage stage;
  stage.name = "rows";
  // Rows of cores with the same numbers of entries everywhere do the same.
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> parts;
  for (std::uint32_t slot = 0; slot < layout_.slots(); ++slot) {
    const std::uint32_t matrices = layout_.instances(slot);
    for (std::uint32_t r = 0; r < layout_.rows(); ++r) {
      std::vector<std::uint32_t> counts;
      for (std::uint32_t c = 0; c < layout_.columns(); ++c) {
        counts.insert(counts.end(), kept(r, c).counts.begin(), kept(r, c).counts.end());
      }
      const auto [found, is_new] =
          parts.try_emplace({matrices, std::move(counts)}, stage.parts.size());
      if (is_new) stage.parts.push_back(part(r, matrices));
      stage.places.push_back(
          {found->second, layout_.slot_row(slot) + r, layout_.slot_column(slot)});
    }
  }
  return stage;
}

TaskProgram MaskedSoftmax::part(std::uint32_t row, std::uint32_t matrices) const {
  TaskProgram part;
  part.columns = line_.cores();
  part.rows = 1;
  for (std::uint32_t c = 0; c < line_.cores(); ++c) {
    CoreCode code(request_.setup.costs, request_.setup.functions);
    if (backward_) {
      backward(kept(row, c), c, matrices, code);
    } else {
      forward(kept(row, c), c, matrices, code);
    }
    add_line_core(line_, c, std::move(code), part);
  }
  return part;
}

/// write(token, first entry, entries) for tokens of which something is kept here.
template <class Write>
void MaskedSoftmax::for_each_token(const Kept& kept, std::uint32_t matrices,
                                   const Write& write) const {
  std::uint64_t first = 0;
  for (std::uint32_t m = 0; m < matrices; ++m) {
    for (std::size_t t = 0; t < kept.counts.size(); ++t) {
      if (kept.counts[t] != 0) write(m * kept.counts.size() + t, first, kept.counts[t]);
      first += kept.counts[t];
    }
  }
}

/// The sum of a * b of each token, or one over it, for all cores of the row.
void MaskedSoftmax::sums(const Kept& kept, std::uint32_t core, std::uint32_t matrices,
                         std::uint32_t a, const Operand& b, bool reciprocal, CoreCode& code) const {
  const std::uint64_t tokens = matrices * kept.counts.size();
  code.move(Element::fp32, in_memory(sums_), number(0), tokens);
  for_each_token(kept, matrices, [&](std::uint64_t t, std::uint64_t first, std::uint32_t count) {
    Operand of_token = b;
    if (b.kind == Operand::Kind::memory) of_token.address = at(b.address, first);
    code.vector(Op::fma, to_sum_, in_memory(static_cast<std::uint32_t>(sums_ + 4 * t), 0),
                in_memory(at(a, first)), of_token, count);
  });
  line_.reduce(core, Op::add, Element::fp32, sums_, tokens, code);
  if (core == 0) {
    const Operand here = in_memory(sums_);
    if (reciprocal) code.vector(Op::divide, Element::fp32, here, number(1), here, tokens);
    code.move(type_ == DType::fp32 ? Element::fp32 : Element::fp32_16, in_memory(stats_), here,
              tokens);
  }
  line_.broadcast(core, element_, stats_, tokens, code);
}

void MaskedSoftmax::forward(const Kept& kept, std::uint32_t core, std::uint32_t matrices,
                            CoreCode& code) const {
  constexpr float kLeast = -60000;  // below every score
  const std::uint64_t tokens = matrices * kept.counts.size();
  code.move(element_, in_memory(stats_), number(kLeast), tokens);
  for_each_token(kept, matrices, [&](std::uint64_t t, std::uint64_t first, std::uint32_t count) {
    const Operand most = in_memory(at(stats_, t), 0);
    code.vector(Op::max, element_, most, in_memory(at(x_, first)), most, count);
  });
  line_.reduce(core, Op::max, element_, stats_, tokens, code);
  line_.broadcast(core, element_, stats_, tokens, code);
  for_each_token(kept, matrices, [&](std::uint64_t t, std::uint64_t first, std::uint32_t count) {
    code.vector(Op::sub, element_, in_memory(at(y_, first)), in_memory(at(x_, first)),
                cell(at(stats_, t)), count);
  });
  code.vector(Op::exp, element_, in_memory(y_), in_memory(y_), Operand(), kept.total * matrices);
  sums(kept, core, matrices, y_, number(1), true, code);
  for_each_token(kept, matrices, [&](std::uint64_t t, std::uint64_t first, std::uint32_t count) {
    const Operand y = in_memory(at(y_, first));
    code.vector(Op::mul, element_, y, y, cell(at(stats_, t)), count);
  });
}

/// y (dy - sum of y dy)
void MaskedSoftmax::backward(const Kept& kept, std::uint32_t core, std::uint32_t matrices,
                             CoreCode& code) const {
  sums(kept, core, matrices, x_, in_memory(dy_), false, code);
  for_each_token(kept, matrices, [&](std::uint64_t t, std::uint64_t first, std::uint32_t count) {
    code.vector(Op::sub, element_, in_memory(at(y_, first)), in_memory(at(dy_, first)),
                cell(at(stats_, t)), count);
  });
  code.vector(Op::mul, element_, in_memory(y_), in_memory(y_), in_memory(x_),
              kept.total * matrices);
}

/// visit(row of the operation, place among its kept entries, core, place among those of the core)
template <class Visit>
void MaskedSoftmax::for_each_entry(const Visit& visit) const {
  for (std::uint32_t slot = 0; slot < layout_.slots(); ++slot) {
    for (std::uint32_t r = 0; r < layout_.rows(); ++r) {
      for (std::uint32_t c = 0; c < layout_.columns(); ++c) {
        const std::size_t core =
            std::size_t{layout_.slot_row(slot) + r} * request_.setup.wafer.columns +
            layout_.slot_column(slot) + c;
        std::uint64_t index = 0;
        for (std::uint32_t m = 0; m < layout_.instances(slot); ++m) {
          const std::uint64_t matrix = slot + std::uint64_t{m} * layout_.slots();
          for (std::uint32_t t = 0; t < layout_.tokens(r); ++t) {
            const std::uint32_t i = layout_.first_token(r) + t;
            const auto [first, last] = range(i, c);
            for (std::uint64_t e = first; e < last; ++e) {
              visit(matrix * op_.m + i, e - mask_.offsets[i], core, index++);
            }
          }
        }
      }
    }
  }
}

void MaskedSoftmax::fill(LayerPlan& plan) const {
  const std::size_t cores = std::size_t{request_.setup.wafer.columns} * request_.setup.wafer.rows;
  plan.memory.assign(cores, std::vector<std::uint8_t>(plan.bytes, 0));
  const SeededRows rows(request_.seed, op_.n);
  for_each_entry([&](std::uint64_t row, std::uint64_t i, std::size_t core, std::uint64_t index) {
    store(plan.memory[core], x_, index, type_, rows.operand(0, row, i));
    if (backward_) store(plan.memory[core], dy_, index, type_, rows.operand(1, row, i));
  });
  const MaskedSoftmax self = *this;
  plan.compare = [self](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison MaskedSoftmax::compare(const WaferMemory& memory) const {
  constexpr double kRoundings = 16;
  const RowFunction& function = *find_row_function(op_);
  const SeededRows rows(request_.seed, op_.n);
  const auto length = [&](std::uint64_t row) {
    return mask_.offsets[row % op_.m + 1] - mask_.offsets[row % op_.m];
  };
  std::vector<std::vector<RowStats>> found;
  for (std::uint64_t row = 0; row < std::uint64_t{op_.m} * op_.batch; ++row) {
    found.push_back(row_stats(function, rows, row, length(row)));
  }
  LayerComparison comparison;
  for_each_entry([&](std::uint64_t row, std::uint64_t i, std::size_t core, std::uint64_t index) {
    const RowElement e = read_row_element(function, rows, row, i, length(row));
    compare_element(comparison, load(memory[core], y_, index, type_),
                    function.result(e, found[row].data()), type_, kRoundings,
                    1.0 / static_cast<double>(length(row)));
  });
  return comparison;
}

}  // namespace

LayerPlan plan_layer_masked_softmax(const LayerRequest& request) {
  return MaskedSoftmax(request).plan();
}

}  // namespace lacuna::wse
