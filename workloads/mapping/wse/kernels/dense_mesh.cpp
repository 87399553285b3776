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
      for (std::uint32_t c = 0; c < side_; ++c) {
        builder_.core(builder_.place(r, c), ring() ? shift_steps(r, c) : broadcast_steps(r, c));
      }
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

  // Tile 0 is that of W, 1 that of X. A product begins when task `next` is activated by W and
  // unblocked by X.
  std::uint32_t bytes_of(unsigned tile) const { return tile == 0 ? w_bytes() : x_bytes(); }
  std::uint32_t at(unsigned tile, std::uint32_t buffer) const {
    return tile == 0 ? w_at(buffer) : x_at(buffer);
  }

  void send(std::vector<Step>& steps, unsigned tile, std::uint32_t buffer, Color color,
            SwitchCommands switches = 0) const {
    Instruction send = move(on_fabric(color), in_memory(at(tile, buffer)), bytes_of(tile),
                            tile == 0 ? kSendW : kSendX);
    send.switches = switches;
    begin(steps, send);
  }

  void take(std::vector<Step>& steps, unsigned tile, std::uint32_t buffer, Color color,
            TaskIndex next) const {
    Instruction take = move(in_memory(at(tile, buffer)), on_fabric(color), bytes_of(tile),
                            tile == 0 ? kTakeW : kTakeX);
    (tile == 0 ? take.activates : take.unblocks) = next;
    begin(steps, take);
  }

  static Step is_there(unsigned tile, TaskIndex next) {
    return tile == 0 ? activate(next) : unblock(next);
  }

  static std::shared_ptr<Task> fresh_task(std::uint32_t index) {
    auto task = std::make_shared<Task>();
    task->active = index == 0;
    task->blocked = index != 0;
    return task;
  }

  /// A core's tile of an operand in a step of a ring: whether it is handed on, in which of the two
  /// places it is, and the colors that it leaves and the next one comes by.
  struct Shift {
    bool moves = false;
    std::uint32_t place = 0;
    Color out{};
    Color in{};

    bool operator<(const Shift& other) const {
      return std::tie(moves, place, out, in) <
             std::tie(other.moves, other.place, other.out, other.in);
    }
  };
  using Shifts = std::array<Shift, 2>;  // of W and of X

  CoreProgram shift_steps(std::uint32_t r, std::uint32_t c) {
    CoreProgram core;
    const std::array<std::uint32_t, 2> at = {x_.position(c), y_.position(r)};
    const std::array<std::uint32_t, 2> skews = {skew(at[1]), skew(at[0])};
    const std::uint32_t first = std::max(skews[0], skews[1]);  // product
    Shifts shifts{{{false, 0, x_.color(at[0]), x_.color(at[0] + side_ - 1)},
                   {false, 0, y_.color(at[1]), y_.color(at[1] + side_ - 1)}}};
    core.in = {{shifts[0].in, 0}, {shifts[1].in, 1}};
    core.out = {{shifts[0].out, 2}, {shifts[1].out, 3}};
    for (std::uint32_t i = 0; i < first + side_; ++i) {
      const bool between = i >= first && i + 1 < first + side_;
      for (const unsigned tile : {0U, 1U}) shifts[tile].moves = between || i < skews[tile];
      core.tasks.share(shift_task(i, i >= first, shifts));
      for (Shift& shift : shifts) shift.place = shift.moves ? 1 - shift.place : shift.place;
    }
    return core;
  }

  /// Hands tiles on, and multiplies by those that are there. Many cores do the same.
  std::shared_ptr<Task> shift_task(std::uint32_t index, bool multiplies, const Shifts& shifts) {
    std::shared_ptr<Task>& task = shifts_[std::make_tuple(index, multiplies, shifts)];
    if (task) return task;
    task = fresh_task(index);
    std::vector<Step>& steps = task->steps;
    const auto next = static_cast<TaskIndex>(index + 1);
    const bool last = multiplies && !shifts[0].moves;
    for (const unsigned tile : {0U, 1U}) {
      const Shift& shift = shifts[tile];
      if (shift.moves) send(steps, tile, shift.place, shift.out);
    }
    for (const unsigned tile : {0U, 1U}) {
      const Shift& shift = shifts[tile];
      if (shift.moves) {
        take(steps, tile, 1 - shift.place, shift.in, next);
      } else if (!last) {
        steps.push_back(is_there(tile, next));
      }
    }
    if (multiplies) steps.push_back(product(shifts[0].place, shifts[1].place));
    return task;
  }

  /// Starts the broadcasts of a step, whose product is task `step` + 1. The core sends its tile of
  /// W, or of X; with the last word goes the turn.
  void begin_broadcast(std::vector<Step>& steps, std::array<bool, 2> sends,
                       std::uint32_t step) const {
    constexpr unsigned kAdvance = first_command(SwitchCommand::advance);
    constexpr auto kTurn = static_cast<SwitchCommands>(kAdvance | kAdvance << 2U);
    const auto product = static_cast<TaskIndex>(step + 1);
    for (const unsigned tile : {0U, 1U}) {
      const Color color = tile == 0 ? kAlongRows : kAlongColumns;
      if (!sends[tile]) {
        take(steps, tile, step % 2, color, product);
        continue;
      }
      if (side_ > 1) send(steps, tile, 2, color, kTurn);
      steps.push_back(is_there(tile, product));
    }
  }

  /// Y += W X of the tiles in these buffers, by a routine that all cores share: one
  /// multiply-accumulate for each element of X.
  Step product(std::uint32_t w, std::uint32_t x) {
    const auto [known, fresh] = products_.emplace(std::make_pair(w, x), 0U);
    if (!fresh) return call(known->second);
    const ScalarParams& scalar = costs_.scalar;
    const Step code =
        work(scalar.loop + scalar.load + 2 * scalar.dsr_write + costs_.from_registers());
    Routine routine;
    for (std::uint32_t kk = 0; kk < tk_; ++kk) {
      for (std::uint32_t j = 0; j < tn_; ++j) {
        if (code.vector.length != 0) routine.push_back(code.vector);
        routine.push_back(instruction(VectorOp::fma, Element::fp16, in_memory(y_address(0, j)),
                                      in_memory(w_at(w) + kk * pitch()),
                                      cell(x_at(x) + 2 * (kk * tn_ + j)), tm_));
      }
    }
    known->second = builder_.add_routine(std::move(routine));
    return call(known->second);
  }

  CoreProgram broadcast_steps(std::uint32_t r, std::uint32_t c) {
    CoreProgram core;
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
    return core;
  }

  /// What a core does with its own tile in a task: it sends it, or multiplies by it.
  enum class Tile : std::uint8_t { taken, sent, own };

  /// Begins the broadcasts of step `index` and forms the product of the step before. Most cores do
  /// the same.
  std::shared_ptr<Task> broadcast_task(std::uint32_t index, Tile w, Tile x) {
    std::shared_ptr<Task>& task = broadcasts_[std::make_tuple(index, w, x)];
    if (task) return task;
    task = fresh_task(index);
    if (index < side_) begin_broadcast(task->steps, {w == Tile::sent, x == Tile::sent}, index);
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
  std::map<std::tuple<std::uint32_t, bool, Shifts>, std::shared_ptr<Task>> shifts_;
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
