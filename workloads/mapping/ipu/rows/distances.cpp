// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/distances.hpp"

#include <algorithm>
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

double pair_distance(Distance distance, double w, double x) {
  const double d = w - x;
  return distance == Distance::l1 ? std::abs(d) : d * d;
}

/// A tile's part: operands as {row or column, depth}, results as {row, column}.
struct DistanceVertex {
  DType type;
  DType stored;
  Distance distance;
  std::uint64_t depth;  // with padding
  std::uint64_t rows;
  std::uint64_t columns;
  PairPlaces at;

  void operator()(TileMemory& memory) const {
    const std::uint64_t share = ceil_div(rows * columns, memory.rounding().workers());
    for (std::uint64_t p = 0; p < rows * columns; ++p) {
      memory.rounding().use_worker(static_cast<unsigned>(p / share));
      float sum = 0;
      for (std::uint64_t d = 0; d < depth; ++d) {
        const float a = read_element(memory, type, at.left + p / columns * depth + d);
        const float b = read_element(memory, type, at.right + p % columns * depth + d);
        sum += static_cast<float>(pair_distance(distance, a, b));
      }
      write_element(memory, stored, at.sums + p, sum);
    }
  }
};

class DistanceKernel : public PairKernel {
 public:
  DistanceKernel(const Target& target, const GemmProblem& problem, Distance distance)
      : target_(target),
        problem_(problem),
        distance_(distance),
        lanes_(8 / bytes_of(problem.dtype)) {}

  std::string name() const override { return "distances"; }
  std::uint64_t width() const override { return 1; }
  std::uint64_t grain() const override { return std::uint64_t{2} * lanes_; }
  bool right_by_columns() const override { return true; }
  std::uint64_t bundles(const PairPart& part, DType /*stored*/) const override {
    const std::uint64_t pairs = ceil_div(part.rows * part.groups, target_.workers);
    return kVectorEntry + pairs * (kDistancePair + steps_of(part) * kDistanceStep);
  }
  void write(ProgramBuilder& builder, DType stored) override;
  std::uint32_t vertex(ProgramBuilder& builder, const PairPart& part) override;
  VertexFunction function(const PairPart& part, const PairPlaces& places,
                          DType stored) const override {
    const std::uint64_t depth = steps_of(part) * grain();
    return DistanceVertex{problem_.dtype, stored, distance_, depth, part.rows, part.groups, places};
  }
  std::function<void(Comparison&, const Read&)> comparison() const override {
    return [problem = problem_, distance = distance_](Comparison& comparison, const Read& read) {
      compare_distances(comparison, problem, distance, read);
    };
  }

 private:
  std::uint64_t steps_of(const PairPart& part) const { return ceil_div(part.depth, grain()); }

  const Target target_;
  const GemmProblem problem_;
  const Distance distance_;
  const unsigned lanes_;
  std::uint32_t supervisor_ = 0;  // codelets
  std::uint32_t worker_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> vertices_;
};

// A worker's arguments: its pairs, and two vectors of each.
void DistanceKernel::write(ProgramBuilder& builder, DType stored) {
  const bool half = problem_.dtype == DType::fp16;
  const Tally sums = half ? Tally::vec_add_fp16 : Tally::vec_add_fp32;
  const Tally products = half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32;
  const std::uint32_t overhead = builder.bundle(Bundle("distance overhead"));
  const std::uint32_t differ = builder.bundle(Bundle("distance difference")
                                                  .add(Tally::read_weight, 1)
                                                  .add(Tally::read_input, 1)
                                                  .add(sums, lanes_));
  const std::uint32_t accumulate = builder.bundle(
      Bundle("distance accumulate")
          .add(distance_ == Distance::l1 ? sums : products, std::uint64_t{2} * lanes_));
  // Of a cut contraction the sum stays as it was formed.
  const bool cut = stored != problem_.dtype;
  const std::uint32_t store =
      builder.bundle(Bundle("distance store")
                         .add(cut ? Tally::write_partial : Tally::write_output, 1)
                         .add(Tally::round_fp16, stored == DType::fp16 ? 1 : 0));
  worker_ = builder.codelet({issue(overhead, kVectorEntry), loop(6, 0, 0), issue(overhead, 6),
                             loop(2, 0, 1), issue(differ, 2), issue(accumulate, 1),
                             issue(overhead, 2), issue(store, 1)});
  supervisor_ = builder.codelet({issue(overhead, kVectorSupervisor), run(0)});
}

std::uint32_t DistanceKernel::vertex(ProgramBuilder& builder, const PairPart& part) {
  const std::uint64_t pairs = part.rows * part.groups;
  const auto steps = static_cast<std::uint32_t>(steps_of(part));
  return once(vertices_, {pairs, steps}, [&] {
    const std::uint64_t share = ceil_div(pairs, target_.workers);
    std::vector<std::uint32_t> set;
    for (unsigned w = 0; w < target_.workers; ++w) {
      const std::uint64_t mine = std::min(share, pairs - std::min(pairs, w * share));
      set.push_back(builder.worker({{worker_, {static_cast<std::uint32_t>(mine), steps, 0}}}));
    }
    return builder.vertex({{supervisor_, {}}}, set);
  });
}

}  // namespace

PlannedOperation plan_distances(const ChipParams& chip, const PlannerParams& planner,
                                const GemmProblem& problem, Distance distance) {
  DistanceKernel kernel(make_target(chip, planner), problem, distance);
  return plan_pairs(chip, planner, problem, kernel);
}

void compare_distances(Comparison& comparison, const GemmProblem& problem, Distance distance,
                       const std::function<double(std::uint32_t row, std::uint32_t column)>& read) {
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint32_t column = 0; column < problem.n; ++column) {
      double exact = 0;
      for (std::uint64_t d = 0; d < problem.k; ++d) {
        exact += pair_distance(distance, sampled_left(problem, row * std::uint64_t{problem.k} + d),
                               sampled_right(problem, d * problem.n + column));
      }
      compare_sum(comparison, problem, read(row, column), exact, exact);
    }
  }
}

}  // namespace lacuna::ipu
