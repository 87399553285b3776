// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/distance_gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"
#include "workloads/mapping/ipu/pair_grid.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"
#include "workloads/mapping/ipu/sampled/sampled.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kStores = 2;  // of 64 bits, of a group in its own type
constexpr std::uint64_t kOwn = 1;     // the load of the own vectors of a group

/// Element p of P: it lies behind X in the stream of numbers that X is of.
float own_value(const GemmProblem& problem, std::uint64_t p) {
  return sampled_right(problem, std::uint64_t{problem.k} * problem.n + p);
}

/// A tile's part: G {row, depth}, X {k, column}, P and Y {row, column}.
struct GradientVertex {
  DType type;
  DType stored;
  Distance distance;
  std::uint64_t k;
  std::uint64_t depth;  // of a row of G, with padding
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t width;  // of a group
  PairPlaces at;

  void operator()(TileMemory& memory) const {
    const std::uint64_t share = ceil_div(rows * columns / width, memory.rounding().workers());
    for (std::uint64_t p = 0; p < rows * columns; ++p) {
      memory.rounding().use_worker(static_cast<unsigned>(p / width / share));
      const std::uint64_t row = p / columns;
      const std::uint64_t column = p % columns;
      const float mine = read_element(memory, type, at.own + p);
      float sum = 0;
      for (std::uint64_t d = 0; d < k; ++d) {
        const float other = read_element(memory, type, at.right + d * columns + column);
        const float weight = read_element(memory, type, at.left + row * depth + d);
        sum += static_cast<float>(weight * distance_slope(distance, mine, other));
      }
      write_element(memory, stored, at.sums + p, sum);
    }
  }
};

class GradientKernel : public PairKernel {
 public:
  GradientKernel(const Target& target, const GemmProblem& problem, Distance distance)
      : target_(target),
        problem_(problem),
        distance_(distance),
        cost_(distance_gradient_bundles(problem.dtype, distance)) {}

  std::string name() const override { return "gradient of distances"; }
  std::uint64_t width() const override { return cost_.columns; }
  std::uint64_t grain() const override { return cost_.columns; }
  bool right_by_columns() const override { return false; }
  bool has_own() const override { return true; }
  float own(std::uint64_t position) const override { return own_value(problem_, position); }
  std::uint64_t bundles(const PairPart& part, DType stored) const override;
  void write(ProgramBuilder& builder, DType stored) override;
  std::uint32_t vertex(ProgramBuilder& builder, const PairPart& part) override;
  VertexFunction function(const PairPart& part, const PairPlaces& places,
                          DType stored) const override {
    return GradientVertex{problem_.dtype,
                          stored,
                          distance_,
                          part.depth,
                          round_up(part.depth, grain()),
                          part.rows,
                          part.groups * cost_.columns,
                          cost_.columns,
                          places};
  }
  std::function<void(Comparison&, const Read&)> comparison() const override {
    return [problem = problem_, distance = distance_](Comparison& comparison, const Read& read) {
      compare_distance_gradient(comparison, problem, distance, read);
    };
  }

 private:
  /// Stores of 64 bits, of a group.
  std::uint64_t stores(DType stored) const { return cost_.columns * bytes_of(stored) / 8; }
  std::uint32_t store_bundle(ProgramBuilder& builder, DType stored) const;
  std::uint32_t worker(ProgramBuilder& builder, std::uint64_t begin, std::uint64_t end,
                       const PairPart& part);

  const Target target_;
  const GemmProblem problem_;
  const Distance distance_;
  const DistanceGradientBundles cost_;
  std::uint32_t supervisor_ = 0;  // codelets
  std::uint32_t enter_ = 0;
  std::uint32_t rows_ = 0;
  std::map<std::array<std::uint64_t, 3>, std::uint32_t> vertices_;
};

std::uint64_t GradientKernel::bundles(const PairPart& part, DType stored) const {
  const std::uint64_t share = ceil_div(part.rows * part.groups, target_.workers);
  // A worker begins and ends within a row.
  const std::uint64_t rows = std::min(share, ceil_div(share, part.groups) + 1);
  const std::uint64_t group = cost_.group - kStores + stores(stored) + part.depth * cost_.step;
  return cost_.entry + std::min(rows, part.rows) * cost_.row + share * group;
}

std::uint32_t GradientKernel::store_bundle(ProgramBuilder& builder, DType stored) const {
  const bool half = problem_.dtype == DType::fp16;
  Bundle store("gradient store");
  store.add(stored == problem_.dtype ? Tally::write_output : Tally::write_partial, 1);
  store.add(Tally::round_fp16, halves_of(stored, 1));
  if (distance_ == Distance::l2) {  // the two of the derivative
    store.add(half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32, cost_.columns / stores(stored));
  }
  return builder.bundle(std::move(store));
}

// Arguments of the rows: how many, their groups, and elements of the contraction.
void GradientKernel::write(ProgramBuilder& builder, DType stored) {
  const bool half = problem_.dtype == DType::fp16;
  const Tally sums = half ? Tally::vec_add_fp16 : Tally::vec_add_fp32;
  const Tally products = half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32;
  const unsigned lanes = cost_.columns / 2;
  const auto plain = [&](const char* name, Tally tally, std::uint64_t n) {
    return builder.bundle(Bundle(name).add(tally, n));
  };
  const std::uint32_t overhead = builder.bundle(Bundle("gradient overhead"));
  const std::uint32_t own = builder.bundle(Bundle("gradient own").add(Tally::read_input, 2));
  // Both vectors of the others come with the first, the gradient with the second.
  const std::uint32_t first =
      builder.bundle(Bundle("gradient others").add(Tally::read_input, 2).add(sums, lanes));
  const std::uint32_t second =
      builder.bundle(Bundle("gradient weight").add(Tally::read_weight, 1).add(sums, lanes));
  Codelet step{issue(first, 1), issue(second, 1)};
  if (distance_ == Distance::l1) {
    step.push_back(issue(plain("gradient compare", sums, lanes), 2));
    step.push_back(issue(plain("gradient mask", Tally::vec_int, lanes), 4));
    step.push_back(issue(plain("gradient difference", sums, lanes), 2));
  } else {
    step.push_back(issue(plain("gradient product", products, lanes), 2));
  }
  step.push_back(issue(plain("gradient accumulate", sums, cost_.columns), 1));
  const auto body = static_cast<std::uint32_t>(step.size());
  Codelet rows{loop(body + 6, 0, 0),    issue(overhead, count(cost_.row)),
               loop(body + 4, 0, 1),    issue(overhead, count(cost_.group - kOwn - kStores)),
               issue(own, count(kOwn)), loop(body, 0, 2)};
  rows.insert(rows.end(), step.begin(), step.end());
  rows.push_back(issue(store_bundle(builder, stored), count(stores(stored))));
  rows_ = builder.codelet(std::move(rows));
  enter_ = builder.codelet({issue(overhead, count(cost_.entry))});
  supervisor_ = builder.codelet({issue(overhead, kVectorSupervisor), run(0)});
}

/// The worker of groups [begin, end), row by row: its part of the first row, whole rows, its part
/// of the last row.
std::uint32_t GradientKernel::worker(ProgramBuilder& builder, std::uint64_t begin,
                                     std::uint64_t end, const PairPart& part) {
  std::vector<Call> calls{{enter_, {}}};
  const auto add = [&](std::uint64_t rows, std::uint64_t each) {
    if (rows == 0 || each == 0) return;
    calls.push_back({rows_,
                     {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(each),
                      static_cast<std::uint32_t>(part.depth)}});
  };
  const std::uint64_t first_whole = ceil_div(begin, part.groups);
  const std::uint64_t last_whole = end / part.groups;
  if (first_whole > last_whole) {
    add(1, end - begin);
  } else {
    add(1, first_whole * part.groups - begin);
    add(last_whole - first_whole, part.groups);
    add(1, end - last_whole * part.groups);
  }
  return builder.worker(calls);
}

std::uint32_t GradientKernel::vertex(ProgramBuilder& builder, const PairPart& part) {
  const std::array<std::uint64_t, 3> key{part.rows, part.groups, part.depth};
  const auto found = vertices_.find(key);
  if (found != vertices_.end()) return found->second;
  const std::uint64_t all = part.rows * part.groups;
  const std::uint64_t share = ceil_div(all, target_.workers);
  std::vector<std::uint32_t> set;
  for (unsigned w = 0; w < target_.workers; ++w) {
    set.push_back(worker(builder, std::min(all, w * share), std::min(all, (w + 1) * share), part));
  }
  return vertices_[key] = builder.vertex({{supervisor_, {}}}, set);
}

}  // namespace

double distance_slope(Distance distance, double own, double other) {
  if (distance == Distance::l2) return 2 * (own - other);
  return own > other ? 1 : own < other ? -1 : 0;
}

DistanceGradientBundles distance_gradient_bundles(DType type, Distance distance) {
  const std::uint64_t step = distance == Distance::l2 ? 2 * 2 + 1 : 2 * 5 + 1;
  if (type == DType::fp16) return {33, 12, 11 + kOwn, step, 8};
  return {31, 12, 7 + kOwn, step, 4};
}

PlannedOperation plan_distance_gradient(const ChipParams& chip, const PlannerParams& planner,
                                        const GemmProblem& problem, Distance distance) {
  GradientKernel kernel(make_target(chip, planner), problem, distance);
  return plan_pairs(chip, planner, problem, kernel);
}

void compare_distance_gradient(
    Comparison& comparison, const GemmProblem& problem, Distance distance,
    const std::function<double(std::uint32_t row, std::uint32_t column)>& read) {
  const std::uint64_t n = problem.n;
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint32_t column = 0; column < problem.n; ++column) {
      const double own = own_value(problem, row * n + column);
      double exact = 0;
      double magnitude = 0;
      for (std::uint64_t d = 0; d < problem.k; ++d) {
        const double term = sampled_left(problem, row * std::uint64_t{problem.k} + d) *
                            distance_slope(distance, own, sampled_right(problem, d * n + column));
        exact += term;
        magnitude += std::abs(term);
      }
      compare_sum(comparison, problem, read(row, column), exact, magnitude);
    }
  }
}

}  // namespace lacuna::ipu
