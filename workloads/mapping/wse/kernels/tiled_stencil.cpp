// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/tiled_stencil.hpp"

#include <array>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {
namespace {

constexpr std::array<Port, 4> kSides = {kNorth, kEast, kSouth, kWest};
constexpr std::uint32_t kSide = 3;  // cores

/// Where the points of a core lie.
struct Arrays {
  explicit Arrays(const TiledStencil& job)
      : r(static_cast<std::int32_t>(job.radius)),
        w(static_cast<std::int32_t>(job.width)),
        h(static_cast<std::int32_t>(job.height)),
        pitch(w + 2 * r + 1) {}

  /// All points of the tile, moved by (dx, dy), in array 0 or 1.
  Operand tile(std::int32_t array, std::int32_t dx, std::int32_t dy) const {
    return block(array, dx, dy, w);
  }
  /// Rows of `width` points from column x and row y on.
  Operand block(std::int32_t array, std::int32_t x, std::int32_t y, std::int32_t width) const {
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
        return block(0, 0, -out, w);
      case kSouth:
        return block(0, 0, h - r + out, w);
      case kWest:
        return block(0, -out, 0, r);
      default:
        return block(0, w - r + out, 0, r);
    }
  }
  std::uint32_t edge_words(Port side) const {
    return static_cast<std::uint32_t>(r * (side == kNorth || side == kSouth ? w : h));
  }

  std::int32_t r;
  std::int32_t w;
  std::int32_t h;
  std::int32_t pitch;
};

class Planner {
 public:
  Planner(const TiledStencil& job, const CodeCosts& costs)
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
    builder_.core(place, builder_.add(std::move(program)));
  }

  /// Tasks of an iteration: the loop, four completions of sends, four of receives, computation.
  void iterate(CoreProgram& program, std::uint32_t iteration) {
    const auto first = static_cast<TaskIndex>(program.tasks.size());
    const auto compute = static_cast<TaskIndex>(first + 9);
    Task loop;
    loop.active = iteration == 0;
    // the way of the first send through the pipeline; code that does not wait goes on beside it
    if (job_.waits) loop.steps.push_back(work(costs_.vec.setup_first));
    std::vector<TaskIndex> sends;
    std::vector<TaskIndex> takes;
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      sends.push_back(static_cast<TaskIndex>(first + 1 + side));
      loop.steps.push_back(start(side, iteration, true, sends.back()));
    }
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      takes.push_back(static_cast<TaskIndex>(first + 5 + side));
      loop.steps.push_back(start(side, iteration, false, takes.back()));
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

  Step start(std::size_t side, std::uint32_t iteration, bool sends, TaskIndex then) const {
    Instruction what;
    const Port port = kSides.at(side);
    const Color color = color_of(sends ? side : (side + 2) % 4, iteration);
    what.length = arrays_.edge_words(port);
    what.to = sends ? on_fabric(color) : arrays_.edge(port, true);
    what.a = sends ? arrays_.edge(port, false) : on_fabric(color);
    what.thread = static_cast<std::uint8_t>(1 + side + (sends ? 0 : 4));
    if (job_.waits) what.activates = then;
    return run(what);
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

  std::vector<Step> operations() const {
    std::vector<Step> steps;
    Instruction what;
    what.length = job_.width * job_.height;
    what.b = number(1);
    const auto add = [&](VectorOp op, const Operand& to, const Operand& from) {
      const std::uint32_t descriptors = op == VectorOp::mul ? 2 : 3;
      const bool reloads = job_.radius > 1;
      steps.push_back(
          work(costs_.vec.setup_use + (reloads ? descriptors * costs_.scalar.dsr_write : 0U)));
      what.op = op;
      what.to = to;
      what.a = from;
      what.b = op == VectorOp::add ? to : number(1);
      steps.push_back(run(what));
    };
    const Operand second = arrays_.tile(1, 0, 0);
    const Operand first = arrays_.tile(0, 0, 0);
    if (job_.radius == 1) {
      add(VectorOp::mul, second, first);
      for (const auto& [dx, dy] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}}) {
        add(VectorOp::add, second, arrays_.tile(0, dx, dy));
      }
      add(VectorOp::mul, first, second);
      return steps;
    }
    for (std::int32_t i = 1; i <= arrays_.r; ++i) {
      add(i == 1 ? VectorOp::mul : VectorOp::fma, second, arrays_.tile(0, 0, -i));
      add(VectorOp::fma, second, arrays_.tile(0, 0, i));
      add(VectorOp::fma, second, arrays_.tile(0, -i, 0));
      add(VectorOp::fma, second, arrays_.tile(0, i, 0));
    }
    add(VectorOp::fma, first, second);
    return steps;
  }

  const TiledStencil job_;
  const CodeCosts& costs_;
  const Arrays arrays_;
  TaskBuilder builder_;
  std::array<bool, 4> there_ = {};
};

/// Of five colors, so that a core and its neighbours have different ones.
Color point_color(std::uint32_t r, std::uint32_t c) { return static_cast<Color>((2 * r + c) % 5); }

}  // namespace

TaskProgram plan_tiled_stencil(const TiledStencil& job, const CodeCosts& costs) {
  return Planner(job, costs).plan();
}

std::uint64_t tiled_stencil_bytes(const TiledStencil& job) {
  return std::uint64_t{8} * (std::uint64_t{job.height} + 2 * job.radius) *
         (std::uint64_t{job.width} + 2 * job.radius + 1);
}

TaskProgram plan_point_stencil(const PointStencil& job, const CodeCosts& costs) {
  TaskBuilder builder(job.columns, job.rows);
  for (std::uint32_t r = 0; r < job.rows; ++r) {
    for (std::uint32_t c = 0; c < job.columns; ++c) {
      const std::size_t place = builder.place(r, c);
      const std::array<bool, 4> there = {r > 0, c + 1 < job.columns, r + 1 < job.rows, c > 0};
      const std::array<Color, 4> from = {point_color(r + 4, c), point_color(r, c + 1),
                                         point_color(r + 1, c), point_color(r, c + 4)};
      CoreProgram program;
      std::vector<Color> neighbours;
      PortSet to = 0;
      for (std::size_t side = 0; side < 4; ++side) {
        if (!there.at(side)) continue;
        to = static_cast<PortSet>(to | bit(kSides.at(side)));
        builder.route(place, from.at(side), kSides.at(side), bit(kRamp));
        program.in.push_back({from.at(side), static_cast<std::uint8_t>(neighbours.size())});
        neighbours.push_back(from.at(side));
      }
      Task task;
      task.active = true;
      Instruction what;
      what.length = 1;
      const auto then = [&](VectorOp op, const Operand& out, const Operand& a, const Operand& b) {
        what.op = op;
        what.to = out;
        what.a = a;
        what.b = b;
        task.steps.push_back(run(what));
      };
      const Step wait = work(costs.scalar.dependent - 1);
      const Operand mine = in_memory(0, 0);
      if (to != 0) {
        builder.route(place, point_color(r, c), kRamp, to);
        program.out.push_back({point_color(r, c), 2});
      }
      for (std::uint32_t i = 0; i < job.iterations && to != 0; ++i) {
        then(VectorOp::mul, on_fabric(point_color(r, c)), mine, number(1));
        std::size_t taken = 0;
        std::size_t sums = 0;
        if (job.pairs) {
          for (; taken + 1 < neighbours.size(); taken += 2, ++sums) {
            then(VectorOp::add, mine, on_fabric(neighbours[taken]),
                 on_fabric(neighbours[taken + 1]));
          }
        }
        for (std::size_t k = 0; k < sums; ++k) {  // to the point
          task.steps.push_back(wait);
          then(VectorOp::add, mine, mine, mine);
        }
        for (bool first = true; taken < neighbours.size(); ++taken, first = false) {
          if (!first || sums != 0) task.steps.push_back(wait);
          then(VectorOp::add, mine, on_fabric(neighbours[taken]), mine);
        }
        task.steps.push_back(work(costs.scalar.loop));
      }
      program.tasks = {std::move(task)};
      builder.core(place, builder.add(std::move(program)));
    }
  }
  return std::move(builder).finish();
}

}  // namespace lacuna::wse
