// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/tiled_stencil.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kSide = 3;  // cores

/// Where the points of a core lie: the array of sums, then the one that is exchanged.
struct Arrays {
  enum Array : std::int32_t { sums, exchanged };

  explicit Arrays(const TiledStencil& job)
      : r(static_cast<std::int32_t>(job.radius)),
        w(static_cast<std::int32_t>(job.width)),
        h(static_cast<std::int32_t>(job.height)),
        pitch(w + 2 * r + 1) {}

  /// All points of the tile, moved by (dx, dy).
  Operand tile(Array array, std::int32_t dx, std::int32_t dy) const {
    return block(array, dx, dy, w);
  }
  /// Rows of `width` points from column x and row y on.
  Operand block(Array array, std::int32_t x, std::int32_t y, std::int32_t width) const {
    const std::int32_t word = (array * (h + 2 * r) + y + r) * pitch + x + r;
    Operand operand = in_memory(static_cast<std::uint32_t>(4 * word));
    operand.inner = static_cast<std::uint32_t>(width);
    operand.outer = pitch;
    return operand;
  }
  /// What goes to a side, or the frame that comes from there.
  Operand edge(Port side, bool frame) const {
    const std::int32_t out = frame ? r : 0;
    switch (side) {
      case kNorth:
        return block(exchanged, 0, -out, w);
      case kSouth:
        return block(exchanged, 0, h - r + out, w);
      case kWest:
        return block(exchanged, -out, 0, r);
      case kEast:
        return block(exchanged, w - r + out, 0, r);
      case kRamp:
        break;
    }
    throw InternalError("a core is no side of a tile");
  }
  std::uint32_t edge_words(Port side) const {
    return static_cast<std::uint32_t>(r * (side == kNorth || side == kSouth ? w : h));
  }

  std::int32_t r;
  std::int32_t w;
  std::int32_t h;
  std::int32_t pitch;
};

class TiledStencilPlanner {
 public:
  TiledStencilPlanner(const TiledStencil& job, const CodeCosts& costs)
      : job_(job), costs_(costs), arrays_(job), builder_(kSide, kSide) {}

  TaskProgram plan() {
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = 0; c < kSide; ++c) add_core(r, c);
    }
    return std::move(builder_).finish();
  }

 private:
  static Color color_of(std::size_t side, std::uint32_t iteration) {
    return static_cast<Color>(2 * side + iteration % 2);
  }

  void add_core(std::uint32_t r, std::uint32_t c) {
    const std::size_t place = builder_.place(r, c);
    there_ = {r > 0, c + 1 < kSide, r + 1 < kSide, c > 0};
    CoreProgram program;
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      const std::size_t from = (side + 2) % 4;  // the neighbour in the north sends south
      for (const std::uint32_t parity : {0U, 1U}) {
        builder_.route(place, color_of(side, parity), kRamp, bit(kSides.at(side)));
        builder_.route(place, color_of(from, parity), kSides.at(side), bit(kRamp));
        program.out.push_back({color_of(side, parity), static_cast<std::uint8_t>(2 + side)});
        program.in.push_back(
            {color_of(from, parity), static_cast<std::uint8_t>(2 * side + parity)});
      }
    }
    for (std::uint32_t i = 0; i < job_.iterations; ++i) iterate(program, i);
    builder_.core(place, builder_.share(std::move(program)));
  }

  /// Tasks of an iteration: the loop, four completions of sends, four of receives, computation.
  void iterate(CoreProgram& program, std::uint32_t iteration) {
    const auto first = static_cast<TaskIndex>(program.tasks.size());
    const auto compute = static_cast<TaskIndex>(first + 9);
    Task loop;
    loop.active = iteration == 0;
    before_words(loop.steps);
    std::vector<TaskIndex> sends;
    std::vector<TaskIndex> takes;
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      sends.push_back(static_cast<TaskIndex>(first + 1 + side));
      start(loop.steps, side, iteration, true, sends.back());
    }
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      takes.push_back(static_cast<TaskIndex>(first + 5 + side));
      start(loop.steps, side, iteration, false, takes.back());
    }
    if (!job_.waits) loop.steps.push_back(activate(compute));
    program.tasks.push_back(std::move(loop));
    program.tasks.resize(program.tasks.size() + 8);
    if (job_.waits) {
      count(program, sends, unblock(compute));
      count(program, takes, activate(compute));
    }
    Task computation;
    computation.blocked = job_.waits;
    computation.steps = operations();
    if (iteration + 1 < job_.iterations) {
      computation.steps.push_back(activate(static_cast<TaskIndex>(first + 10)));
    }
    program.tasks.push_back(std::move(computation));
  }

  /// The program for any radius, which also stands where the radius is 1.
  bool general() const { return job_.radius > 1 || job_.first_version; }

  void before_words(std::vector<Step>& steps) const {
    if (job_.first_version) {
      operate(steps, 2, VectorOp::move, arrays_.tile(Arrays::exchanged, 0, 0),
              arrays_.tile(Arrays::sums, 0, 0));
    }
    if (general() || !job_.waits) return;
    // The memory sides of what is sent and received, and the way of the first send through the
    // pipeline. A program that does not wait goes on beside it: words have those cycles.
    steps.push_back(work(8 * costs_.vec.setup_descriptor + costs_.vec.setup_first));
  }

  /// An asynchronous move; in the general program both its descriptors are in no register.
  void start(std::vector<Step>& steps, std::size_t side, std::uint32_t iteration, bool sends,
             TaskIndex then) const {
    if (general()) steps.push_back(work(costs_.dispatch(2)));
    const Port port = kSides.at(side);
    const Operand there = on_fabric(color_of(sends ? side : (side + 2) % 4, iteration));
    Instruction what = move(Element::fp32, sends ? there : arrays_.edge(port, true),
                            sends ? arrays_.edge(port, false) : there, arrays_.edge_words(port));
    what.thread = static_cast<std::uint8_t>(1 + side + (sends ? 0 : 4));
    if (job_.waits) what.activates = then;
    steps.push_back(run(what));
  }

  /// Completion tasks count one after the other: load, increment, test and branch. The last has an
  /// effect. That each waits for the one before is how a program without a counter says "the
  /// fourth"; it costs nothing, the next is let through as one begins.
  void count(CoreProgram& program, const std::vector<TaskIndex>& tasks, const Step& effect) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Task& task = program.tasks[tasks[i]];
      task.blocked = i != 0;
      const Step counting = work(costs_.scalar.load + costs_.scalar.loop);
      if (i + 1 == tasks.size()) {
        task.steps = {counting, effect};
      } else {
        task.steps = {unblock(tasks[i + 1]), counting};
      }
    }
  }

  /// A vector operation over the whole tile that loads so many descriptors.
  void operate(std::vector<Step>& steps, std::uint32_t loads, VectorOp op, const Operand& to,
               const Operand& from) const {
    const Operand b = op == VectorOp::move ? Operand() : op == VectorOp::add ? to : number(1);
    steps.push_back(work(costs_.next(loads)));
    steps.push_back(run(instruction(op, Element::fp32, to, from, b, job_.width * job_.height)));
  }

  std::vector<Step> operations() const { return general() ? with_weights() : with_two_weights(); }

  /// All points around have one weight. Descriptors stay in their registers.
  std::vector<Step> with_two_weights() const {
    std::vector<Step> steps;
    const Operand sums = arrays_.tile(Arrays::sums, 0, 0);
    const Operand points = arrays_.tile(Arrays::exchanged, 0, 0);
    operate(steps, 0, VectorOp::mul, sums, points);
    for (const auto& [dx, dy] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}}) {
      operate(steps, 0, VectorOp::add, sums, arrays_.tile(Arrays::exchanged, dx, dy));
    }
    operate(steps, 0, VectorOp::mul, points, sums);
    return steps;
  }

  /// A weight for each distance, which its four operations share, and one for the centre. An
  /// operation in place loads what it adds to once; the last writes elsewhere.
  std::vector<Step> with_weights() const {
    std::vector<Step> steps;
    const Operand sums = arrays_.tile(Arrays::sums, 0, 0);
    for (std::int32_t i = 1; i <= arrays_.r; ++i) {
      steps.push_back(work(costs_.vec.setup_scalar));
      VectorOp op = i == 1 ? VectorOp::mul : VectorOp::fma;
      for (const auto& [dx, dy] : {std::pair{0, -i}, {0, i}, {-i, 0}, {i, 0}}) {
        operate(steps, 2, op, sums, arrays_.tile(Arrays::exchanged, dx, dy));
        op = VectorOp::fma;
      }
    }
    steps.push_back(work(costs_.vec.setup_scalar));
    const Operand points = arrays_.tile(Arrays::exchanged, 0, 0);
    if (job_.first_version) {
      operate(steps, 2, VectorOp::fma, sums, points);
    } else {
      operate(steps, 3, VectorOp::fma, points, sums);
    }
    return steps;
  }

  const TiledStencil job_;
  const CodeCosts& costs_;
  const Arrays arrays_;
  TaskBuilder builder_;
  std::array<bool, 4> there_ = {};
};

/// What a loop does before its branch: it counts and tests.
constexpr std::uint32_t kCounting = 2;

/// Of five colors, so that a core and its neighbours have different ones.
Color point_color(std::uint32_t r, std::uint32_t c) { return static_cast<Color>((2 * r + c) % 5); }

class PointPlanner {
 public:
  PointPlanner(const PointStencil& job, const CodeCosts& costs)
      : job_(job), costs_(costs), builder_(job.columns, job.rows) {}

  TaskProgram plan() {
    for (std::uint32_t r = 0; r < job_.rows; ++r) {
      for (std::uint32_t c = 0; c < job_.columns; ++c) add_core(r, c);
    }
    return std::move(builder_).finish();
  }

 private:
  /// Whether the point of a core changes, or is a boundary value in the frame of the grid.
  bool inner(std::uint32_t r, std::uint32_t c) const {
    return r > 0 && c > 0 && r + 1 < job_.rows && c + 1 < job_.columns;
  }

  void add_core(std::uint32_t r, std::uint32_t c) {
    const std::size_t place = builder_.place(r, c);
    const bool sums = inner(r, c);
    constexpr std::array<Port, 4> kSides = {kNorth, kSouth, kWest, kEast};
    const std::array<bool, 4> joined = {sums || (r > 0 && inner(r - 1, c)), sums || inner(r + 1, c),
                                        sums || (c > 0 && inner(r, c - 1)),
                                        sums || inner(r, c + 1)};
    const std::array<Color, 4> from = {point_color(r + 4, c), point_color(r + 1, c),
                                       point_color(r, c + 4), point_color(r, c + 1)};
    CoreProgram program;
    std::vector<Color> neighbours;
    PortSet to = 0;
    for (const std::size_t side : job_.order) {
      if (!joined.at(side)) continue;
      to = static_cast<PortSet>(to | bit(kSides.at(side)));
      builder_.route(place, from.at(side), kSides.at(side), bit(kRamp));
      program.in.push_back({from.at(side), static_cast<std::uint8_t>(neighbours.size())});
      neighbours.push_back(from.at(side));
    }
    Task task;
    task.active = true;
    if (to != 0) {
      builder_.route(place, point_color(r, c), kRamp, to);
      program.out.push_back({point_color(r, c), 2});
      task.steps = steps_of(point_color(r, c), neighbours, sums);
    }
    program.tasks = {std::move(task)};
    builder_.core(place, builder_.share(std::move(program)));
  }

  std::vector<Step> steps_of(Color mine, const std::vector<Color>& neighbours, bool sums) {
    steps_.clear();
    if (!sums) {
      Instruction drop = move(Element::fp32, in_memory(4, 0), on_fabric(neighbours.front()),
                              job_.iterations);  // a core of the frame has one neighbour within
      drop.thread = 1;
      steps_.push_back(run(drop));
    }
    const std::uint32_t loop = costs_.scalar.loop;
    for (std::uint32_t i = 0; i < job_.iterations; ++i) {
      then(VectorOp::mul, on_fabric(mine), mine_, number(1));
      steps_.push_back(work(job_.send - 1));
      const std::uint32_t waits = sums ? add_up(neighbours) : 0;
      const std::uint32_t hidden = job_.counts_within ? kCounting : 0;
      steps_.push_back(work(loop - std::min({waits, hidden, loop})));
    }
    return std::move(steps_);
  }

  void then(VectorOp op, const Operand& to, const Operand& a, const Operand& b) {
    steps_.push_back(run(instruction(op, Element::fp32, to, a, b, 1)));
  }

  /// Returns the cycles in which additions wait for others.
  std::uint32_t add_up(const std::vector<Color>& from) {
    std::uint32_t waits = 0;
    const auto wait = [&] {
      waits += costs_.scalar.dependent - 1;
      steps_.push_back(work(costs_.scalar.dependent - 1));
    };
    std::size_t taken = 0;
    std::size_t sums = 0;
    for (; job_.pairs && taken + 1 < from.size(); taken += 2, ++sums) {
      then(VectorOp::add, mine_, on_fabric(from[taken]), on_fabric(from[taken + 1]));
    }
    for (std::size_t k = 0; k < sums; ++k) {  // to the point
      wait();
      then(VectorOp::add, mine_, mine_, mine_);
    }
    for (bool first = true; taken < from.size(); ++taken, first = false) {
      if (!first || sums != 0) wait();
      then(VectorOp::add, mine_, on_fabric(from[taken]), mine_);
    }
    return waits;
  }

  const Operand mine_ = in_memory(0, 0);
  const PointStencil job_;
  const CodeCosts& costs_;
  TaskBuilder builder_;
  std::vector<Step> steps_;  // of the core that is being written
};

}  // namespace

TaskProgram plan_tiled_stencil(const TiledStencil& job, const CodeCosts& costs) {
  return TiledStencilPlanner(job, costs).plan();
}

std::uint64_t tiled_stencil_bytes(const TiledStencil& job) {
  const std::uint64_t around = std::uint64_t{2} * job.radius;
  return 8 * (job.height + around) * (job.width + around + 1);
}

TaskProgram plan_point_stencil(const PointStencil& job, const CodeCosts& costs) {
  return PointPlanner(job, costs).plan();
}

}  // namespace lacuna::wse
