// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/row_values.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/row_code.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

/// A row of the operation is a token of the layout: a column of activations, for norms, or a row
/// of scores, for softmax. Of masked rows every core holds what is kept of its block.
class Rows {
 public:
  Rows(const LayerRequest& request, const RowFunction& function, const RowCode& code)
      : request_(request),
        op_(request.op),
        function_(function),
        code_(code),
        type_(op_.dtype),
        masked_(request.mask != nullptr),
        // The tokens of a batch are tokens like any other to a norm.
        tensor_(request.setup.wafer, op_.m, function.columns ? op_.n * op_.batch : op_.n,
                function.columns ? 1 : op_.batch, 1, !function.columns),
        length_(function.columns ? op_.m : op_.n),
        rows_(std::uint64_t{function.columns ? op_.n : op_.m} * op_.batch) {
    if (!masked_) return;
    mask_ = request.mask->elements();
    for (std::uint32_t r = 0; r < layout().rows(); ++r) {
      for (std::uint32_t c = 0; c < layout().columns(); ++c) kept_.push_back(count_kept(r, c));
    }
  }

  LayerPlan plan() {
    LayerPlan plan;
    place_operands(plan);
    add_rows(plan);
    if (code_.columns != 0) add_columns(plan);
    const LineSums line = row_line();
    const std::string have =
        masked_ ? fmt::format("{} of {} entries kept", mask_.nnz() * op_.batch, rows_ * length_)
                : fmt::format("{} features x {} tokens each", layout().most_features(),
                              layout().most_tokens());
    plan.notes.emplace_back("row of cores", fmt::format("{} columns in {} groups, {}", line.cores(),
                                                        line.groups(), have));
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  const LayerLayout& layout() const { return tensor_.layout(); }
  LineSums row_line() const { return line_of(request_.setup, layout().columns()); }
  LineSums column_line() const { return line_of(request_.setup, layout().rows()); }

  /// The kept columns of row i that a core of `column` holds, as places in mask_.columns.
  std::pair<std::uint64_t, std::uint64_t> range(std::uint32_t i, std::uint32_t column) const;
  std::vector<std::uint32_t> count_kept(std::uint32_t row, std::uint32_t column) const;
  /// How many elements a core has of each token of one matrix.
  const std::vector<std::uint32_t>& kept(std::uint32_t row, std::uint32_t column) const {
    return kept_[std::size_t{row} * layout().columns() + column];
  }
  std::uint64_t most_elements() const;
  /// Of cores, one that has as much as any.
  std::uint32_t fullest_row() const;
  void place_operands(LayerPlan& plan);
  void add_rows(LayerPlan& plan) const;
  void add_columns(LayerPlan& plan) const;
  std::vector<RowSpace> spaces(std::uint32_t slot, std::uint32_t row) const;
  TaskProgram row_part(const std::vector<RowSpace>& spaces) const;
  TaskProgram column_part(std::uint32_t features) const;
  template <class Visit>
  void for_each_element(const Visit& visit) const;
  template <class Visit>
  void for_each_kept(const Visit& visit) const;
  std::uint64_t length(std::uint64_t row) const {
    return masked_ ? mask_.offsets[row % op_.m + 1] - mask_.offsets[row % op_.m] : length_;
  }
  void fill(LayerPlan& plan) const;
  LayerComparison compare(const WaferMemory& memory) const;
  void compare_sums(const WaferMemory& memory, LayerComparison& comparison) const;

  const LayerRequest& request_;
  const LayerOp op_;
  const RowFunction& function_;
  const RowCode& code_;
  DType type_;
  bool masked_;
  Mask mask_;
  std::vector<std::vector<std::uint32_t>> kept_;  // by row of cores of a slot, and column
  LayerTensor tensor_;
  std::uint64_t length_;
  std::uint64_t rows_;
  RowSpace space_;  // addresses, the same in every core
};

std::pair<std::uint64_t, std::uint64_t> Rows::range(std::uint32_t i, std::uint32_t column) const {
  const auto begin = mask_.columns.begin() + static_cast<std::ptrdiff_t>(mask_.offsets[i]);
  const auto end = mask_.columns.begin() + static_cast<std::ptrdiff_t>(mask_.offsets[i + 1]);
  const std::uint32_t first = layout().first_feature(column);
  const auto low = std::lower_bound(begin, end, first);
  const auto high = std::lower_bound(low, end, first + layout().features(column));
  return {static_cast<std::uint64_t>(low - mask_.columns.begin()),
          static_cast<std::uint64_t>(high - mask_.columns.begin())};
}

std::vector<std::uint32_t> Rows::count_kept(std::uint32_t row, std::uint32_t column) const {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t t = 0; t < layout().tokens(row); ++t) {
    const auto [first, last] = range(layout().first_token(row) + t, column);
    counts.push_back(static_cast<std::uint32_t>(last - first));
  }
  return counts;
}

std::uint64_t Rows::most_elements() const {
  if (!masked_) return tensor_.most_elements();
  std::uint64_t most = 0;
  for (const std::vector<std::uint32_t>& counts : kept_) {
    most = std::max(most, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  }
  return most * layout().instances(0);
}

void Rows::place_operands(LayerPlan& plan) {
  const std::uint64_t most = most_elements();
  const std::uint64_t features = layout().most_features();
  const std::uint64_t tokens = layout().most_tokens();
  const unsigned bytes = bytes_of(type_);
  const bool half = type_ != DType::fp32;
  CoreSpace space;
  space_.element = half ? Element::fp16 : Element::fp32;
  space_.length = length_;
  space_.x = space.take(most, bytes);
  if (function_.tensors > 1) space_.dy = space.take(most, bytes, Half8::upper);
  if (function_.output()) space_.y = space.take(most, bytes, Half8::upper);
  for (unsigned i = 0; i < code_.scratch; ++i) {
    space_.scratch.at(i) = space.take(most, bytes, i % 2 == 0 ? Half8::lower : Half8::upper);
  }
  for (unsigned i = 0; half && i < code_.singles; ++i) {
    space_.singles.at(i) = space.take(most, 4, i % 2 == 0 ? Half8::lower : Half8::upper);
  }
  for (unsigned i = 0; i < function_.vectors; ++i) {
    space_.vectors.at(i) = space.take(features, bytes);
  }
  for (unsigned i = 0; i < 2 && function_.saved; ++i) {
    space_.saved.at(i) = space.take(tokens, bytes, Half8::upper);
  }
  space_.sums = space.take(2 * tokens, 4);
  space_.stats = space.take(2 * tokens, bytes, Half8::upper);
  space_.columns = space.take(code_.columns * features, 4);
  check_core_bytes(request_, space.bytes(), plan);
}

/// What each core of a row of cores has.
std::vector<RowSpace> Rows::spaces(std::uint32_t slot, std::uint32_t row) const {
  std::vector<RowSpace> spaces;
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    RowSpace space = space_;
    const TensorShare share = tensor_.share(slot, row, c);
    space.features = share.features;
    space.tokens = static_cast<std::uint32_t>(share.tokens);
    space.elements = share.elements();
    if (masked_) {
      const std::vector<std::uint32_t>& of_matrix = kept(row, c);
      for (std::uint32_t i = 0; i < layout().instances(slot); ++i) {
        space.kept.insert(space.kept.end(), of_matrix.begin(), of_matrix.end());
      }
      space.elements = std::accumulate(space.kept.begin(), space.kept.end(), std::uint64_t{0});
    }
    spaces.push_back(std::move(space));
  }
  return spaces;
}

std::uint32_t Rows::fullest_row() const {
  std::vector<std::uint64_t> kept(layout().rows(), 0);  // of masked rows
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const std::vector<std::uint32_t>& of_core = kept_[i];
    kept[i / layout().columns()] +=
        std::accumulate(of_core.begin(), of_core.end(), std::uint64_t{0});
  }
  return static_cast<std::uint32_t>(std::max_element(kept.begin(), kept.end()) - kept.begin());
}

/// Rows of cores with as many tokens, and of masked ones as many elements of each everywhere, do
/// the same.
void Rows::add_rows(LayerPlan& plan) const {
  if (request_.setup.estimates) {
    plan.stages.emplace_back().parts.push_back(row_part(spaces(0, fullest_row())));
    return;
  }
  StageParts<std::pair<std::uint64_t, std::vector<std::uint32_t>>> stage("rows");
  for (std::uint32_t slot = 0; slot < layout().slots(); ++slot) {
    for (std::uint32_t r = 0; r < layout().rows(); ++r) {
      std::vector<std::uint32_t> counts;
      for (std::uint32_t c = 0; masked_ && c < layout().columns(); ++c) {
        const std::vector<std::uint32_t>& of_core = kept(r, c);
        counts.insert(counts.end(), of_core.begin(), of_core.end());
      }
      stage.add({tensor_.share(slot, r, 0).tokens, std::move(counts)}, layout().slot_row(slot) + r,
                layout().slot_column(slot), [&] { return row_part(spaces(slot, r)); });
    }
  }
  plan.stages.push_back(stage.take());
}

TaskProgram Rows::row_part(const std::vector<RowSpace>& spaces) const {
  const LineSums line = row_line();
  return plan_line(
      line, Direction::columns, request_.setup.costs, request_.setup.functions,
      [&](CoreCode& code, std::uint32_t core) { code_.write(spaces[core], line, core, code); });
}

/// The sums over tokens run along the columns, to their root.
void Rows::add_columns(LayerPlan& plan) const {
  if (request_.setup.estimates) {
    plan.stages.emplace_back().parts.push_back(column_part(layout().most_features()));
    return;
  }
  StageParts<std::uint32_t> stage("columns");
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    const std::uint32_t features = layout().features(c);
    stage.add(features, 0, c, [&] { return column_part(features); });
  }
  plan.stages.push_back(stage.take());
}

TaskProgram Rows::column_part(std::uint32_t features) const {
  const LineSums line = column_line();
  SummedVector sums{space_.columns, code_.columns * features};
  sums.to_all = false;
  return plan_line(line, Direction::rows, request_.setup.costs, request_.setup.functions,
                   [&](CoreCode& code, std::uint32_t core) { line.write(code, core, sums); });
}

/// visit(row of the operation, place in it, where it lies)
template <class Visit>
void Rows::for_each_element(const Visit& visit) const {
  if (masked_) return for_each_kept(visit);
  tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
    if (function_.columns) {
      visit(e % rows_, e / rows_, at);
    } else {
      visit(e / length_, e % length_, at);
    }
  });
}

/// Places among what is kept of a row.
template <class Visit>
void Rows::for_each_kept(const Visit& visit) const {
  for (std::uint32_t slot = 0; slot < layout().slots(); ++slot) {
    for (std::uint32_t r = 0; r < layout().rows(); ++r) {
      for (std::uint32_t c = 0; c < layout().columns(); ++c) {
        TensorPlace at;
        at.core = std::size_t{layout().slot_row(slot) + r} * request_.setup.wafer.columns +
                  layout().slot_column(slot) + c;
        for (; at.token < tensor_.share(slot, r, c).tokens; ++at.token) {
          const std::uint64_t matrix = slot + at.token / layout().tokens(r) * layout().slots();
          const auto i =
              static_cast<std::uint32_t>(layout().first_token(r) + at.token % layout().tokens(r));
          const auto [first, last] = range(i, c);
          for (std::uint64_t e = first; e < last; ++e, ++at.index) {
            visit(matrix * op_.m + i, e - mask_.offsets[i], at);
          }
        }
      }
    }
  }
}

void Rows::fill(LayerPlan& plan) const {
  plan.memory = tensor_.empty_memory(plan.bytes);
  const SeededRows rows(request_.seed, length_);
  for_each_element([&](std::uint64_t row, std::uint64_t i, const TensorPlace& at) {
    std::vector<std::uint8_t>& memory = plan.memory[at.core];
    const RowElement read = read_row_element(function_, rows, row, i, length(row));
    store(memory, space_.x, at.index, type_, read.x);
    if (function_.tensors > 1) store(memory, space_.dy, at.index, type_, read.dy);
    if (function_.vectors > 0) store(memory, space_.vectors[0], at.feature, type_, read.gamma);
    if (function_.vectors > 1) store(memory, space_.vectors[1], at.feature, type_, read.beta);
    for (unsigned s = 0; s < 2 && function_.saved; ++s) {
      store(memory, space_.saved.at(s), at.token, type_, read.saved.at(s));
    }
  });
  plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Rows::compare(const WaferMemory& memory) const {
  // Intermediate results and statistics in the type of the operands.
  constexpr double kRoundings = 16;
  LayerComparison comparison;
  const SeededRows rows(request_.seed, length_);
  std::vector<std::vector<RowStats>> found;
  for (std::uint64_t row = 0; row < rows_; ++row) {
    found.push_back(row_stats(function_, rows, row, length(row)));
  }
  for_each_element([&](std::uint64_t row, std::uint64_t i, const TensorPlace& at) {
    if (!function_.output()) return;
    const RowElement read = read_row_element(function_, rows, row, i, length(row));
    compare_element(comparison, load(memory[at.core], space_.y, at.index, type_),
                    function_.result(read, found[row].data()), type_, kRoundings,
                    function_.columns ? 1 : 1.0 / static_cast<double>(length(row)));
  });
  compare_sums(memory, comparison);
  return comparison;
}

void Rows::compare_sums(const WaferMemory& memory, LayerComparison& comparison) const {
  const SeededRows rows(request_.seed, length_);
  const auto scale = static_cast<double>(rows_);
  const std::size_t root = std::size_t{column_line().root()} * request_.setup.wafer.columns;
  for (std::uint32_t c = 0; c < layout().columns(); ++c) {
    const std::uint32_t features = layout().features(c);
    for (std::uint32_t e = 0; e < code_.columns * features; ++e) {
      double exact = 0;
      for (std::uint64_t row = 0; row < rows_; ++row) {
        const std::uint64_t i = layout().first_feature(c) + e % features;
        exact += function_.column(read_row_element(function_, rows, row, i, length_), e / features);
      }
      compare_element(comparison, load(memory[root + c], space_.columns, e, DType::fp32), exact,
                      type_, 4, scale);
    }
  }
}

}  // namespace

LayerPlan plan_layer_rows(const LayerRequest& request) {
  check_layer_type(request.op);
  const LayerOp& op = request.op;
  const std::string& name = op.op == "eltwise" ? op.fn : op.op;
  const RowFunction* function = find_row_function(op);
  const RowCode* code = find_row_code(name, op.phase);
  if (function == nullptr || code == nullptr) {
    throw UnsupportedError(
        fmt::format("a wafer does not run {} {} {}", op.op, op.fn, word(op.phase)));
  }
  return Rows(request, *function, *code).plan();
}

}  // namespace lacuna::wse
