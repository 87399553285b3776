// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/row_values.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/line.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/row_code.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

/// A row of the operation is a token of the layout: a column of activations, for norms, or a row
/// of scores, for softmax.
class Rows {
 public:
  Rows(const LayerRequest& request, const RowFunction& function, const RowCode& code)
      : request_(request),
        op_(request.op),
        function_(function),
        code_(code),
        type_(op_.dtype),
        // The tokens of a batch are tokens like any other to a norm.
        tensor_(request.setup.wafer, op_.m, function.columns ? op_.n * op_.batch : op_.n,
                function.columns ? 1 : op_.batch, 1, !function.columns),
        length_(function.columns ? op_.m : op_.n),
        rows_(std::uint64_t{function.columns ? op_.n : op_.m} * op_.batch) {}

  LayerPlan plan() {
    LayerPlan plan;
    place_operands(plan);
    add_rows(plan);
    if (code_.columns != 0) add_columns(plan);
    const LayerLayout& layout = tensor_.layout();
    const CoreLine line = row_line();
    plan.notes.emplace_back(
        "row of cores",
        fmt::format("{} columns in groups of {}, {} features x {} tokens each", line.cores(),
                    line.group(), layout.most_features(), layout.most_tokens()));
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  CoreLine row_line() const {
    return {tensor_.layout().columns(), CoreLine::Direction::columns,
            request_.setup.hardware.router};
  }
  CoreLine column_line() const {
    return {tensor_.layout().rows(), CoreLine::Direction::rows, request_.setup.hardware.router};
  }

  void place_operands(LayerPlan& plan);
  void add_rows(LayerPlan& plan) const;
  void add_columns(LayerPlan& plan) const;
  TaskProgram row_part(std::uint64_t tokens) const;
  TaskProgram column_part(std::uint32_t features) const;
  void fill(LayerPlan& plan) const;
  std::pair<std::uint64_t, std::uint64_t> row_and_place(std::uint64_t element) const;
  LayerComparison compare(const WaferMemory& memory) const;
  void compare_sums(const WaferMemory& memory, LayerComparison& comparison) const;

  const LayerRequest& request_;
  const LayerOp op_;
  const RowFunction& function_;
  const RowCode& code_;
  DType type_;
  LayerTensor tensor_;
  std::uint64_t length_;
  std::uint64_t rows_;
  RowSpace space_;  // addresses, the same in every core
};

void Rows::place_operands(LayerPlan& plan) {
  const std::uint64_t most = tensor_.most_elements();
  const std::uint64_t features = tensor_.layout().most_features();
  const std::uint64_t tokens = tensor_.layout().most_tokens();
  const unsigned bytes = bytes_of(type_);
  CoreSpace space;
  space_.element = type_ == DType::fp32 ? Element::fp32 : Element::fp16;
  space_.length = length_;
  space_.x = space.take(most, bytes);
  if (function_.tensors > 1) space_.dy = space.take(most, bytes, Half8::upper);
  if (function_.output) space_.y = space.take(most, bytes, Half8::upper);
  for (unsigned i = 0; i < code_.scratch; ++i) {
    space_.scratch.at(i) = space.take(most, bytes, i % 2 == 0 ? Half8::lower : Half8::upper);
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

void Rows::add_rows(LayerPlan& plan) const {
  LayerStage stage;
  stage.name = "rows";
  std::map<std::uint64_t, std::uint32_t> parts;  // by tokens
  const LayerLayout& layout = tensor_.layout();
  for (std::uint32_t slot = 0; slot < layout.slots(); ++slot) {
    for (std::uint32_t r = 0; r < layout.rows(); ++r) {
      const std::uint64_t tokens = tensor_.share(slot, r, 0).tokens;
      const auto [found, is_new] = parts.try_emplace(tokens, stage.parts.size());
      if (is_new) stage.parts.push_back(row_part(tokens));
      stage.places.push_back({found->second, layout.slot_row(slot) + r, layout.slot_column(slot)});
    }
  }
  plan.stages.push_back(std::move(stage));
}

TaskProgram Rows::row_part(std::uint64_t tokens) const {
  const CoreLine line = row_line();
  TaskProgram part;
  part.columns = line.cores();
  part.rows = 1;
  for (std::uint32_t c = 0; c < line.cores(); ++c) {
    RowSpace space = space_;
    space.features = tensor_.layout().features(c);
    space.tokens = tokens;
    CoreCode code(request_.setup.costs, request_.setup.functions);
    code_.write(space, line, c, code);
    add_line_core(line, c, std::move(code), part);
  }
  return part;
}

/// The sums over tokens run up the columns, to the first row.
void Rows::add_columns(LayerPlan& plan) const {
  LayerStage stage;
  stage.name = "columns";
  std::map<std::uint32_t, std::uint32_t> parts;  // by features
  for (std::uint32_t c = 0; c < tensor_.layout().columns(); ++c) {
    const std::uint32_t features = tensor_.layout().features(c);
    const auto [found, is_new] = parts.try_emplace(features, stage.parts.size());
    if (is_new) stage.parts.push_back(column_part(features));
    stage.places.push_back({found->second, 0, c});
  }
  plan.stages.push_back(std::move(stage));
}

TaskProgram Rows::column_part(std::uint32_t features) const {
  const CoreLine line = column_line();
  TaskProgram part;
  part.columns = 1;
  part.rows = line.cores();
  for (std::uint32_t r = 0; r < line.cores(); ++r) {
    CoreCode code(request_.setup.costs, request_.setup.functions);
    line.reduce(r, VectorOp::add, Element::fp32, space_.columns,
                std::uint64_t{code_.columns} * features, code);
    add_line_core(line, r, std::move(code), part);
  }
  return part;
}

/// The row of an element of the tensor, and its place in it.
std::pair<std::uint64_t, std::uint64_t> Rows::row_and_place(std::uint64_t element) const {
  if (function_.columns) return {element % rows_, element / rows_};
  return {element / length_, element % length_};
}

void Rows::fill(LayerPlan& plan) const {
  plan.memory = tensor_.empty_memory(plan.bytes);
  const SeededRows rows(request_.seed, length_);
  tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
    const auto [row, i] = row_and_place(e);
    std::vector<std::uint8_t>& memory = plan.memory[at.core];
    const RowElement read = read_row_element(function_, rows, row, i, length_);
    store(memory, space_.x, at.index, type_, read.x);
    if (function_.tensors > 1) store(memory, space_.dy, at.index, type_, read.dy);
    if (function_.vectors > 0) store(memory, space_.vectors[0], at.feature, type_, read.gamma);
    if (function_.vectors > 1) store(memory, space_.vectors[1], at.feature, type_, read.beta);
    for (unsigned s = 0; s < 2 && function_.saved; ++s) {
      store(memory, space_.saved.at(s), at.token, type_, read.saved.at(s));
    }
  });
  const Rows self = *this;
  plan.compare = [self](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Rows::compare(const WaferMemory& memory) const {
  // Intermediate results and statistics in the type of the operands.
  constexpr double kRoundings = 16;
  LayerComparison comparison;
  const SeededRows rows(request_.seed, length_);
  std::vector<std::vector<RowStats>> found;
  for (std::uint64_t row = 0; row < rows_; ++row) {
    found.push_back(row_stats(function_, rows, row, length_));
  }
  tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
    if (!function_.output) return;
    const auto [row, i] = row_and_place(e);
    const RowElement read = read_row_element(function_, rows, row, i, length_);
    compare_element(comparison, load(memory[at.core], space_.y, at.index, type_),
                    function_.result(read, found[row].data()), type_, kRoundings,
                    function_.columns ? 1 : 1.0 / static_cast<double>(length_));
  });
  compare_sums(memory, comparison);
  return comparison;
}

void Rows::compare_sums(const WaferMemory& memory, LayerComparison& comparison) const {
  const SeededRows rows(request_.seed, length_);
  const LayerLayout& layout = tensor_.layout();
  const auto scale = static_cast<double>(rows_);
  for (std::uint32_t c = 0; c < layout.columns(); ++c) {
    const std::uint32_t features = layout.features(c);
    for (std::uint32_t e = 0; e < code_.columns * features; ++e) {
      double exact = 0;
      for (std::uint64_t row = 0; row < rows_; ++row) {
        const std::uint64_t i = layout.first_feature(c) + e % features;
        exact += function_.column(read_row_element(function_, rows, row, i, length_), e / features);
      }
      compare_element(comparison, load(memory[c], space_.columns, e, DType::fp32), exact, type_, 4,
                      scale);
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
  if (request.mask != nullptr) return plan_layer_masked_softmax(request);
  return Rows(request, *function, *code).plan();
}

}  // namespace lacuna::wse
