// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/mapping/ceil_div.hpp"
#include "workloads/mapping/ipu/column_reduce.hpp"
#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/mapping/ipu/vector_codelets.hpp"
#include "workloads/mapping/optimizer_step.hpp"

namespace lacuna::ipu {
namespace {

/// Instructions of each vector of parameters: the step up to the direction of the update, and
/// what follows when LAMB knows the norms. A product and a sum with one of its operands are one
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

double operand(std::uint64_t seed, unsigned which, std::uint64_t p) {
  const double value = real_operand(seed + which, p);
  return which == 3 ? std::abs(value) : value;  // second moments are not negative
}

/// Where a tile has its parameters: weight, gradient, moments, the direction of the update, in
/// FP32, then the two sums of squares, its own and those of all.
struct Regions {
  std::array<std::uint32_t, 5> at{};
  std::uint32_t squares = 0;
  std::uint32_t norms = 0;
  std::uint32_t end = 0;
};

struct StepVertex {
  const Rule* rule;
  Regions regions;
  std::uint64_t count;

  void operator()(TileMemory& memory) const {
    std::array<double, 2> squares{};
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto read = [&](unsigned which) -> double {
        return which < 2 + rule->state ? memory.real(regions.at.at(which) + i) : 0;
      };
      const OptimizerStep p = optimizer_step(rule->name, read(0), read(1), read(2), read(3));
      squares[0] += read(0) * read(0);
      squares[1] += p.update * p.update;
      if (!rule->norms) memory.set_real(regions.at[0] + i, static_cast<float>(p.weight));
      if (rule->state > 0) memory.set_real(regions.at[2] + i, static_cast<float>(p.first));
      if (rule->state > 1) memory.set_real(regions.at[3] + i, static_cast<float>(p.second));
      if (rule->norms) memory.set_real(regions.at[4] + i, static_cast<float>(p.update));
    }
    for (unsigned s = 0; s < 2 && rule->norms; ++s) {
      memory.set_real(regions.squares + s, static_cast<float>(squares.at(s)));
    }
  }
};

struct ApplyVertex {
  Regions regions;
  std::uint64_t count;

  void operator()(TileMemory& memory) const {
    const double ratio = trust_ratio(memory.real(regions.norms), memory.real(regions.norms + 1));
    for (std::uint64_t i = 0; i < count; ++i) {
      const double w = memory.real(regions.at[0] + i);
      memory.set_real(
          regions.at[0] + i,
          static_cast<float>(w - OptimizerStep::kRate * ratio * memory.real(regions.at[4] + i)));
    }
  }
};

class OptimizerLowering {
 public:
  OptimizerLowering(const OperationRequest& request, const Rule& rule)
      : request_(request),
        rule_(rule),
        target_(make_target(request.chip, request.planner)),
        builder_(request.chip),
        codelets_(builder_, target_, DType::fp32),
        reduce_(builder_, target_, {DType::fp32, DType::fp32}, DType::fp32),
        count_(stored(request) * request.op.batch),
        map_(count_, codelets_.width(), target_.tiles) {}

  PlannedOperation run() {
    lay_out();
    map_.for_each(0, count_, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
      const std::uint32_t function =
          request_.values ? builder_.function(StepVertex{&rule_, regions_, end - begin}) : kNone;
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
  /// Parameters that are kept.
  static std::uint64_t stored(const OperationRequest& request) {
    if (request.mask != nullptr) return request.mask->nnz();
    return std::uint64_t{request.op.m} * request.op.k;
  }

  void lay_out();
  void share_norms();
  void place(TileId tile, std::uint64_t begin, std::uint64_t end);
  PlannedOperation finish();

  const OperationRequest& request_;
  const Rule& rule_;
  const Target target_;
  ProgramBuilder builder_;
  VectorCodelets codelets_;
  ReduceCodelets reduce_;
  const std::uint64_t count_;
  const LinearMap map_;
  std::vector<TileId> tiles_;
  Regions regions_;
};

void OptimizerLowering::lay_out() {
  const std::uint64_t share = round_up(map_.share(), 2);
  const unsigned vectors = 2 + rule_.state + (rule_.norms ? 1 : 0);
  check_tile_bytes(request_.chip, request_.op, share * 4 * vectors + 4096);
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t words) {
    const std::uint64_t begin = next;
    next += words;
    return static_cast<std::uint32_t>(begin);
  };
  for (unsigned v = 0; v < 2 + rule_.state; ++v) regions_.at.at(v) = take(share);
  if (rule_.norms) regions_.at[4] = take(share);
  builder_.operands(OperandBytes()
                        .add(Operand::weight, share * 4 * (1 + rule_.state))
                        .add(Operand::input, share * 4 * (rule_.norms ? 2 : 1)));
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
      values.push_back(static_cast<float>(operand(request_.seed, which, p)));
    }
    builder_.program().images.push_back(
        {{tile, regions_.at.at(which)}, pack_words(values, DType::fp32)});
  }
}

PlannedOperation OptimizerLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = request_.values;
  program.memory_words = regions_.end;
  planned.types = {DType::fp32, DType::fp32};
  planned.lowered.tile_bytes = std::uint64_t{regions_.end} * 4;
  planned.lowered.output = DType::fp32;
  planned.notes.emplace_back(
      "plan", fmt::format("{} parameters on a tile, {} vectors of state in fp32", map_.share(),
                          rule_.state));
  if (request_.values) {
    planned.compare = [map = map_, count = count_, regions = regions_, seed = request_.seed,
                       rule = &rule_](const ChipMemory& chip) {
      std::array<double, 2> squares{};
      const auto stepped = [&](std::uint64_t p) {
        return optimizer_step(rule->name, operand(seed, 0, p), operand(seed, 1, p),
                              rule->state > 0 ? operand(seed, 2, p) : 0,
                              rule->state > 1 ? operand(seed, 3, p) : 0);
      };
      for (std::uint64_t p = 0; p < count && rule->norms; ++p) {
        squares[0] += operand(seed, 0, p) * operand(seed, 0, p);
        squares[1] += stepped(p).update * stepped(p).update;
      }
      const double ratio = rule->norms ? trust_ratio(squares[0], squares[1]) : 1;
      Comparison comparison;
      map.for_each(0, count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t p = begin; p < end; ++p) {
          const double exact =
              operand(seed, 0, p) - OptimizerStep::kRate * ratio * stepped(p).update;
          compare_element(comparison, chip(tile).real(regions.at[0] + p - begin), exact,
                          DType::fp32, 64, 1);
        }
      });
      return comparison;
    };
  }
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
