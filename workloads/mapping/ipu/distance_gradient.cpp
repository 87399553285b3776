// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/distance_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/mapping/ceil_div.hpp"
#include "workloads/mapping/ipu/sampled.hpp"
#include "workloads/mapping/ipu/shared_region.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/mapping/ipu/vector_codelets.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kStores = 2;  // of 64 bits, of a group
constexpr std::uint64_t kOwn = 1;     // the load of the own vectors of a group

std::int32_t count(std::uint64_t n) { return static_cast<std::int32_t>(n); }

/// Element p of P: it lies behind X in the stream of numbers that X is of.
float own_value(const GemmProblem& problem, std::uint64_t p) {
  return sampled_right(problem, std::uint64_t{problem.k} * problem.n + p);
}

/// A grid of x parts of the rows and y of the groups of columns, and what its fullest tile takes.
struct Grid {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t rows = 1;    // of a tile
  std::uint64_t groups = 1;  // likewise
  Cycle inputs = 0;
  Cycle compute = 0;

  Cycle total() const { return inputs + compute; }
};

/// A tile's part: G {row, depth}, X {k, column}, P and Y {row, column}. Addresses in elements.
struct GradientVertex {
  DType type;
  Distance distance;
  std::uint64_t k;
  std::uint64_t depth;  // of a row of G, with padding
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t width;  // of a group
  std::uint64_t g;
  std::uint64_t x;
  std::uint64_t own;
  std::uint64_t y;

  void operator()(TileMemory& memory) const {
    const std::uint64_t share = ceil_div(rows * columns / width, memory.rounding().workers());
    for (std::uint64_t p = 0; p < rows * columns; ++p) {
      memory.rounding().use_worker(static_cast<unsigned>(p / width / share));
      const std::uint64_t row = p / columns;
      const std::uint64_t column = p % columns;
      const float mine = read_element(memory, type, own + p);
      float sum = 0;
      for (std::uint64_t d = 0; d < k; ++d) {
        const float other = read_element(memory, type, x + d * columns + column);
        const float weight = read_element(memory, type, g + row * depth + d);
        sum += static_cast<float>(weight * distance_slope(distance, mine, other));
      }
      write_element(memory, type, y + p, sum);
    }
  }
};

class GradientLowering {
 public:
  GradientLowering(const ChipParams& chip, const PlannerParams& planner, const GemmProblem& problem,
                   Distance distance)
      : chip_(chip),
        target_(make_target(chip, planner)),
        problem_(problem),
        distance_(distance),
        size_(bytes_of(problem.dtype)),
        cost_(distance_gradient_bundles(problem.dtype, distance)),
        groups_(ceil_div(problem.n, cost_.columns)),
        depth_(round_up(problem.k, cost_.columns)),
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
  std::uint32_t store_bundle();
  void spread_operands();
  void place_operands();
  void compute();
  std::uint32_t vertex(std::uint64_t rows, std::uint64_t groups);
  std::uint32_t worker(std::uint64_t begin, std::uint64_t end, std::uint64_t groups);
  PlannedOperation finish();

  TileId tile(std::uint64_t x, std::uint64_t y) const {
    return static_cast<TileId>(y * grid_.x + x);
  }
  std::uint64_t rows_of(std::uint64_t x) const {
    return std::min<std::uint64_t>(grid_.rows, problem_.m - x * grid_.rows);
  }
  std::uint64_t groups_of(std::uint64_t y) const {
    return std::min<std::uint64_t>(grid_.groups, groups_ - y * grid_.groups);
  }
  std::uint64_t columns_of(std::uint64_t y) const { return groups_of(y) * cost_.columns; }
  SharedRegion gradients(std::uint64_t x) const {
    return {g_, rows_of(x) * depth_ * size_ / 4, grid_.y};
  }
  SharedRegion others(std::uint64_t y) const {
    return {x_, problem_.k * columns_of(y) * size_ / 4, grid_.x};
  }
  std::uint64_t elements(std::uint32_t region) const { return region * std::uint64_t{4} / size_; }

  const ChipParams& chip_;
  const Target target_;
  const GemmProblem problem_;
  const Distance distance_;
  const unsigned size_;
  const DistanceGradientBundles cost_;
  const std::uint64_t groups_;  // of columns
  const std::uint64_t depth_;   // of a row of gradients, padded with zeros
  ProgramBuilder builder_;
  Grid grid_;
  std::uint32_t g_ = 0;  // regions, in words
  std::uint32_t x_ = 0;
  std::uint32_t own_ = 0;
  std::uint32_t y_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t supervisor_ = 0;  // codelets
  std::uint32_t enter_ = 0;
  std::uint32_t rows_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> vertices_;
};

void GradientLowering::choose_grid() {
  Cycle best = kNever;
  for (std::uint64_t x = 1; x <= std::min<std::uint64_t>(problem_.m, target_.tiles); ++x) {
    Grid grid;
    grid.rows = ceil_div(problem_.m, x);
    grid.groups = ceil_div(groups_, std::min<std::uint64_t>(groups_, target_.tiles / x));
    grid.x = ceil_div(problem_.m, grid.rows);
    grid.y = ceil_div(groups_, grid.groups);
    const std::uint64_t moved = (grid.y > 1 ? grid.rows * depth_ : 0) +
                                (grid.x > 1 ? grid.groups * cost_.columns * problem_.k : 0);
    grid.inputs = moved * size_ / target_.exchange_bytes;
    const std::uint64_t share = ceil_div(grid.rows * grid.groups, target_.workers);
    // A worker begins and ends within a row.
    const std::uint64_t rows = std::min(share, ceil_div(share, grid.groups) + 1);
    grid.compute = chip_.tile.launch + kVectorSupervisor +
                   target_.worker_clocks(cost_.entry + std::min(rows, grid.rows) * cost_.row +
                                         share * (cost_.group + problem_.k * cost_.step));
    if (grid.total() >= best) continue;
    best = grid.total();
    grid_ = grid;
  }
}

void GradientLowering::lay_out() {
  const std::uint64_t columns = grid_.groups * cost_.columns;
  const std::uint64_t g = grid_.rows * depth_ * size_;
  const std::uint64_t x = problem_.k * columns * size_;
  const std::uint64_t y = grid_.rows * columns * size_;
  if (g + x + 2 * y > target_.tile_bytes) {
    throw OutOfMemoryError(
        fmt::format("gradient of distances, {} rows and {} columns, {} each: {} bytes on a tile, "
                    "which has {}",
                    problem_.m, problem_.n, problem_.k, g + x + 2 * y, target_.tile_bytes));
  }
  x_ = static_cast<std::uint32_t>(g / 4);
  own_ = static_cast<std::uint32_t>((g + x) / 4);
  y_ = static_cast<std::uint32_t>((g + x + y) / 4);
  end_ = static_cast<std::uint32_t>((g + x + 2 * y) / 4);
  builder_.operands(
      OperandBytes().add(Operand::weight, g).add(Operand::input, x + y).add(Operand::output, y));
}

std::uint32_t GradientLowering::store_bundle() {
  const bool half = problem_.dtype == DType::fp16;
  Bundle store("gradient store");
  store.add(Tally::write_output, 1).add(Tally::round_fp16, halves_of(problem_.dtype, 1));
  if (distance_ == Distance::l2) {  // the two of the derivative
    store.add(half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32, cost_.columns / 2);
  }
  return builder_.bundle(std::move(store));
}

// Arguments of the rows: how many, and their groups.
void GradientLowering::make_code() {
  const bool half = problem_.dtype == DType::fp16;
  const Tally sums = half ? Tally::vec_add_fp16 : Tally::vec_add_fp32;
  const Tally products = half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32;
  const unsigned lanes = cost_.columns / 2;
  const auto plain = [&](const char* name, Tally tally, std::uint64_t n) {
    return builder_.bundle(Bundle(name).add(tally, n));
  };
  const std::uint32_t overhead = builder_.bundle(Bundle("gradient overhead"));
  const std::uint32_t own = builder_.bundle(Bundle("gradient own").add(Tally::read_input, 2));
  // Both vectors of the others come with the first, the gradient with the second.
  const std::uint32_t first =
      builder_.bundle(Bundle("gradient others").add(Tally::read_input, 2).add(sums, lanes));
  const std::uint32_t second =
      builder_.bundle(Bundle("gradient weight").add(Tally::read_weight, 1).add(sums, lanes));
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
               issue(own, count(kOwn)), loop(body, count(problem_.k))};
  rows.insert(rows.end(), step.begin(), step.end());
  rows.push_back(issue(store_bundle(), count(kStores)));
  rows_ = builder_.codelet(std::move(rows));
  enter_ = builder_.codelet({issue(overhead, count(cost_.entry))});
  supervisor_ = builder_.codelet({issue(overhead, kVectorSupervisor), run(0)});
}

void GradientLowering::spread_operands() {
  TransferList list;
  std::vector<TileId> sharers;
  for (std::uint64_t x = 0; x < grid_.x; ++x) {
    sharers.clear();
    for (std::uint64_t y = 0; y < grid_.y; ++y) sharers.push_back(tile(x, y));
    spread(gradients(x), sharers, list);
  }
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    sharers.clear();
    for (std::uint64_t x = 0; x < grid_.x; ++x) sharers.push_back(tile(x, y));
    spread(others(y), sharers, list);
  }
  builder_.superstep(kNone, builder_.exchange("operands", list));
}

void GradientLowering::place_operands() {
  Program& program = builder_.program();
  const DType type = problem_.dtype;
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    const std::uint64_t columns = columns_of(y);
    const std::uint64_t first = y * grid_.groups * cost_.columns;
    for (std::uint64_t x = 0; x < grid_.x; ++x) {
      const TileId at = tile(x, y);
      place_share(program, gradients(x), at, y, type, [&](std::uint64_t e) {
        if (e % depth_ >= problem_.k) return 0.0F;
        return sampled_left(problem_, (x * grid_.rows + e / depth_) * problem_.k + e % depth_);
      });
      place_share(program, others(y), at, x, type, [&](std::uint64_t e) {
        const std::uint64_t column = first + e % columns;
        if (column >= problem_.n) return 0.0F;
        return sampled_right(problem_, e / columns * problem_.n + column);
      });
      const SharedRegion mine{own_, rows_of(x) * columns * size_ / 4, 1};
      place_share(program, mine, at, 0, type, [&](std::uint64_t e) {
        const std::uint64_t column = first + e % columns;
        if (column >= problem_.n) return 0.0F;
        return own_value(problem_, (x * grid_.rows + e / columns) * problem_.n + column);
      });
    }
  }
}

/// The worker of groups [begin, end), row by row: what it has of its first row, whole rows, and
/// what it has of its last.
std::uint32_t GradientLowering::worker(std::uint64_t begin, std::uint64_t end,
                                       std::uint64_t groups) {
  std::vector<Call> calls{{enter_, {}}};
  const auto add = [&](std::uint64_t rows, std::uint64_t each) {
    if (rows == 0 || each == 0) return;
    calls.push_back(
        {rows_, {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(each), 0}});
  };
  const std::uint64_t first_whole = ceil_div(begin, groups);
  const std::uint64_t last_whole = end / groups;
  if (first_whole > last_whole) {
    add(1, end - begin);
  } else {
    add(1, first_whole * groups - begin);
    add(last_whole - first_whole, groups);
    add(1, end - last_whole * groups);
  }
  return builder_.worker(calls);
}

std::uint32_t GradientLowering::vertex(std::uint64_t rows, std::uint64_t groups) {
  const auto found = vertices_.find({rows, groups});
  if (found != vertices_.end()) return found->second;
  const std::uint64_t all = rows * groups;
  const std::uint64_t share = ceil_div(all, target_.workers);
  std::vector<std::uint32_t> set;
  for (unsigned w = 0; w < target_.workers; ++w) {
    set.push_back(worker(std::min(all, w * share), std::min(all, (w + 1) * share), groups));
  }
  return vertices_[{rows, groups}] = builder_.vertex({{supervisor_, {}}}, set);
}

void GradientLowering::compute() {
  for (std::uint64_t y = 0; y < grid_.y; ++y) {
    for (std::uint64_t x = 0; x < grid_.x; ++x) {
      std::uint32_t function = kNone;
      if (problem_.values) {
        function = builder_.function(GradientVertex{
            problem_.dtype, distance_, problem_.k, depth_, rows_of(x), columns_of(y), cost_.columns,
            elements(g_), elements(x_), elements(own_), elements(y_)});
      }
      builder_.work(tile(x, y), vertex(rows_of(x), groups_of(y)), function);
    }
  }
  builder_.superstep(builder_.compute_set("gradient of distances"), kNone);
}

PlannedOperation GradientLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = problem_.values;
  program.memory_words = end_;
  planned.types = {problem_.dtype, DType::fp32};
  planned.lowered.tiles_used = static_cast<unsigned>(grid_.x * grid_.y);
  planned.lowered.tile_bytes = std::uint64_t{end_} * 4;
  planned.lowered.output = problem_.dtype;
  planned.lowered.place = [grid = grid_, base = elements(y_), all = groups_,
                           group = std::uint64_t{cost_.columns}](
                              std::uint32_t row, std::uint32_t column) -> OutputPlace {
    const std::uint64_t x = row / grid.rows;
    const std::uint64_t y = column / group / grid.groups;
    const std::uint64_t width = std::min(grid.groups, all - y * grid.groups) * group;
    return {static_cast<TileId>(y * grid.x + x),
            base + row % grid.rows * width + (column - y * grid.groups * group)};
  };
  planned.notes.emplace_back(
      "plan", fmt::format("rows {} x columns {} parts, {} rows and {} columns on a tile", grid_.x,
                          grid_.y, grid_.rows, grid_.groups * cost_.columns));
  planned.estimates = {{"operands", grid_.inputs},
                       {"gradient of distances", grid_.compute},
                       {"total", grid_.total()}};
  if (problem_.values) {
    planned.compare = [problem = problem_, distance = distance_,
                       place = planned.lowered.place](const ChipMemory& chip) {
      Comparison comparison;
      compare_distance_gradient(comparison, problem, distance,
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
  if (problem.mask != nullptr) {
    throw UnsupportedError("an IPU computes distances (bmm l1, l2) of dense operands alone");
  }
  return GradientLowering(chip, planner, problem, distance).plan();
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
