// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/ring_line.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

/// 0 outside the matrix.
float value(std::uint64_t seed, std::uint64_t row, std::uint64_t column, bool inside) {
  return inside ? small_value(seed, row, column) : 0.0F;
}

/// Microthreads.
constexpr std::uint8_t kTakeW = 1;
constexpr std::uint8_t kTakeX = 2;
constexpr std::uint8_t kSendW = 3;
constexpr std::uint8_t kSendX = 4;

/// Colors of broadcasts.
constexpr Color kAlongRows{0};
constexpr Color kAlongColumns{1};

class DenseMeshPlanner {
 public:
  DenseMeshPlanner(const DenseMeshJob& job, const CodeCosts& costs)
      : job_(job),
        costs_(costs),
        side_(job.side),
        tm_(ceil_div(job.m, job.side)),
        tk_(ceil_div(job.k, job.side)),
        tn_(ceil_div(job.n, job.side)),
        builder_(job.side, job.side),
        x_(job.side, 0, job.kind == DenseMesh::cannon),
        y_(job.side, 4, job.kind == DenseMesh::cannon) {}

  TaskKernel plan() {
    check();
    if (ring()) {
      route_ring();
    } else {
      route_broadcasts();
    }
    for (std::uint32_t r = 0; r < side_; ++r) {
      for (std::uint32_t c = 0; c < side_; ++c) add_core(r, c);
    }
    TaskKernel kernel;
    kernel.program = std::move(builder_).finish();
    kernel.bytes = static_cast<std::uint32_t>(bytes());
    const std::uint64_t formed = std::uint64_t{side_} * side_ * side_ * tm_ * tk_ * tn_;
    kernel.edge = formed - std::uint64_t{job_.m} * job_.k * job_.n;
    kernel.notes.emplace_back(
        "tiles", fmt::format("{} x {} x {} in each of {} x {} cores", tm_, tk_, tn_, side_, side_));
    if (job_.values) fill_memory(kernel.program);
    return kernel;
  }

  std::uint32_t y_address(std::uint32_t i, std::uint32_t j) const {
    return y_at() + j * pitch() + 2 * i;
  }
  std::uint32_t tm() const { return tm_; }
  std::uint32_t tn() const { return tn_; }

 private:
  bool ring() const { return job_.kind != DenseMesh::summa; }

  /// By how many places the tiles of the ring's line number `p` are shifted first.
  std::uint32_t skew(std::uint32_t p) const {
    return job_.kind == DenseMesh::cannon ? (side_ - p) % side_ : 0;
  }

  // Memory: two tiles of W and two of X, with `summa` one of each of its own, and Y, whose columns
  // lie at 4 modulo 8.
  std::uint32_t pitch() const { return aligned(2 * tm_); }
  std::uint32_t w_bytes() const { return tk_ * pitch(); }
  std::uint32_t x_bytes() const { return aligned(2 * tk_ * tn_); }
  std::uint32_t tiles() const { return ring() ? 2 : 3; }
  std::uint32_t w_at(std::uint32_t buffer) const { return buffer * w_bytes(); }
  std::uint32_t x_at(std::uint32_t buffer) const {
    return tiles() * w_bytes() + buffer * x_bytes();
  }
  std::uint32_t y_at() const { return tiles() * (w_bytes() + x_bytes()) + 4; }
  std::uint64_t bytes() const { return y_at() + std::uint64_t{tn_} * pitch(); }

  /// Addresses hold what fits, so operands are counted wider first.
  void check() const {
    const std::uint64_t operands = std::uint64_t{tm_} * tk_ + std::uint64_t{tk_} * tn_;
    const std::uint64_t needed = operands > job_.memory_bytes ? 4 * operands : bytes();
    if (needed <= job_.memory_bytes) return;
    throw OutOfMemoryError(fmt::format(
        "a core needs {} bytes for its tiles of {} x {} x {}, two of each operand, and has {}",
        needed, tm_, tk_, tn_, job_.memory_bytes));
  }

  void route_ring() {
    if (side_ == 1) return;
    for (std::uint32_t line = 0; line < side_; ++line) {
      for (std::uint32_t p = 0; p < side_; ++p) {
        std::vector<std::size_t> along_x;
        std::vector<std::size_t> along_y;
        for (const std::uint32_t i : x_.link(p)) {
          along_x.push_back(builder_.place(line, i));
          along_y.push_back(builder_.place(i, line));
        }
        builder_.path(along_x, x_.color(p));
        builder_.path(along_y, y_.color(p));
      }
    }
  }

  /// One color along all rows and one along all columns. In step i core i of a line sends. The last
  /// word of a step moves the switch of its own router and of the next one, whose turn it is;
  /// that of the one before stands at its end.
  void route_broadcasts() {
    if (side_ == 1) return;
    for (std::uint32_t r = 0; r < side_; ++r) {
      for (std::uint32_t c = 0; c < side_; ++c) {
        builder_.turn(builder_.place(r, c), kAlongRows, {c, side_});
        builder_.turn(builder_.place(r, c), kAlongColumns, {r, side_, kNorth, kSouth});
      }
    }
  }

  static Instruction move(const Operand& to, const Operand& from, std::uint32_t bytes,
                          std::uint8_t thread) {
    Instruction made = wse::move(Element::fp16, to, from, bytes / 2);
    made.thread = thread;
    return made;
  }

  /// In its microthread.
  void begin(std::vector<Step>& steps, const Instruction& what) const {
    steps.push_back(work(costs_.start_beside(what)));
    steps.push_back(run(what));
  }

  /// Y += W X of the tiles in these places: one multiply-accumulate for each element of X.
  void multiply(std::vector<Step>& steps, std::uint32_t w, std::uint32_t x) const {
    const ScalarParams& scalar = costs_.scalar;
    for (std::uint32_t kk = 0; kk < tk_; ++kk) {
      for (std::uint32_t j = 0; j < tn_; ++j) {
        steps.push_back(
            work(scalar.loop + scalar.load + 2 * scalar.dsr_write + costs_.from_registers()));
        steps.push_back(
            run(instruction(VectorOp::fma, Element::fp16, in_memory(y_address(0, j)),
                            in_memory(w + kk * pitch()), cell(x + 2 * (kk * tn_ + j)), tm_)));
      }
    }
  }

  void add_core(std::uint32_t r, std::uint32_t c) {
    CoreProgram core;
    if (ring()) {
      shift_steps(core, r, c);
    } else {
      broadcast_steps(core, r, c);
    }
    builder_.core(builder_.place(r, c), std::move(core));
  }

  /// A step of a core of a ring: which tiles it hands on, in which of the two places they are, and
  /// whether it multiplies.
  struct Shift {
    std::uint32_t index = 0;
    bool moves_w = false;
    bool moves_x = false;
    bool multiplies = false;
    std::uint32_t w = 0;
    std::uint32_t x = 0;
    std::array<Color, 4> colors{};  // out and in of W, out and in of X

    auto tied() const { return std::tie(index, moves_w, moves_x, multiplies, w, x, colors); }
    bool operator<(const Shift& other) const { return tied() < other.tied(); }

    /// Nothing follows.
    bool last() const { return multiplies && !moves_w; }
  };

  void shift_steps(CoreProgram& core, std::uint32_t r, std::uint32_t c) {
    const std::uint32_t px = x_.position(c);
    const std::uint32_t py = y_.position(r);
    Shift shift;
    shift.colors = {x_.color(px), x_.color(px + side_ - 1), y_.color(py), y_.color(py + side_ - 1)};
    core.in = {{shift.colors[1], 0}, {shift.colors[3], 1}};
    core.out = {{shift.colors[0], 2}, {shift.colors[2], 3}};
    const std::uint32_t skews = std::max(skew(py), skew(px));
    for (; shift.index < skews + side_; ++shift.index) {
      shift.multiplies = shift.index >= skews;
      const bool between = shift.multiplies && shift.index + 1 < skews + side_;
      shift.moves_w = between || shift.index < skew(py);
      shift.moves_x = between || shift.index < skew(px);
      core.tasks.share(shift_task(shift));
      if (shift.moves_w) shift.w = 1 - shift.w;
      if (shift.moves_x) shift.x = 1 - shift.x;
    }
  }

  /// Hands tiles on, and multiplies by those that are there. Many cores do the same.
  std::shared_ptr<Task> shift_task(const Shift& shift) {
    std::shared_ptr<Task>& task = shifts_[shift];
    if (task) return task;
    task = std::make_shared<Task>();
    task->active = shift.index == 0;
    task->blocked = shift.index != 0;
    std::vector<Step>& steps = task->steps;
    const auto [w_out, w_in, x_out, x_in] = shift.colors;
    const auto next = static_cast<TaskIndex>(shift.index + 1);
    if (shift.moves_w) {
      begin(steps, move(on_fabric(w_out), in_memory(w_at(shift.w)), w_bytes(), kSendW));
    }
    if (shift.moves_x) {
      begin(steps, move(on_fabric(x_out), in_memory(x_at(shift.x)), x_bytes(), kSendX));
    }
    if (shift.moves_w) {
      Instruction take = move(in_memory(w_at(1 - shift.w)), on_fabric(w_in), w_bytes(), kTakeW);
      take.activates = next;
      begin(steps, take);
    } else if (!shift.last()) {
      steps.push_back(activate(next));
    }
    if (shift.moves_x) {
      Instruction take = move(in_memory(x_at(1 - shift.x)), on_fabric(x_in), x_bytes(), kTakeX);
      take.unblocks = next;
      begin(steps, take);
    } else if (!shift.last()) {
      steps.push_back(unblock(next));
    }
    if (shift.multiplies) steps.push_back(product(shift.w, shift.x));
    return task;
  }

  /// Sends a tile along a line; with its last word the turn.
  static Instruction broadcast(Color color, std::uint32_t from, std::uint32_t bytes,
                               std::uint8_t thread) {
    constexpr unsigned kAdvance = first_command(SwitchCommand::advance);
    Instruction send = move(on_fabric(color), in_memory(from), bytes, thread);
    send.switches = static_cast<SwitchCommands>(kAdvance | kAdvance << 2U);
    return send;
  }

  /// Starts the broadcasts of a step, whose product is task `step` + 1. The core sends its tile of
  /// W, or of X.
  void begin_broadcast(std::vector<Step>& steps, bool sends_w, bool sends_x,
                       std::uint32_t step) const {
    const auto product = static_cast<TaskIndex>(step + 1);
    if (sends_w) {
      if (side_ > 1) begin(steps, broadcast(kAlongRows, w_at(2), w_bytes(), kSendW));
      steps.push_back(activate(product));
    } else {
      Instruction take = move(in_memory(w_at(step % 2)), on_fabric(kAlongRows), w_bytes(), kTakeW);
      take.activates = product;
      begin(steps, take);
    }
    if (sends_x) {
      if (side_ > 1) begin(steps, broadcast(kAlongColumns, x_at(2), x_bytes(), kSendX));
      steps.push_back(unblock(product));
    } else {
      Instruction take =
          move(in_memory(x_at(step % 2)), on_fabric(kAlongColumns), x_bytes(), kTakeX);
      take.unblocks = product;
      begin(steps, take);
    }
  }

  /// The product of the tiles in these buffers, by a routine that all cores share.
  Step product(std::uint32_t w, std::uint32_t x) {
    const auto [known, fresh] = products_.emplace(std::make_pair(w, x), 0U);
    if (fresh) {
      std::vector<Step> steps;
      multiply(steps, w_at(w), x_at(x));
      Routine routine;
      for (const Step& step : steps) {
        if (step.vector.length != 0) routine.push_back(step.vector);
      }
      known->second = builder_.add_routine(std::move(routine));
    }
    return call(known->second);
  }

  void broadcast_steps(CoreProgram& core, std::uint32_t r, std::uint32_t c) {
    if (side_ > 1) {
      core.in = {{kAlongRows, 0}, {kAlongColumns, 1}};
      core.out = {{kAlongRows, 2}, {kAlongColumns, 3}};
    }
    core.tasks.reserve(side_ + std::size_t{1});
    for (std::uint32_t index = 0; index <= side_; ++index) {
      const auto tile = [&](std::uint32_t at) {
        return index == at ? Tile::sent : index == at + 1 ? Tile::own : Tile::taken;
      };
      core.tasks.share(broadcast_task(index, tile(c), tile(r)));
    }
  }

  /// What a core does with its own tile in a task: it sends it, or multiplies by it.
  enum class Tile : std::uint8_t { taken, sent, own };

  /// Begins the broadcasts of step `index` and forms the product of the step before. Most cores do
  /// the same.
  std::shared_ptr<Task> broadcast_task(std::uint32_t index, Tile w, Tile x) {
    std::shared_ptr<Task>& task = broadcasts_[std::make_tuple(index, w, x)];
    if (task) return task;
    task = std::make_shared<Task>();
    task->active = index == 0;
    task->blocked = index != 0;
    if (index < side_) begin_broadcast(task->steps, w == Tile::sent, x == Tile::sent, index);
    if (index != 0) {
      const std::uint32_t taken = (index - 1) % 2;
      task->steps.push_back(product(w == Tile::own ? 2 : taken, x == Tile::own ? 2 : taken));
    }
    return task;
  }

  void fill_memory(TaskProgram& program) const {
    for (std::uint32_t r = 0; r < side_; ++r) {
      for (std::uint32_t c = 0; c < side_; ++c) {
        const std::uint32_t diagonal = (y_.position(r) + x_.position(c)) % side_;
        const bool skewed = job_.kind == DenseMesh::mesh;
        const std::uint32_t kw = skewed ? diagonal : c;  // blocks of k that it holds first
        const std::uint32_t kx = skewed ? diagonal : r;
        const std::uint32_t own = ring() ? 0 : 2;
        MemoryImage image(static_cast<std::uint32_t>(bytes()));
        for (std::uint32_t kk = 0; kk < tk_; ++kk) {
          for (std::uint32_t i = 0; i < tm_; ++i) {
            image.put(w_at(own) + kk * pitch() + 2 * i, Element::fp16,
                      w_value(r * tm_ + i, kw * tk_ + kk));
          }
          for (std::uint32_t j = 0; j < tn_; ++j) {
            image.put(x_at(own) + 2 * (kk * tn_ + j), Element::fp16,
                      x_value(kx * tk_ + kk, c * tn_ + j));
          }
        }
        program.memory.push_back(std::move(image).take());
      }
    }
  }

 public:
  float w_value(std::uint32_t i, std::uint32_t kk) const {
    return value(job_.seed, i, kk, i < job_.m && kk < job_.k);
  }
  float x_value(std::uint32_t kk, std::uint32_t j) const {
    return value(~job_.seed, kk, j, kk < job_.k && j < job_.n);
  }

 private:
  const DenseMeshJob job_;
  const CodeCosts& costs_;
  const std::uint32_t side_;
  const std::uint32_t tm_;
  const std::uint32_t tk_;
  const std::uint32_t tn_;
  TaskBuilder builder_;
  const RingLine x_;
  const RingLine y_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> products_;  // routines, by tiles
  std::map<Shift, std::shared_ptr<Task>> shifts_;
  std::map<std::tuple<std::uint32_t, Tile, Tile>, std::shared_ptr<Task>> broadcasts_;
};

LayerComparison compare_dense(const DenseMeshJob& job, const WaferMemory& memory) {
  const CodeCosts costs;
  const DenseMeshPlanner layout(job, costs);
  LayerComparison comparison;
  for (std::uint32_t i = 0; i < job.m; ++i) {
    for (std::uint32_t j = 0; j < job.n; ++j) {
      float expected = 0;
      for (std::uint32_t kk = 0; kk < job.k; ++kk) {
        expected += layout.w_value(i, kk) * layout.x_value(kk, j);
      }
      const std::size_t place = std::size_t{i / layout.tm()} * job.side + j / layout.tn();
      comparison.add_exact(
          load_element(memory[place], layout.y_address(i % layout.tm(), j % layout.tn()), false,
                       false),
          expected);
    }
  }
  return comparison;
}

}  // namespace

TaskKernel plan_dense_mesh(const DenseMeshJob& job, const CodeCosts& costs) {
  TaskKernel kernel = DenseMeshPlanner(job, costs).plan();
  kernel.compare = [job](const WaferMemory& memory) { return compare_dense(job, memory); };
  return kernel;
}

}  // namespace lacuna::wse
