// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/functions/optimizer_step.hpp"
#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/reduce/column_reduce.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::ipu {
namespace {

/// Instructions of each vector of parameters in FP32: the step up to the direction of the update,
/// and what follows when LAMB knows the norms. A product and a sum with one of its operands are one
/// instruction, counted as a product.
///   sgd    w - rate g
///   sgdm   v = mu v + g; w - rate v
///   adam   m = b1 m + (1 - b1) g and v likewise of g g (5), both corrected (2), root, + eps, 1/x,
///          product, w - rate u (4)
///   adamw  with decay of w (2)
///   lamb   as adamw up to u, the squares of w and u summed (2) | w - rate ratio u (2)
struct Rule {
  const char* name;
  unsigned state;  // vectors beside weight and gradient
  VectorPass step;
  VectorPass apply;
  bool norms = false;
};

const std::array<Rule, 5>& rules() {
  static const std::array<Rule, 5> kRules = {{
      {"sgd", 0, {1, 1, 1, 0, 2}, {}},
      {"sgdm", 1, {1, 2, 2, 0, 4}, {}},
      {"adam", 2, {1, 3, 3, 2, 8, 2}, {}},
      {"adamw", 2, {1, 3, 3, 2, 10, 2}, {}},
      {"lamb", 2, {1, 3, 3, 2, 12, 2}, {1, 1, 1, 0, 2}, true},
  }};
  return kRules;
}

/// The same for a vector of four, with weight and gradient in FP16 and the state, the direction and
/// all arithmetic in FP32: two instructions for one, two accesses to what is FP32, and conversions,
/// of two numbers each, of what comes in and of the weight that goes out.
VectorPass mixed(const VectorPass& pass, unsigned halves_in, unsigned halves_out) {
  VectorPass result = pass;
  const unsigned loads = pass.inputs + pass.parameters;
  result.inputs = halves_in == 1 ? 2 * pass.inputs : pass.inputs;  // a direction, or a gradient
  result.parameters = halves_in + 2 * (loads - halves_in) - result.inputs;
  result.singles = 2 * (pass.outputs - halves_out);
  result.outputs = halves_out + result.singles;
  result.adds *= 2;
  result.muls *= 2;
  result.specials *= 2;
  result.converts = 2 * (halves_in + halves_out);
  return result;
}

/// What an optimizer keeps in which type, and the numbers it is checked with.
struct Numbers {
  DType weights = DType::fp32;  // and gradients; moments are fp32
  double sigma = 0;
  std::uint64_t seed = 0;

  DType type(unsigned which) const { return which < 2 ? weights : DType::fp32; }

  /// Weight, gradient, first or second moment of parameter p.
  double operator()(unsigned which, std::uint64_t p) const {
    const double value = RealOperands{sigma, type(which)}(seed + which, p);
    return which == 3 ? std::abs(value) : value;  // second moments are not negative
  }
};

/// Where a tile has its parameters: weight, gradient, moments, the direction of the update, then
/// the two sums of squares in FP32, its own and those of all.
struct StateRegions {
  std::array<std::uint32_t, 5> at{};  // words
  DType weights = DType::fp32;        // and gradients

  double read(const TileMemory& memory, unsigned which, std::uint64_t i) const {
    const DType type = which < 2 ? weights : DType::fp32;
    return read_element(memory, type, at.at(which) * std::uint64_t{4} / bytes_of(type) + i);
  }
  /// Each worker has an equal run of the vectors of `count` weights.
  void write_weight(TileMemory& memory, std::uint64_t i, std::uint64_t count, double value) const {
    const std::uint64_t width = 8 / bytes_of(weights);
    const std::uint64_t share = ceil_div(ceil_div(count, width), memory.rounding().workers());
    memory.rounding().use_worker(static_cast<unsigned>(i / width / share));
    write_element(memory, weights, at[0] * std::uint64_t{4} / bytes_of(weights) + i,
                  static_cast<float>(value));
  }

  std::uint32_t squares = 0;
  std::uint32_t norms = 0;
  std::uint32_t end = 0;
};

struct StepVertex {
  Rule rule;
  StateRegions regions;
  std::uint64_t count;

  void operator()(TileMemory& memory) const {
    std::array<double, 2> squares{};
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto read = [&](unsigned which) -> double {
        return which < 2 + rule.state ? regions.read(memory, which, i) : 0;
      };
      const OptimizerStep p = optimizer_step(rule.name, read(0), read(1), read(2), read(3));
      squares[0] += read(0) * read(0);
      squares[1] += p.update * p.update;
      if (!rule.norms) regions.write_weight(memory, i, count, p.weight);
      if (rule.state > 0) memory.set_real(regions.at[2] + i, static_cast<float>(p.first));
      if (rule.state > 1) memory.set_real(regions.at[3] + i, static_cast<float>(p.second));
      if (rule.norms) memory.set_real(regions.at[4] + i, static_cast<float>(p.update));
    }
    for (unsigned s = 0; s < 2 && rule.norms; ++s) {
      memory.set_real(regions.squares + s, static_cast<float>(squares.at(s)));
    }
  }
};

struct ApplyVertex {
  StateRegions regions;
  std::uint64_t count;

  void operator()(TileMemory& memory) const {
    const double ratio = trust_ratio(memory.real(regions.norms), memory.real(regions.norms + 1));
    for (std::uint64_t i = 0; i < count; ++i) {
      const double w = regions.read(memory, 0, i);
      const double update = OptimizerStep::kRate * ratio * regions.read(memory, 4, i);
      regions.write_weight(memory, i, count, w - update);
    }
  }
};

class OptimizerLowering {
 public:
  OptimizerLowering(const OperationRequest& request, const Rule& rule)
      : request_(request),
        rule_(on(rule, weights_of(request.op))),
        target_(make_target(request.chip, request.planner)),
        numbers_{weights_of(request.op), request.sigma, request.seed},
        builder_(request.chip),
        codelets_(builder_, target_, numbers_.weights, DType::fp32),
        reduce_(builder_, target_, {DType::fp32, DType::fp32}, DType::fp32),
        count_(stored(request) * request.op.batch),
        map_(count_, codelets_.width(), target_.tiles) {}

  PlannedOperation run() {
    lay_out();
    map_.for_each(0, count_, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
      const std::uint32_t function =
          request_.values ? builder_.function(StepVertex{rule_, regions_, end - begin}) : kNone;
      builder_.work(tile, codelets_.shared_vertex(rule_.step, end - begin), function);
      tiles_.push_back(tile);
      if (request_.values) place(tile, begin, end);
    });
    if (rule_.norms) {
      share_norms();
    } else {
      builder_.superstep(builder_.compute_set("update"), kNone);
    }
    return finish();
  }

 private:
  static DType weights_of(const LayerOp& op) {
    const std::string* word = find_value(op.args, "weights");
    return word != nullptr && *word == "fp16" ? DType::fp16 : DType::fp32;
  }
  static Rule on(const Rule& rule, DType weights) {
    if (weights == DType::fp32) return rule;
    Rule result = rule;
    result.step = mixed(rule.step, 2, rule.norms ? 0 : 1);
    if (rule.norms) result.apply = mixed(rule.apply, 1, 1);
    return result;
  }
  /// Parameters that are kept.
  static std::uint64_t stored(const OperationRequest& request) {
    if (request.mask != nullptr) return request.mask->nnz();
    return std::uint64_t{request.op.m} * request.op.k;
  }

  void lay_out();
  void share_norms();
  void place(TileId tile, std::uint64_t begin, std::uint64_t end);
  auto comparison() const;
  PlannedOperation finish();

  const OperationRequest& request_;
  const Rule rule_;
  const Target target_;
  const Numbers numbers_;
  ProgramBuilder builder_;
  VectorCodelets codelets_;
  ReduceCodelets reduce_;
  const std::uint64_t count_;
  const LinearMap map_;
  std::vector<TileId> tiles_;
  StateRegions regions_;
};

void OptimizerLowering::lay_out() {
  const std::uint64_t share = round_up(map_.share(), 4);
  const unsigned size = bytes_of(numbers_.weights);
  const unsigned singles = rule_.state + (rule_.norms ? 1 : 0);
  check_tile_bytes(request_.chip, request_.op, share * (2 * size + 4 * singles) + 4096);
  regions_.weights = numbers_.weights;
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t words) {
    const std::uint64_t begin = next;
    next += words;
    return static_cast<std::uint32_t>(begin);
  };
  for (unsigned v = 0; v < 2; ++v) regions_.at.at(v) = take(share * size / 4);
  for (unsigned v = 2; v < 2 + rule_.state; ++v) regions_.at.at(v) = take(share);
  if (rule_.norms) regions_.at[4] = take(share);
  builder_.operands(OperandBytes()
                        .add(Operand::weight, share * (size + 4 * rule_.state))
                        .add(Operand::input, share * (size + (rule_.norms ? 4 : 0))));
  regions_.squares = take(2);
  regions_.norms = take(2);
  regions_.end = static_cast<std::uint32_t>(next);
}

/// The squares of all tiles are summed in two stages and the sums sent back to all.
void OptimizerLowering::share_norms() {
  if (tiles_.empty()) return;
  const ColumnReduce sum(tiles_, 2, regions_.squares, regions_.end);
  regions_.end += sum.scratch_words();
  TransferList slices;
  sum.gather_slices(slices);
  std::uint32_t compute = builder_.compute_set("directions and squares");
  builder_.superstep(compute, builder_.exchange("squares", slices));
  TransferList parts;
  sum.sum_slices(builder_, reduce_, request_.values);
  sum.gather_parts(parts);
  compute = builder_.compute_set("reduce within clusters");
  builder_.superstep(compute, builder_.exchange("sums of clusters", parts));
  sum.sum_parts(builder_, reduce_, DType::fp32, request_.values);
  TransferList norms;
  for (const ColumnReduce::Piece& piece : sum.pieces()) {
    std::vector<Place> places;
    const auto to = static_cast<std::uint32_t>(regions_.norms + piece.begin);
    for (const TileId tile : tiles_) {
      if (tile != piece.tile) places.push_back({tile, to});
    }
    const auto words = static_cast<std::uint32_t>(piece.end - piece.begin);
    norms.add({piece.tile, piece.address}, words, places.data(), places.data() + places.size());
    const std::uint32_t copy =
        request_.values ? builder_.function(LocalCopy{piece.address, to, words}) : kNone;
    builder_.work(piece.tile, reduce_.copy_vertex(std::uint64_t{words} * 4), copy);
  }
  compute = builder_.compute_set("reduce");
  builder_.superstep(compute, builder_.exchange("norms", norms));
  map_.for_each(0, count_, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
    const std::uint32_t function =
        request_.values ? builder_.function(ApplyVertex{regions_, end - begin}) : kNone;
    builder_.work(tile, codelets_.shared_vertex(rule_.apply, end - begin), function);
  });
  builder_.superstep(builder_.compute_set("update"), kNone);
}

void OptimizerLowering::place(TileId tile, std::uint64_t begin, std::uint64_t end) {
  for (unsigned which = 0; which < 2 + rule_.state; ++which) {
    std::vector<float> values;
    for (std::uint64_t p = begin; p < end; ++p) {
      values.push_back(static_cast<float>(numbers_(which, p)));
    }
    builder_.program().images.push_back(
        {{tile, regions_.at.at(which)}, pack_words(values, numbers_.type(which))});
  }
}

/// Compares the weights of all tiles with those of the rule in double precision.
auto OptimizerLowering::comparison() const {
  return [map = map_, count = count_, regions = regions_, numbers = numbers_,
          rule = rule_](const ChipMemory& chip) {
    std::array<double, 2> squares{};
    const auto stepped = [&](std::uint64_t p) {
      return optimizer_step(rule.name, numbers(0, p), numbers(1, p),
                            rule.state > 0 ? numbers(2, p) : 0, rule.state > 1 ? numbers(3, p) : 0);
    };
    for (std::uint64_t p = 0; p < count && rule.norms; ++p) {
      squares[0] += numbers(0, p) * numbers(0, p);
      squares[1] += stepped(p).update * stepped(p).update;
    }
    const double ratio = rule.norms ? trust_ratio(squares[0], squares[1]) : 1;
    Comparison comparison;
    map.for_each(0, count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t p = begin; p < end; ++p) {
        const double exact = numbers(0, p) - OptimizerStep::kRate * ratio * stepped(p).update;
        const bool half = numbers.weights == DType::fp16;
        const double scale = RealOperands{numbers.sigma}.growth(2) * (half ? 0x1p-6 : 1);
        compare_element(comparison, regions.read(chip(tile), 0, p - begin), exact, numbers.weights,
                        half ? 2 : 64, scale);
      }
    });
    return comparison;
  };
}

PlannedOperation OptimizerLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = request_.values;
  program.memory_words = regions_.end;
  planned.types = {DType::fp32, DType::fp32};
  planned.lowered.tile_bytes = std::uint64_t{regions_.end} * 4;
  planned.lowered.output = numbers_.weights;
  planned.notes.emplace_back(
      "plan", fmt::format("{} parameters in {} on a tile, {} vectors of state in fp32",
                          map_.share(), word(numbers_.weights), rule_.state));
  planned.notes.emplace_back("limit of a vector", limit(rule_.step));
  const std::uint64_t vectors = codelets_.vectors_of(map_.share());
  const Cycle step = shared_clocks(request_.chip, target_, rule_.step, vectors);
  const Cycle apply = rule_.norms ? shared_clocks(request_.chip, target_, rule_.apply, vectors) : 0;
  planned.estimates = {{"total", step + apply}};
  const std::string* rounding = find_value(request_.op.args, "rounding");
  if (rounding != nullptr) {
    planned.round = *rounding == "stochastic" ? RoundMode::stochastic : RoundMode::nearest;
  }
  if (request_.values) planned.compare = comparison();
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_optimizer(const OperationRequest& request) {
  if (request.op.dtype != DType::fp32) {
    throw UnsupportedError(fmt::format("an IPU keeps the state of optimizers in fp32, not in {}",
                                       word(request.op.dtype)));
  }
  for (const Rule& rule : rules()) {
    if (request.op.fn == rule.name) return OptimizerLowering(request, rule).run();
  }
  throw UnsupportedError(fmt::format("an IPU does not run optim {}", request.op.fn));
}

}  // namespace lacuna::ipu
