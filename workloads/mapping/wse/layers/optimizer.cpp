// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/functions/operands.hpp"
#include "workloads/functions/optimizer_step.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;
using Step = OptimizerStep;

struct Rule {
  const char* name = nullptr;
  unsigned state = 0;    // vectors beside weight and gradient
  unsigned scratch = 0;  // likewise
  bool adaptive = false;
  bool decays = false;
  bool norms = false;
};

constexpr std::array<Rule, 5> kRules = {{{"sgd", 0, 0},
                                         {"sgdm", 1, 0},
                                         {"adam", 2, 2, true},
                                         {"adamw", 2, 2, true, true},
                                         {"lamb", 2, 2, true, true, true}}};

/// Weight, gradient, first and second moment of parameter p.
double operand(std::uint64_t seed, unsigned which, std::uint64_t p) {
  const double value = real_operand(seed + which, p);
  return which == 3 ? std::abs(value) : value;  // second moments are not negative
}

OptimizerStep stepped(const std::string& rule, unsigned state, std::uint64_t seed,
                      std::uint64_t p) {
  return optimizer_step(rule, operand(seed, 0, p), operand(seed, 1, p),
                        state > 0 ? operand(seed, 2, p) : 0, state > 1 ? operand(seed, 3, p) : 0);
}

/// Addresses in a core: w, g, m, v, then two vectors of scratch; two sums of squares; the ratio.
struct Space {
  std::array<std::uint32_t, 6> at{};
  std::uint32_t squares = 0;
  std::uint32_t ratio = 0;
};

/// Parameters are dealt to all cores of the rectangle, row by row, as evenly as possible.
class Optimizer {
 public:
  Optimizer(const LayerRequest& request, const Rule& rule)
      : request_(request),
        op_(request.op),
        rule_(rule),
        columns_(request.setup.wafer.columns),
        rows_(request.setup.wafer.rows),
        count_((request.mask != nullptr ? request.mask->nnz() : std::uint64_t{op_.m} * op_.k) *
               op_.batch) {}

  LayerPlan plan() {
    LayerPlan plan;
    lay_out(plan);
    if (rule_.norms) {
      plan.stages.push_back(squares_stage());
      plan.stages.push_back(norm_stage());
    } else {
      plan.stages.push_back(update_stage());
    }
    plan.notes.emplace_back(
        "parameters per core",
        fmt::format("{} at most, {} vectors of state in fp32", share(0), rule_.state));
    if (request_.values) fill(plan);
    return plan;
  }

 private:
  std::uint64_t cores() const { return std::uint64_t{columns_} * rows_; }
  std::uint64_t share(std::uint64_t core) const {
    return count_ / cores() + (core < count_ % cores() ? 1 : 0);
  }
  std::uint64_t first(std::uint64_t core) const {
    return core * (count_ / cores()) + std::min(core, count_ % cores());
  }
  CoreCode code() const { return {request_.setup.costs, request_.setup.functions}; }

  void lay_out(LayerPlan& plan);
  void direction(std::uint64_t length, CoreCode& code) const;
  void adaptive_direction(std::uint64_t length, CoreCode& code) const;
  void change(std::uint32_t by, std::uint64_t length, CoreCode& code) const;
  void squares(std::uint64_t length, CoreCode& code) const;
  void apply(std::uint64_t length, CoreCode& code) const;
  LayerStage update_stage() const;
  LayerStage squares_stage() const;
  LayerStage norm_stage() const;
  void fill(LayerPlan& plan) const;
  LayerComparison compare(const WaferMemory& memory) const;

  const LayerRequest& request_;
  const LayerOp op_;
  const Rule& rule_;
  std::uint32_t columns_;
  std::uint32_t rows_;
  std::uint64_t count_;
  Space space_;
};

void Optimizer::lay_out(LayerPlan& plan) {
  CoreSpace space;
  const auto half = [](unsigned i) { return i % 2 == 0 ? Half8::lower : Half8::upper; };
  for (unsigned v = 0; v < 2 + rule_.state; ++v) space_.at.at(v) = space.take(share(0), 4, half(v));
  for (unsigned v = 0; v < rule_.scratch; ++v) {
    space_.at.at(4 + v) = space.take(share(0), 4, half(v));
  }
  space_.squares = space.take(2, 4);
  space_.ratio = space.take(1, 4);
  check_core_bytes(request_, space.bytes(), plan);
}

/// w -= rate * the vector at `by`.
void Optimizer::change(std::uint32_t by, std::uint64_t length, CoreCode& code) const {
  code.vector(Op::fma, Element::fp32, in_memory(space_.at[0]), in_memory(by),
              number(static_cast<float>(-Step::kRate)), length);
}

/// The moments, and the direction of the update in the first vector of scratch.
void Optimizer::adaptive_direction(std::uint64_t length, CoreCode& code) const {
  constexpr float kTiny = 1e-30F;  // a root of nothing is found as nothing times its reciprocal
  const auto& at = space_.at;
  const auto op = [&](Op what, std::uint32_t to, std::uint32_t a, const Operand& b) {
    code.vector(what, Element::fp32, in_memory(to), in_memory(a), b, length);
  };
  const auto by = [](double value) { return number(static_cast<float>(value)); };
  op(Op::mul, at[2], at[2], by(Step::kFirst));
  op(Op::fma, at[2], at[1], by(1 - Step::kFirst));
  op(Op::mul, at[3], at[3], by(Step::kSecond));
  op(Op::mul, at[4], at[1], in_memory(at[1]));
  op(Op::fma, at[3], at[4], by(1 - Step::kSecond));
  op(Op::mul, at[4], at[3], by(1 / (1 - Step::kSecond)));
  op(Op::max, at[5], at[4], number(kTiny));
  op(Op::rsqrt, at[5], at[5], Operand());
  op(Op::mul, at[5], at[5], in_memory(at[4]));
  op(Op::add, at[5], at[5], by(Step::kEpsilon));
  op(Op::mul, at[4], at[2], by(1 / (1 - Step::kFirst)));
  op(Op::divide, at[4], at[4], in_memory(at[5]));
  if (rule_.decays) op(Op::fma, at[4], at[0], by(Step::kDecay));
}

void Optimizer::direction(std::uint64_t length, CoreCode& code) const {
  const auto& at = space_.at;
  if (rule_.adaptive) {
    adaptive_direction(length, code);
  } else if (rule_.state == 1) {
    code.vector(Op::mul, Element::fp32, in_memory(at[2]), in_memory(at[2]),
                number(static_cast<float>(Step::kFirst)), length);
    code.vector(Op::add, Element::fp32, in_memory(at[2]), in_memory(at[1]), in_memory(at[2]),
                length);
  }
}

/// Every core for itself.
LayerStage Optimizer::update_stage() const {
  StageParts<std::uint64_t> stage("update");
  for (std::uint64_t core = 0; core < std::min(cores(), count_); ++core) {
    stage.add(share(core), static_cast<std::uint32_t>(core / columns_),
              static_cast<std::uint32_t>(core % columns_), [&] {
                CoreCode written = code();
                direction(share(core), written);
                const unsigned by = rule_.adaptive ? 4 : rule_.state == 1 ? 2 : 1;
                change(space_.at.at(by), share(core), written);
                return single_core(std::move(written).finish());
              });
  }
  return stage.take();
}

/// The squares of weights and updates of a core.
void Optimizer::squares(std::uint64_t length, CoreCode& code) const {
  code.move(Element::fp32, in_memory(space_.squares), number(0), 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Operand vector = in_memory(space_.at.at(std::size_t{4} * i));
    code.vector(Op::fma, Element::fp32, in_memory(space_.squares + 4 * i, 0), vector, vector,
                length);
  }
}

/// Makes the ratio of the norms, the root of w w / u u, and moves the weights by it.
void Optimizer::apply(std::uint64_t length, CoreCode& code) const {
  const Operand ratio = in_memory(space_.ratio);
  const Operand first = in_memory(space_.squares);
  code.vector(Op::divide, Element::fp32, first, first, in_memory(space_.squares + 4), 1);
  code.vector(Op::rsqrt, Element::fp32, ratio, first, Operand(), 1);
  code.vector(Op::mul, Element::fp32, ratio, ratio, first, 1);
  code.vector(Op::mul, Element::fp32, in_memory(space_.at[4]), in_memory(space_.at[4]),
              cell(space_.ratio), length);
  change(space_.at[4], length, code);
}

/// Sums along rows; rows with equal numbers of parameters do the same.
LayerStage Optimizer::squares_stage() const {
  StageParts<std::pair<std::uint64_t, std::uint64_t>> stage("directions and squares");
  const LineSums line = line_of(request_.setup, columns_);
  for (std::uint32_t r = 0; r < rows_; ++r) {
    const std::uint64_t begin = std::uint64_t{r} * columns_;
    const std::uint64_t all = first(begin + columns_) - first(begin);
    stage.add({share(begin), all}, r, 0, [&] {
      return plan_line(line, Direction::columns, request_.setup.costs, request_.setup.functions,
                       [&](CoreCode& code, std::uint32_t c) {
                         direction(share(begin + c), code);
                         squares(share(begin + c), code);
                         line.write(code, c, {space_.squares, 2});
                       });
    });
  }
  return stage.take();
}

/// Every column adds up what the rows found, and its cores go on by themselves. Columns of which
/// the same rows have a parameter more do the same.
LayerStage Optimizer::norm_stage() const {
  StageParts<std::uint64_t> stage("norms and update");  // by parameters of all cores
  const LineSums line = line_of(request_.setup, rows_);
  for (std::uint32_t c = 0; c < columns_; ++c) {
    const auto length = [&](std::uint32_t r) { return share(std::uint64_t{r} * columns_ + c); };
    std::uint64_t all = 0;
    for (std::uint32_t r = 0; r < rows_; ++r) all += length(r);
    stage.add(all, 0, c, [&] {
      return plan_line(line, Direction::rows, request_.setup.costs, request_.setup.functions,
                       [&](CoreCode& code, std::uint32_t r) {
                         line.write(code, r, {space_.squares, 2});
                         apply(length(r), code);
                       });
    });
  }
  return stage.take();
}

void Optimizer::fill(LayerPlan& plan) const {
  plan.memory.assign(cores(), std::vector<std::uint8_t>(plan.bytes, 0));
  for (std::uint64_t core = 0; core < cores(); ++core) {
    for (unsigned which = 0; which < 2 + rule_.state; ++which) {
      for (std::uint64_t i = 0; i < share(core); ++i) {
        store(plan.memory[core], space_.at.at(which), i, DType::fp32,
              operand(request_.seed, which, first(core) + i));
      }
    }
  }
  plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
}

LayerComparison Optimizer::compare(const WaferMemory& memory) const {
  constexpr double kRoundings = 32;
  const std::uint64_t seed = request_.seed;
  std::array<double, 2> sums{};
  for (std::uint64_t p = 0; p < count_ && rule_.norms; ++p) {
    const OptimizerStep after = stepped(rule_.name, rule_.state, seed, p);
    sums[0] += operand(seed, 0, p) * operand(seed, 0, p);
    sums[1] += after.update * after.update;
  }
  const double ratio = rule_.norms ? trust_ratio(sums[0], sums[1]) : 1;
  LayerComparison comparison;
  for (std::uint64_t core = 0; core < cores(); ++core) {
    for (std::uint64_t i = 0; i < share(core); ++i) {
      const std::uint64_t p = first(core) + i;
      const OptimizerStep after = stepped(rule_.name, rule_.state, seed, p);
      compare_element(comparison, load(memory[core], space_.at[0], i, DType::fp32),
                      operand(seed, 0, p) - Step::kRate * ratio * after.update, DType::fp32,
                      kRoundings, 1);
      for (unsigned s = 0; s < rule_.state; ++s) {
        compare_element(comparison, load(memory[core], space_.at.at(2 + s), i, DType::fp32),
                        s == 0 ? after.first : after.second, DType::fp32, kRoundings, 1);
      }
    }
  }
  return comparison;
}

}  // namespace

LayerPlan plan_layer_optimizer(const LayerRequest& request) {
  const LayerOp& op = request.op;
  if (op.dtype != DType::fp32) {
    throw UnsupportedError(
        fmt::format("a wafer keeps the state of optimizers in fp32, not in {}", word(op.dtype)));
  }
  for (const Rule& rule : kRules) {
    if (op.fn == rule.name) return Optimizer(request, rule).plan();
  }
  throw UnsupportedError(fmt::format("a wafer does not run optim {}", op.fn));
}

}  // namespace lacuna::wse
