// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/element_functions.hpp"
#include "workloads/functions/operands.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/functions.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

constexpr unsigned kSharedSeed = 3;  // of the vector, after three operands

/// Gradients and parameters have no tokens: where every element is by itself they are dealt to all
/// cores alike, as by the optimizer, each a matrix of its own. Activations lie as products leave
/// them.
LayerTensor tensor_of(const LayerRequest& request, const ElementFunction& function) {
  const LayerOp& op = request.op;
  const WaferParams& wafer = request.setup.wafer;
  const bool alone = function.shared == ElementFunction::Shared::none && op.fn != "rope";
  if (op.phase == Phase::upd && op.n == 1 && op.batch == 1 && alone) {
    return {wafer, 1, 1, op.m};
  }
  return {wafer, op.m, op.n, op.batch, op.fn == "rope" ? 2U : 1U};
}

/// What lies where in a core, and the reference.
class Elements {
 public:
  Elements(const LayerRequest& request, const ElementFunction& function, const ElementCode& code)
      : request_(request),
        op_(request.op),
        function_(function),
        code_(code),
        tensor_(tensor_of(request, function)),
        type_(op_.dtype),
        source_(op_.fn != "cast"       ? type_
                : type_ == DType::fp32 ? DType::fp16
                                       : DType::fp32) {}

  LayerPlan plan() {
    LayerPlan plan;
    place_operands(plan);
    if (request_.setup.estimates) {
      plan.stages.emplace_back().parts.push_back(part(tensor_.share(0, 0, 0)));
      return plan;
    }
    StageParts<std::pair<std::uint32_t, std::uint64_t>> stage(op_.fn.c_str());
    tensor_.for_each_core([&](std::uint32_t row, std::uint32_t column, const TensorShare& share) {
      stage.add({share.features, share.tokens}, row, column, [&] { return part(share); });
    });
    plan.notes.emplace_back("elements per core", fmt::format("{} features x {} tokens, at most",
                                                             tensor_.layout().most_features(),
                                                             tensor_.layout().most_tokens()));
    plan.stages.push_back(stage.take());
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  bool shared() const { return function_.shared != ElementFunction::Shared::none; }
  bool dropout() const { return op_.fn == "dropout"; }

  /// Whether the shared vector has a number for each feature, in the terms of the layout.
  bool per_feature() const {
    return (function_.shared == ElementFunction::Shared::features) == tensor_.m_is_feature();
  }

  void place_operands(LayerPlan& plan);
  TaskProgram part(const TensorShare& share) const;
  void fill(LayerPlan& plan) const;
  double shared_value(std::uint64_t element) const;
  LayerComparison compare(const WaferMemory& memory) const;

  const LayerRequest& request_;
  const LayerOp op_;  // outlives the request, in compare()
  const ElementFunction& function_;
  const ElementCode& code_;
  LayerTensor tensor_;
  DType type_;
  DType source_;
  ElementSpace space_;  // addresses, the same in every core
  std::uint32_t shared_at_ = 0;
  /// How often a vector with a number for each token stands in memory, side by side. If there is
  /// room, the copies fill whole banks. Then no row of an operand shares a bank with its numbers.
  std::uint32_t copies_ = 1;
};

// Operands lie alternately at 0 and 4 modulo 8, so that a beat can read two of them.
void Elements::place_operands(LayerPlan& plan) {
  const std::uint64_t most = tensor_.most_elements();
  CoreSpace space;
  const auto half = [](unsigned i) { return i % 2 == 0 ? Half8::lower : Half8::upper; };
  for (unsigned t = 0; t < function_.tensors; ++t) {
    space_.operands.at(t) = space.take(most, bytes_of(source_), half(t));
  }
  for (unsigned r = 0; r < function_.results; ++r) {
    space_.results.at(r) = space.take(most, bytes_of(type_), half(r + 1));
  }
  for (unsigned s = 0; s < code_.scratch; ++s) {
    space_.scratch.at(s) = space.take(most, bytes_of(type_), half(s));
  }
  std::uint64_t numbers = 0;
  if (dropout()) numbers = most;
  if (shared()) {
    numbers = per_feature() ? tensor_.layout().most_features() : tensor_.layout().most_tokens();
  }
  // FP32 on some wafers: its banks repeat after 16 bytes, which copies would not fill
  const bool repeats = type_ != DType::fp32 || request_.setup.hardware.mem.conflict_bytes == 8U;
  // what is scaled is added to the result, which lies in the upper half
  const bool scaled = repeats && op_.fn == "scale_mask";
  shared_at_ = space.take(numbers, bytes_of(type_), half(scaled ? 0 : 1));
  check_core_bytes(request_, space.bytes(), plan);
  const std::uint64_t more = (8 - bytes_of(type_)) * numbers + 8;
  if (repeats && shared() && !per_feature() && plan.bytes + more <= plan.limit) {
    copies_ = 8 / bytes_of(type_);
    plan.bytes += more;
  }
  space_.element = type_ == DType::fp32 ? Element::fp32 : Element::fp16;
}

TaskProgram Elements::part(const TensorShare& share) const {
  ElementSpace space = space_;
  space.length = share.elements();
  space.run = static_cast<std::uint32_t>(share.tokens);
  if (dropout()) {
    space.shared = in_memory(shared_at_);
  } else if (shared()) {
    space.shared = per_feature() ? each_for(shared_at_, share.tokens)
                                 : around(shared_at_, copies_ * space.run);
  }
  CoreCode code(request_.setup.costs, request_.setup.functions);
  code_.write(space, code);
  return single_core(std::move(code).finish());
}

double Elements::shared_value(std::uint64_t element) const {
  if (dropout()) return dropout_factor(request_.seed, element);
  const std::uint64_t i = element / op_.n % op_.m;
  const bool features = function_.shared == ElementFunction::Shared::features;
  return real_operand(request_.seed + kSharedSeed, features ? i : element % op_.n);
}

void Elements::fill(LayerPlan& plan) const {
  plan.memory = tensor_.empty_memory(plan.bytes);
  tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
    std::vector<std::uint8_t>& memory = plan.memory[at.core];
    for (unsigned t = 0; t < function_.tensors; ++t) {
      store(memory, space_.operands.at(t), at.index, source_, real_operand(request_.seed + t, e));
    }
    if (!shared() && !dropout()) return;
    const std::uint64_t index = dropout() ? at.index : per_feature() ? at.feature : at.token;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      store(memory, shared_at_, copy * at.tokens + index, type_, shared_value(e));
    }
  });
  plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Elements::compare(const WaferMemory& memory) const {
  // Of a sum of products of numbers up to one: a few roundings of intermediate results.
  constexpr double kRoundings = 8;
  LayerComparison comparison;
  const auto read = [&](unsigned t, std::uint64_t e) { return real_operand(request_.seed + t, e); };
  tensor_.for_each_element([&](std::uint64_t e, const TensorPlace& at) {
    std::array<double, 3> x{};
    std::array<double, 3> pair{};
    for (unsigned t = 0; t < function_.tensors; ++t) {
      x.at(t) = read(t, e);
      pair.at(t) = op_.fn == "rope" ? read(t, tensor_.partner(e)) : x.at(t);
    }
    const double s = shared() || dropout() ? shared_value(e) : 0;
    for (unsigned r = 0; r < function_.results; ++r) {
      compare_element(comparison, load(memory[at.core], space_.results.at(r), at.index, type_),
                      function_.value({x.data(), s, pair.data(), r}), type_, kRoundings, 1);
    }
  });
  return comparison;
}

}  // namespace

LayerPlan plan_layer_eltwise(const LayerRequest& request) {
  check_layer_type(request.op);
  const ElementFunction* function = find_element_function(request.op);
  if (function == nullptr) return plan_layer_rows(request);
  const ElementCode* code = find_element_code(request.op.fn, request.op.phase);
  if (code == nullptr) {
    throw UnsupportedError(
        fmt::format("a wafer does not run eltwise {} {}", request.op.fn, word(request.op.phase)));
  }
  const std::uint32_t paired = request.op.batch == 1 ? request.op.m : request.op.n;
  if (request.op.fn == "rope" && paired % 2 != 0) {
    throw UnsupportedError(
        fmt::format("rope turns pairs of features, and {} features are not pairs", paired));
  }
  return Elements(request, *function, *code).plan();
}

}  // namespace lacuna::wse
