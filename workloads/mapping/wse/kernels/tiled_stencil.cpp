// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/tiled_stencil.hpp"

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

}  // namespace

TaskProgram plan_tiled_stencil(const TiledStencil& job, const CodeCosts& costs) {
  return TiledStencilPlanner(job, costs).plan();
}

std::uint64_t tiled_stencil_bytes(const TiledStencil& job) {
  const std::uint64_t around = std::uint64_t{2} * job.radius;
  return 8 * (job.height + around) * (job.width + around + 1);
}

}  // namespace lacuna::wse
