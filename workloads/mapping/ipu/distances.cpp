// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/mapping/ceil_div.hpp"
#include "workloads/mapping/ipu/sampled.hpp"
#include "workloads/mapping/ipu/shared_region.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/mapping/ipu/vector_codelets.hpp"

namespace lacuna::ipu {
namespace {

double pair_distance(Distance distance, double w, double x) {
  const double d = w - x;
  return distance == Distance::l1 ? std::abs(d) : d * d;
}

/// A grid of x parts of the rows and y of the columns, and what its fullest tile takes.
struct Grid {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t rows = 1;     // of a tile
  std::uint64_t columns = 1;  // likewise
  Cycle inputs = 0;
  Cycle compute = 0;

  Cycle total() const { return inputs + compute; }
};

/// A tile's part: operands as {row or column, depth}, results as {row, column}.
struct DistanceVertex {
  DType type;
  Distance distance;
  std::uint64_t depth;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t w;  // elements from the beginning of the memory
  std::uint64_t x;
  std::uint64_t y;

  void operator()(TileMemory& memory) const {
    const std::uint64_t share = ceil_div(rows * columns, memory.rounding().workers());
    for (std::uint64_t p = 0; p < rows * columns; ++p) {
      memory.rounding().use_worker(static_cast<unsigned>(p / share));
      float sum = 0;
      for (std::uint64_t d = 0; d < depth; ++d) {
        const float a = read_element(memory, type, w + p / columns * depth + d);
        const float b = read_element(memory, type, x + p % columns * depth + d);
        sum += static_cast<float>(pair_distance(distance, a, b));
      }
      write_element(memory, type, y + p, sum);
    }
  }
};

class DistanceLowering {
 public:
  DistanceLowering(const ChipParams& chip, const PlannerParams& planner, const GemmProblem& problem,
                   Distance distance)
      : chip_(chip),
        target_(make_target(chip, planner)),
        problem_(problem),
        distance_(distance),
        size_(bytes_of(problem.dtype)),
        lanes_(8 / size_),
        steps_(ceil_div(problem.k, std::uint64_t{2} * lanes_)),
        depth_(steps_ * 2 * lanes_),
        builder_(chip) {}

  PlannedOperation plan() {
    choose_grid();
    lay_out();
    make_code();
    spread_operands();
    if (problem_.values) place_operands();
    compute();
    return finish();
  }

 private:
  void choose_grid();
  void lay_out();
  void make_code();
  void spread_operands();
  void place_operands();
  void compute();
  std::uint32_t vertex(std::uint64_t pairs);
  PlannedOperation finish();

  TileId tile(std::uint64_t x, std::uint64_t y) const {
    return static_cast<TileId>(y * grid_.x + x);
  }
  std::uint64_t rows_of(std::uint64_t x) const {
    return std::min<std::uint64_t>(grid_.rows, problem_.m - x * grid_.rows);
  }
  std::uint64_t columns_of(std::uint64_t y) const {
    return std::min<std::uint64_t>(grid_.columns, problem_.n - y * grid_.columns);
  }
  SharedRegion rows_region(std::uint64_t x) const {
    return {w_, rows_of(x) * depth_ * size_ / 4, grid_.y};
  }
  SharedRegion columns_region(std::uint64_t y) const {
    return {x_, columns_of(y) * depth_ * size_ / 4, grid_.x};
  }
  std::uint64_t elements(std::uint32_t region) const { return region * std::uint64_t{4} / size_; }

  const ChipParams& chip_;
  const Target target_;
  const GemmProblem problem_;
  const Distance distance_;
  const unsigned size_;
  const unsigned lanes_;
  const std::uint64_t steps_;  // of a pair, two vectors each
  const std::uint64_t depth_;  // elements, padded with zeros
  ProgramBuilder builder_;
  Grid grid_;
  std::uint32_t w_ = 0;  // regions, in words
  std::uint32_t x_ = 0;
  std::uint32_t y_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t supervisor_ = 0;  // codelets
  std::uint32_t worker_ = 0;
  std::map<std::uint64_t, std::uint32_t> vertices_;
};

void DistanceLowering::choose_grid() {
  const std::uint64_t pair = kDistancePair + steps_ * kDistanceStep;
  Cycle best = kNever;
  for (std::uint64_t x = 1; x <= std::min<std::uint64_t>(problem_.m, target_.tiles); ++x) {
    Grid grid;
    grid.rows = ceil_div(problem_.m, x);
    grid.columns = ceil_div(problem_.n, std::min<std::uint64_t>(problem_.n, target_.tiles / x));
    grid.x = ceil_div(problem_.m, grid.rows);
    grid.y = ceil_div(problem_.n, grid.columns);
    const std::uint64_t moved = (grid.y > 1 ? grid.rows : 0) + (grid.x > 1 ? grid.columns : 0);
    grid.inputs = moved * depth_ * size_ / target_.exchange_bytes;
    grid.compute = chip_.tile.launch + kVectorSupervisor +
                   target_.worker_clocks(
                       kVectorEntry + ceil_div(grid.rows * grid.columns, target_.workers) * pair);
    if (grid.total() >= best) continue;
    best = grid.total();
    grid_ = grid;
  }
}

void DistanceLowering::lay_out() {
  const std::uint64_t w = grid_.rows * depth_ * size_;
  const std::uint64_t x = grid_.columns * depth_ * size_;
  const std::uint64_t y = round_up(grid_.rows * grid_.columns * size_, 8);
  if (w + x + y > target_.tile_bytes) {
    throw OutOfMemoryError(
        fmt::format("distances of {} rows and {} columns of {} elements: {} bytes on a tile, "
                    "which has {}",
                    problem_.m, problem_.n, problem_.k, w + x + y, target_.tile_bytes));
  }
  x_ = static_cast<std::uint32_t>(w / 4);
  y_ = static_cast<std::uint32_t>((w + x) / 4);
  end_ = static_cast<std::uint32_t>((w + x + y) / 4);
  builder_.operands(
      OperandBytes().add(Operand::weight, w).add(Operand::input, x).add(Operand::output, y));
}

// A worker's argument 0: its pairs.
void DistanceLowering::make_code() {
  const bool half = problem_.dtype == DType::fp16;
  const Tally sums = half ? Tally::vec_add_fp16 : Tally::vec_add_fp32;
  const Tally products = half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32;
  const std::uint32_t overhead = builder_.bundle(Bundle("distance overhead"));
  const std::uint32_t differ = builder_.bundle(Bundle("distance difference")
                                                   .add(Tally::read_weight, 1)
                                                   .add(Tally::read_input, 1)
                                                   .add(sums, lanes_));
  const std::uint32_t accumulate = builder_.bundle(
      Bundle("distance accumulate")
          .add(distance_ == Distance::l1 ? sums : products, std::uint64_t{2} * lanes_));
  const std::uint32_t store = builder_.bundle(
      Bundle("distance store").add(Tally::write_output, 1).add(Tally::round_fp16, half ? 1 : 0));
  worker_ = builder_.codelet({issue(overhead, kVectorEntry), loop(6, 0, 0), issue(overhead, 6),
                              loop(2, static_cast<std::int32_t>(steps_)), issue(differ, 2),
                              issue(accumulate, 1), issue(overhead, 2), issue(store, 1)});
  supervisor_ = builder_.codelet({issue(overhead, kVectorSupervisor), run(0)});
}

void DistanceLowering::spread_operands() {
  TransferList list;
  std::vector<TileId> sharers;
  for (std::uint64_t x = 0; x < grid_.x; ++x) {
    sharers.clear();
    for (std::uint64_t y = 0; y < grid_.y; ++y) sharers.push_back(tile(x, y));
    spread(rows_region(x), sharers, list);
  }
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    sharers.clear();
    for (std::uint64_t x = 0; x < grid_.x; ++x) sharers.push_back(tile(x, y));
    spread(columns_region(y), sharers, list);
  }
  builder_.superstep(kNone, builder_.exchange("operands", list));
}

void DistanceLowering::place_operands() {
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    for (std::uint64_t x = 0; x < grid_.x; ++x) {
      place_share(builder_.program(), rows_region(x), tile(x, y), y, problem_.dtype,
                  [&](std::uint64_t e) {
                    if (e % depth_ >= problem_.k) return 0.0F;
                    const std::uint64_t row = x * grid_.rows + e / depth_;
                    return sampled_left(problem_, row * problem_.k + e % depth_);
                  });
      place_share(builder_.program(), columns_region(y), tile(x, y), x, problem_.dtype,
                  [&](std::uint64_t e) {
                    if (e % depth_ >= problem_.k) return 0.0F;
                    const std::uint64_t column = y * grid_.columns + e / depth_;
                    return sampled_right(problem_, e % depth_ * problem_.n + column);
                  });
    }
  }
}

std::uint32_t DistanceLowering::vertex(std::uint64_t pairs) {
  const auto found = vertices_.find(pairs);
  if (found != vertices_.end()) return found->second;
  const std::uint64_t share = ceil_div(pairs, target_.workers);
  std::vector<std::uint32_t> set;
  for (unsigned w = 0; w < target_.workers; ++w) {
    const std::uint64_t mine = std::min(share, pairs - std::min(pairs, w * share));
    set.push_back(builder_.worker({{worker_, {static_cast<std::uint32_t>(mine), 0, 0}}}));
  }
  return vertices_[pairs] = builder_.vertex({{supervisor_, {}}}, set);
}

void DistanceLowering::compute() {
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    for (std::uint64_t x = 0; x < grid_.x; ++x) {
      std::uint32_t function = kNone;
      if (problem_.values) {
        function = builder_.function(DistanceVertex{problem_.dtype, distance_, depth_, rows_of(x),
                                                    columns_of(y), elements(w_), elements(x_),
                                                    elements(y_)});
      }
      builder_.work(tile(x, y), vertex(rows_of(x) * columns_of(y)), function);
    }
  }
  builder_.superstep(builder_.compute_set("distances"), kNone);
}

PlannedOperation DistanceLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = problem_.values;
  program.memory_words = end_;
  planned.types = {problem_.dtype, DType::fp32};
  planned.lowered.tiles_used = static_cast<unsigned>(grid_.x * grid_.y);
  planned.lowered.tile_bytes = std::uint64_t{end_} * 4;
  planned.lowered.output = problem_.dtype;
  planned.lowered.place = [grid = grid_, base = elements(y_), n = problem_.n](
                              std::uint32_t row, std::uint32_t column) -> OutputPlace {
    const std::uint64_t x = row / grid.rows;
    const std::uint64_t y = column / grid.columns;
    const std::uint64_t width = std::min<std::uint64_t>(grid.columns, n - y * grid.columns);
    return {static_cast<TileId>(y * grid.x + x),
            base + row % grid.rows * width + column % grid.columns};
  };
  planned.notes.emplace_back("plan", fmt::format("rows {} x columns {} parts, {} pairs on a tile",
                                                 grid_.x, grid_.y, grid_.rows * grid_.columns));
  planned.estimates = {
      {"operands", grid_.inputs}, {"distances", grid_.compute}, {"total", grid_.total()}};
  if (problem_.values) {
    planned.compare = [problem = problem_, distance = distance_,
                       place = planned.lowered.place](const ChipMemory& chip) {
      Comparison comparison;
      compare_distances(comparison, problem, distance,
                        [&](std::uint32_t row, std::uint32_t column) -> double {
                          const OutputPlace at = place(row, column);
                          return read_element(chip(at.tile), problem.dtype, at.index);
                        });
      return comparison;
    };
  }
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_distances(const ChipParams& chip, const PlannerParams& planner,
                                const GemmProblem& problem, Distance distance) {
  if (problem.mask != nullptr) {
    throw UnsupportedError("an IPU computes distances (bmm l1, l2) of dense operands alone");
  }
  return DistanceLowering(chip, planner, problem, distance).plan();
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
