// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/pair_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"
#include "workloads/mapping/ipu/sampled/sampled.hpp"
#include "workloads/mapping/ipu/shared_region.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

constexpr Cycle kLatency = 100;  // of a word, about

/// A grid of x parts of the rows, y of the groups of columns and z of the contraction, what its
/// fullest tile has, and what that takes.
struct Grid {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;
  PairPart part;
  Cycle inputs = 0;
  Cycle compute = 0;
  Cycle barrier = 0;  // before partials
  Cycle partials = 0;
  Cycle reduce = 0;

  Cycle total() const { return inputs + compute + barrier + partials + reduce; }
};

/// Bytes of a tile, whole 64-bit words each.
struct Regions {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::uint64_t own = 0;
  std::uint64_t partials = 0;
  std::uint64_t received = 0;  // slices of other tiles
  std::uint64_t output = 0;

  std::uint64_t total() const { return left + right + own + partials + received + output; }
};

struct Cell {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
};

class PairLowering {
 public:
  PairLowering(const ChipParams& chip, const PlannerParams& planner, const GemmProblem& problem,
               PairKernel& kernel)
      : chip_(chip),
        target_(make_target(chip, planner)),
        problem_(problem),
        kernel_(kernel),
        size_(bytes_of(problem.dtype)),
        width_(kernel.width()),
        groups_(ceil_div(problem.n, width_)),
        builder_(chip),
        reduce_(builder_, target_, {problem.dtype, DType::fp32}, problem.dtype) {}

  PlannedOperation plan() {
    choose_grid();
    lay_out();
    kernel_.write(builder_, stored(grid_));
    exchange_operands();
    if (problem_.values) for_each_tile([&](const Cell& c) { place_operands(c); });
    compute();
    if (grid_.z > 1) reduce();
    return finish();
  }

 private:
  void choose_grid();
  Grid grid_of(std::uint64_t x, std::uint64_t y, std::uint64_t depth) const;
  Regions regions_of(const Grid& grid) const;
  void lay_out();
  void exchange_operands();
  void place_operands(const Cell& c);
  void compute();
  void send_slices(const Cell& c, TransferList& list) const;
  void reduce();
  PlannedOperation finish();
  void describe(PlannedOperation& planned) const;

  /// The type of what a vertex stores.
  DType stored(const Grid& grid) const { return grid.z > 1 ? DType::fp32 : problem_.dtype; }
  /// Elements of the contraction with padding.
  std::uint64_t padded(std::uint64_t depth) const { return round_up(depth, kernel_.grain()); }
  std::uint64_t right_elements(const PairPart& part) const {
    const std::uint64_t depth = kernel_.right_by_columns() ? padded(part.depth) : part.depth;
    return part.groups * width_ * depth;
  }
  std::uint64_t results(const PairPart& part) const { return part.rows * part.groups * width_; }
  /// What each tile sums of the results that it and `z - 1` others have parts of.
  static std::uint64_t slice_of(std::uint64_t results, std::uint64_t z) {
    return round_up(ceil_div(results, z), 2);
  }

  TileId tile(const Cell& c) const {
    return static_cast<TileId>((c.z * grid_.y + c.y) * grid_.x + c.x);
  }
  template <class Visit>
  void for_each_tile(Visit visit) const {
    for (std::uint64_t z = 0; z < grid_.z; ++z) {
      for (std::uint64_t y = 0; y < grid_.y; ++y) {
        for (std::uint64_t x = 0; x < grid_.x; ++x) visit(Cell{x, y, z});
      }
    }
  }
  PairPart part_of(const Cell& c) const {
    const PairPart& full = grid_.part;
    return {std::min<std::uint64_t>(full.rows, problem_.m - c.x * full.rows),
            std::min<std::uint64_t>(full.groups, groups_ - c.y * full.groups),
            std::min<std::uint64_t>(full.depth, problem_.k - c.z * full.depth)};
  }
  SharedRegion left_region(const Cell& c) const {
    const PairPart part = part_of(c);
    return {left_, part.rows * padded(part.depth) * size_ / 4, grid_.y};
  }
  SharedRegion right_region(const Cell& c) const {
    return {right_, right_elements(part_of(c)) * size_ / 4, grid_.x};
  }
  SharedRegion own_region(const Cell& c) const {
    return {own_, results(part_of(c)) * size_ / 4, grid_.z};
  }
  static std::uint64_t elements(std::uint32_t region, DType type) {
    return region * std::uint64_t{4} / bytes_of(type);
  }

  const ChipParams& chip_;
  const Target target_;
  const GemmProblem problem_;
  PairKernel& kernel_;
  const unsigned size_;
  const std::uint64_t width_;
  const std::uint64_t groups_;
  ProgramBuilder builder_;
  ReduceCodelets reduce_;
  Grid grid_;
  std::uint32_t left_ = 0;  // regions, in words
  std::uint32_t right_ = 0;
  std::uint32_t own_ = 0;
  std::uint32_t partials_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t end_ = 0;
};

Grid PairLowering::grid_of(std::uint64_t x, std::uint64_t y, std::uint64_t depth) const {
  Grid grid;
  PairPart& part = grid.part;
  part = {ceil_div(problem_.m, x), ceil_div(groups_, y), depth};
  grid.x = ceil_div(problem_.m, part.rows);
  grid.y = ceil_div(groups_, part.groups);
  grid.z = ceil_div(problem_.k, depth);
  const std::uint64_t moved = (grid.y > 1 ? part.rows * padded(depth) : 0) +
                              (grid.x > 1 ? right_elements(part) : 0) +
                              (grid.z > 1 && kernel_.has_own() ? results(part) : 0);
  grid.inputs = moved * size_ / target_.exchange_bytes;
  grid.compute = chip_.tile.launch + kVectorSupervisor +
                 target_.worker_clocks(kernel_.bundles(part, stored(grid)));
  if (grid.z == 1) return grid;
  const std::uint64_t slice = slice_of(results(part), grid.z);
  const std::uint64_t words = std::max<std::uint64_t>(slice, chip_.exchange.control_events);
  grid.barrier = chip_.sync.cycles + chip_.exchange.entry + kLatency;
  grid.partials = (grid.z - 1) * words * 4 / target_.exchange_bytes;
  grid.reduce =
      chip_.tile.launch + reduce_clocks(target_, slice, grid.z, DType::fp32, problem_.dtype);
  return grid;
}

Regions PairLowering::regions_of(const Grid& grid) const {
  const std::uint64_t sums = results(grid.part);
  const std::uint64_t slice = slice_of(sums, grid.z);
  const bool cut = grid.z > 1;
  return {round_up(grid.part.rows * padded(grid.part.depth) * size_, 8),
          round_up(right_elements(grid.part) * size_, 8),
          kernel_.has_own() ? round_up(sums * size_, 8) : 0,
          cut ? round_up(sums * 4, 8) : 0,
          cut ? (grid.z - 1) * slice * 4 : 0,
          round_up((cut ? slice : sums) * size_, 8)};
}

void PairLowering::choose_grid() {
  Cycle best = kNever;
  std::uint64_t least = ~std::uint64_t{0};  // bytes
  const std::uint64_t grains = ceil_div(problem_.k, kernel_.grain());
  std::uint64_t last = 0;
  for (std::uint64_t z = 1; z <= std::min<std::uint64_t>(grains, target_.tiles); ++z) {
    const std::uint64_t depth =
        std::min<std::uint64_t>(problem_.k, ceil_div(grains, z) * kernel_.grain());
    if (depth == last) continue;
    last = depth;
    const std::uint64_t tiles = target_.tiles / z;
    for (std::uint64_t x = 1; x <= std::min<std::uint64_t>(problem_.m, tiles); ++x) {
      const Grid grid = grid_of(x, std::min<std::uint64_t>(groups_, tiles / x), depth);
      const std::uint64_t bytes = regions_of(grid).total();
      least = std::min(least, bytes);
      if (bytes > target_.tile_bytes || grid.total() >= best) continue;
      best = grid.total();
      grid_ = grid;
    }
  }
  if (best == kNever) {
    throw OutOfMemoryError(fmt::format(
        "{} of {} rows and {} columns of {} elements: {} bytes on a tile at least, which has {}",
        kernel_.name(), problem_.m, problem_.n, problem_.k, least, target_.tile_bytes));
  }
}

void PairLowering::lay_out() {
  const Regions bytes = regions_of(grid_);
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t size) {
    const std::uint64_t begin = next;
    next += size / 4;
    return static_cast<std::uint32_t>(begin);
  };
  left_ = take(bytes.left);
  right_ = take(bytes.right);
  own_ = take(bytes.own);
  partials_ = take(bytes.partials);
  received_ = take(bytes.received);
  output_ = take(bytes.output);
  end_ = static_cast<std::uint32_t>(next);
  builder_.operands(OperandBytes()
                        .add(Operand::weight, bytes.left)
                        .add(Operand::input, bytes.right + bytes.own)
                        .add(Operand::partial, bytes.partials + bytes.received)
                        .add(Operand::output, bytes.output));
}

/// Each set of sharers once: what is sent along one axis of the grid, from its first tile on.
void PairLowering::exchange_operands() {
  TransferList list;
  std::vector<TileId> sharers;
  const auto along = [&](std::uint64_t Cell::*axis, std::uint64_t size, const auto& region) {
    for_each_tile([&](const Cell& c) {
      if (c.*axis != 0) return;
      sharers.clear();
      Cell other = c;
      for (other.*axis = 0; other.*axis < size; ++(other.*axis)) sharers.push_back(tile(other));
      all_gather(region(c), sharers, list);
    });
  };
  along(&Cell::y, grid_.y, [&](const Cell& c) { return left_region(c); });
  along(&Cell::x, grid_.x, [&](const Cell& c) { return right_region(c); });
  if (kernel_.has_own()) along(&Cell::z, grid_.z, [&](const Cell& c) { return own_region(c); });
  builder_.superstep(kNone, builder_.exchange("operands", list));
}

void PairLowering::place_operands(const Cell& c) {
  Program& program = builder_.program();
  const PairPart part = part_of(c);
  const std::uint64_t deep = padded(part.depth);
  const std::uint64_t columns = part.groups * width_;
  const std::uint64_t first_row = c.x * grid_.part.rows;
  const std::uint64_t first_column = c.y * grid_.part.groups * width_;
  const std::uint64_t first = c.z * grid_.part.depth;
  place_share(program, left_region(c), tile(c), c.y, problem_.dtype, [&](std::uint64_t e) {
    if (e % deep >= part.depth) return 0.0F;
    return sampled_left(problem_, (first_row + e / deep) * problem_.k + first + e % deep);
  });
  const bool by_columns = kernel_.right_by_columns();
  place_share(program, right_region(c), tile(c), c.x, problem_.dtype, [&](std::uint64_t e) {
    const std::uint64_t d = by_columns ? e % deep : e / columns;
    const std::uint64_t column = first_column + (by_columns ? e / deep : e % columns);
    if (d >= part.depth || column >= problem_.n) return 0.0F;
    return sampled_right(problem_, (first + d) * problem_.n + column);
  });
  if (!kernel_.has_own()) return;
  place_share(program, own_region(c), tile(c), c.z, problem_.dtype, [&](std::uint64_t e) {
    const std::uint64_t column = first_column + e % columns;
    if (column >= problem_.n) return 0.0F;
    return kernel_.own((first_row + e / columns) * problem_.n + column);
  });
}

void PairLowering::compute() {
  const DType type = stored(grid_);
  const std::uint32_t sums = grid_.z > 1 ? partials_ : output_;
  const PairPlaces places{elements(left_, problem_.dtype), elements(right_, problem_.dtype),
                          elements(own_, problem_.dtype), elements(sums, type)};
  TransferList slices;
  for_each_tile([&](const Cell& c) {
    const PairPart part = part_of(c);
    const std::uint32_t function =
        problem_.values ? builder_.function(kernel_.function(part, places, type)) : kNone;
    builder_.work(tile(c), kernel_.vertex(builder_, part), function);
    if (grid_.z > 1) send_slices(c, slices);
  });
  const std::uint32_t set = builder_.compute_set(kernel_.name());
  builder_.superstep(set, grid_.z > 1 ? builder_.exchange("partials", slices) : kNone);
}

/// What others sum of a tile's partials.
void PairLowering::send_slices(const Cell& c, TransferList& list) const {
  const std::uint64_t all = results(part_of(c));
  const std::uint64_t slice = slice_of(all, grid_.z);
  for (std::uint64_t z = 0; z < grid_.z; ++z) {
    const std::uint64_t begin = std::min(all, z * slice);
    const std::uint64_t count = std::min(all, begin + slice) - begin;
    if (z == c.z || count == 0) continue;
    const std::uint64_t place = c.z < z ? c.z : c.z - 1;
    const Place to{tile({c.x, c.y, z}), static_cast<std::uint32_t>(received_ + place * slice)};
    list.add({tile(c), static_cast<std::uint32_t>(partials_ + begin)},
             static_cast<std::uint32_t>(count), {to});
  }
}

void PairLowering::reduce() {
  for_each_tile([&](const Cell& c) {
    const std::uint64_t all = results(part_of(c));
    const std::uint64_t slice = slice_of(all, grid_.z);
    const std::uint64_t begin = std::min(all, c.z * slice);
    const std::uint64_t count = std::min(all, begin + slice) - begin;
    if (count == 0) return;
    Reduction sum{DType::fp32, problem_.dtype, count, elements(output_, problem_.dtype), {}};
    for (std::uint64_t z = 0; z < grid_.z; ++z) {
      const std::uint64_t place = z < c.z ? z : z - 1;
      sum.sources.push_back(z == c.z ? partials_ + begin : received_ + place * slice);
    }
    const std::uint32_t function = problem_.values ? builder_.function(sum) : kNone;
    builder_.work(tile(c), reduce_.add_vertex({count, static_cast<std::uint32_t>(grid_.z)}),
                  function);
  });
  builder_.superstep(builder_.compute_set("reduce"), kNone);
}

void PairLowering::describe(PlannedOperation& planned) const {
  const PairPart& part = grid_.part;
  planned.notes.emplace_back(
      "plan", fmt::format("rows {} x columns {} x contraction {} parts, {} rows, {} columns and {} "
                          "elements of each on a tile",
                          grid_.x, grid_.y, grid_.z, part.rows, part.groups * width_, part.depth));
  planned.estimates = {{"operands", grid_.inputs}, {kernel_.name(), grid_.compute}};
  if (grid_.z > 1) {
    planned.estimates.emplace_back("barrier before partials", grid_.barrier);
    planned.estimates.emplace_back("partials", grid_.partials);
    planned.estimates.emplace_back("reduce", grid_.reduce);
  }
  planned.estimates.emplace_back("total", grid_.total());
}

PlannedOperation PairLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = problem_.values;
  program.memory_words = end_;
  planned.types = {problem_.dtype, DType::fp32};
  planned.lowered.tiles_used = static_cast<unsigned>(grid_.x * grid_.y * grid_.z);
  planned.lowered.tile_bytes = std::uint64_t{end_} * 4;
  planned.lowered.output = problem_.dtype;
  planned.lowered.place = [grid = grid_, base = elements(output_, problem_.dtype), m = problem_.m,
                           all = groups_,
                           width = width_](std::uint32_t row, std::uint32_t column) -> OutputPlace {
    const PairPart& part = grid.part;
    const std::uint64_t x = row / part.rows;
    const std::uint64_t y = column / width / part.groups;
    const std::uint64_t rows = std::min<std::uint64_t>(part.rows, m - x * part.rows);
    const std::uint64_t columns = std::min(part.groups, all - y * part.groups) * width;
    const std::uint64_t index = row % part.rows * columns + (column - y * part.groups * width);
    const std::uint64_t slice = grid.z > 1 ? slice_of(rows * columns, grid.z) : rows * columns;
    const std::uint64_t z = index / slice;
    return {static_cast<TileId>((z * grid.y + y) * grid.x + x), base + index % slice};
  };
  describe(planned);
  if (problem_.values) {
    planned.compare = [compare = kernel_.comparison(), type = problem_.dtype,
                       place = planned.lowered.place](const ChipMemory& chip) {
      Comparison comparison;
      compare(comparison, [&](std::uint32_t row, std::uint32_t column) -> double {
        const OutputPlace at = place(row, column);
        return read_element(chip(at.tile), type, at.index);
      });
      return comparison;
    };
  }
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_pairs(const ChipParams& chip, const PlannerParams& planner,
                            const GemmProblem& problem, PairKernel& kernel) {
  return PairLowering(chip, planner, problem, kernel).plan();
}

}  // namespace lacuna::ipu
