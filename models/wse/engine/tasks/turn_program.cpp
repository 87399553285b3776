// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/turn_program.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

constexpr std::uint32_t kMostExtra = 20;  // of the lanes' small integers
constexpr unsigned kMostDelay = 100;
constexpr unsigned kMostDepth = 100;
constexpr unsigned kMostLatency = 7;

/// The last word of a core moves its own switch and that of the next one.
constexpr auto kNextSender = static_cast<SwitchCommands>(
    first_command(SwitchCommand::advance) | first_command(SwitchCommand::advance) << 2U);

/// Translates the steps of a task.
class Coder {
 public:
  Coder(const TaskParams& params, const TurnProgram& program, const CoreProgram& core)
      : params_(params), program_(program), core_(core) {}

  bool code(const Task& task) {
    if (task.blocked) return false;
    result.kind = task.kind;
    result.id = task.id;
    for (std::size_t i = 0; i < task.steps.size(); ++i) {
      last_ = i + 1 == task.steps.size();
      first_ = result.ops.size();
      if (!add(task.steps[i])) return false;
    }
    result.begun = std::min(first_ + 1, result.ops.size());
    return true;
  }

  TurnTask result;

 private:
  Color row() const { return program_.color[kTurnRow]; }
  Color column() const { return program_.color[kTurnColumn]; }
  bool is_close(TaskIndex task) const {
    return task < core_.tasks.size() && core_.tasks[task].kind == Task::Kind::local;
  }

  void op(LaneOp::Kind kind, std::uint8_t thread, std::uint32_t count, std::uint32_t extra = 0) {
    const bool continues = result.ops.size() != first_;
    result.ops.push_back({kind, thread, static_cast<std::uint8_t>(extra), continues, count});
  }

  bool add(const Step& step) {
    if (step.kind == Step::Kind::activate && is_close(step.task)) {
      op(LaneOp::Kind::activate, 0, 0);
      return true;
    }
    if (step.kind != Step::Kind::vector) return false;
    const Instruction& what = step.vector;
    if (what.unblocks != kNoTask || what.thread > kTurnSendColumn) return false;
    if (what.length == 0) {
      if (what.thread != kTurnMain) op(LaneOp::Kind::wait, what.thread, 0);
      return what.thread != kTurnMain || !last_;
    }
    return what.thread == kTurnMain ? add_main(what) : add_move(what);
  }

  /// All beats move one word and take one slot.
  bool moves_words(const Instruction& what, std::uint32_t& words) const {
    if (what.op != VectorOp::move || what.b.kind != Kind::none) return false;
    if (source_bytes(what.element) != result_bytes(what.element)) return false;
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    const BeatStalls stalls = cost.stalls_from(0, what.length);
    if (words_of(source_bytes(what.element), cost.width()) != 1) return false;
    if (stalls.bank + stalls.residual + stalls.special != 0) return false;
    words = cost.beats(0, what.length);
    return true;
  }

  bool add_move(const Instruction& what) {
    std::uint32_t words = 0;
    if (!moves_words(what, words)) return false;
    const bool sends = what.to.kind == Kind::fabric;
    const Operand& far = sends ? what.to : what.a;
    const Operand& near = sends ? what.a : what.to;
    const bool taken = !sends && far.kind == Kind::fabric && far.color == row();
    switch (what.thread) {
      case kTurnTakeRow:
        if (!taken || near.kind != Kind::memory || what.activates != kNoTask) return false;
        result.counters.received += words;
        break;
      case kTurnSendRow:
        if (!sends || far.color != row() || near.kind != Kind::memory) return false;
        if (what.switches != kNextSender || what.control || what.activates != kNoTask) return false;
        result.row_words += words;
        break;
      default:
        if (!sends || far.color != column() || !add_column(what, words)) return false;
    }
    if (sends) result.counters.sent += words;
    result.counters.cycles[static_cast<std::size_t>(TaskCycle::fabric)] += words;
    count(what);
    op(LaneOp::Kind::start, what.thread, words);
    return true;
  }

  /// The words of a column, whose end has the closing task send; or its one word.
  bool add_column(const Instruction& what, std::uint32_t words) {
    if (!what.control) {
      if (what.a.kind != Kind::memory || what.switches != 0 || !is_close(what.activates)) {
        return false;
      }
      result.column_words += words;
      return true;
    }
    const bool one = words == 1 && what.element == Element::int32 && what.a.kind == Kind::number;
    if (!one || what.switches != kNextSender || what.activates != kNoTask || result.closes) {
      return false;
    }
    result.closes = true;
    result.close_id = static_cast<std::uint8_t>(static_cast<std::uint32_t>(what.a.value) >> 16U);
    return true;
  }

  bool add_main(const Instruction& what) {
    if (what.activates != kNoTask || what.to.kind == Kind::fabric || what.to.kind == Kind::fifo) {
      return false;
    }
    if (what.a.kind == Kind::fabric) {
      std::uint32_t words = 0;
      // the next word is not looked at before these are taken
      if (last_ || what.a.color != column() || !moves_words(what, words)) return false;
      result.counters.cycles[static_cast<std::size_t>(TaskCycle::fabric)] += words;
      result.counters.received += words;
      count(what);
      op(LaneOp::Kind::take, 0, words);
      return true;
    }
    if (what.a.kind == Kind::fifo || what.b.kind == Kind::fabric || what.b.kind == Kind::fifo) {
      return false;
    }
    return add_beats(what);
  }

  bool add_beats(const Instruction& what) {
    auto& cycles = result.counters.cycles;
    if (what.op == VectorOp::work) {
      cycles[static_cast<std::size_t>(TaskCycle::scalar)] += what.length;
      op(LaneOp::Kind::beats, 0, what.length);
      return true;
    }
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    const BeatCost other(what, params_.simd, params_.mem, 1, 0x00010001);
    count(what);
    for (std::uint32_t first = 0; first < what.length;) {
      const std::uint32_t elements = cost.elements(first, what.length);
      const BeatStalls one = cost.stalls(first, elements);
      const BeatStalls word = other.stalls(first, elements);
      const std::uint32_t extra = one.bank + one.residual + one.special;
      // what the word that started the task says must not matter
      if (extra > kMostExtra || word.bank != one.bank) return false;
      ++cycles[static_cast<std::size_t>(TaskCycle::vector)];
      cycles[static_cast<std::size_t>(TaskCycle::conflict)] += one.bank;
      cycles[static_cast<std::size_t>(TaskCycle::residual)] += one.residual;
      cycles[static_cast<std::size_t>(TaskCycle::special)] += one.special;
      const bool goes_on = first != 0 && result.ops.back().extra == extra;
      if (goes_on) {
        ++result.ops.back().count;
      } else {
        op(LaneOp::Kind::beats, 0, 1, extra);
      }
      first += elements;
    }
    return true;
  }

  void count(const Instruction& what) {
    ++result.counters.instructions;
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    for (std::uint32_t first = 0; first < what.length;) {
      const std::uint32_t elements = cost.elements(first, what.length);
      count_elements(what, cost, elements, result.counters);
      first += elements;
    }
  }

  const TaskParams& params_;
  const TurnProgram& program_;
  const CoreProgram& core_;
  bool last_ = false;      // step of its task
  std::size_t first_ = 0;  // op of the step
};

class Finder {
 public:
  Finder(const TaskParams& params, const TaskProgram& program)
      : params_(params),
        shapes_(params.router),
        program_(program),
        used_(program.cores.size(), false) {
    result.rows = program.rows;
    result.columns = program.columns;
    result.code_of = program.core_of;
    for (const std::uint32_t core : program.core_of) used_[core] = true;
  }

  bool find() { return fits() && find_colors() && find_depths() && find_routes() && write_codes(); }

  TurnProgram result;

 private:
  bool fits() const {
    const CoreParams& core = params_.core;
    const Dispatch dispatch(core);
    return program_.rows > 1 && program_.columns > 1 && program_.routines.empty() &&
           reason_against_lanes(params_.router).empty() && core.fabric_words_per_issue == 1U &&
           !shapes_.has_turns() && dispatch.delay(false) <= kMostDelay &&
           dispatch.delay(true) <= kMostDelay && shapes_.longest() <= kMostLatency &&
           shapes_.link().capacity + shapes_.ramp_up().capacity < kMostDepth;
  }

  const SwitchedRouter& router(std::size_t core) const {
    return program_.routers[program_.router_of[core]];
  }

  /// Of the first core: what it sends to the east goes along the row.
  bool find_colors() {
    std::array<bool, 2> found{};
    for (const SwitchedRoute& route : router(0).routes) {
      if (route.from != kRamp) continue;
      const unsigned stream = (route.to & bit(kEast)) != 0 ? kTurnRow : kTurnColumn;
      if (found.at(stream)) return false;
      // output queues are asked in the order of their routes
      if (stream == kTurnColumn && !found[kTurnRow]) return false;
      found.at(stream) = true;
      result.color.at(stream) = route.color;
    }
    return found[0] && found[1] && result.color[0] != result.color[1];
  }

  static unsigned queue_of(const std::vector<QueueUse>& uses, Color color, unsigned otherwise) {
    for (const QueueUse& use : uses) {
      if (use.color == color) return use.queue;
    }
    return otherwise;
  }

  bool find_depths() {
    const std::vector<unsigned> in = params_.queue.in_depths();
    const std::vector<unsigned> out = params_.queue.out_depths();
    bool first = true;
    for (std::uint32_t i = 0; i < program_.cores.size(); ++i) {
      if (!used_[i]) continue;
      const CoreProgram& core = program_.cores[i];
      std::array<unsigned, 2> to{};
      for (unsigned stream = 0; stream < 2; ++stream) {
        const Color color = result.color.at(stream);
        to.at(stream) = queue_of(core.out, color, 2);
        const unsigned from = queue_of(core.in, color, 0);
        if (to.at(stream) >= out.size() || from >= in.size()) return false;
        if (first) {
          result.out_depth.at(stream) = out[to.at(stream)];
          result.in_depth.at(stream) = in[from];
        }
        if (result.out_depth.at(stream) != out[to.at(stream)] ||
            result.in_depth.at(stream) != in[from] || result.out_depth.at(stream) >= kMostDepth ||
            shapes_.ramp_down(in[from]).capacity >= kMostDepth) {
          return false;
        }
      }
      if (to[0] == to[1]) return false;
      first = false;
    }
    return true;
  }

  /// The routes of a place in a line of `count`.
  static void line(std::vector<SwitchedRoute>& routes, Color color, std::uint32_t at,
                   std::uint32_t count, Port low, Port high, PortSet itself) {
    const PortSet lower = at > 0 ? bit(low) : PortSet{0};
    const PortSet higher = at + 1 < count ? bit(high) : PortSet{0};
    std::uint8_t position = 0;
    if (lower != 0) {
      routes.push_back({color, low, static_cast<PortSet>(higher | bit(kRamp)), position++});
    }
    routes.push_back({color, kRamp, static_cast<PortSet>(lower | higher | itself), position++});
    if (higher != 0) {
      routes.push_back({color, high, static_cast<PortSet>(lower | bit(kRamp)), position});
    }
  }

  bool find_routes() const {
    const auto all_of = [](const SwitchedRoute& r) {
      return std::make_tuple(r.color, r.from, r.to, r.position);
    };
    const auto less = [&](const SwitchedRoute& a, const SwitchedRoute& b) {
      return all_of(a) < all_of(b);
    };
    for (std::size_t core = 0; core < program_.core_of.size(); ++core) {
      const SwitchedRouter& here = router(core);
      std::vector<SwitchedRoute> expected;
      line(expected, result.color[kTurnRow], static_cast<std::uint32_t>(core % program_.columns),
           program_.columns, kWest, kEast, 0);
      line(expected, result.color[kTurnColumn], static_cast<std::uint32_t>(core / program_.columns),
           program_.rows, kNorth, kSouth, bit(kRamp));
      std::vector<SwitchedRoute> found = here.routes;
      std::sort(found.begin(), found.end(), less);
      std::sort(expected.begin(), expected.end(), less);
      const bool same = std::equal(
          found.begin(), found.end(), expected.begin(), expected.end(),
          [&](const SwitchedRoute& a, const SwitchedRoute& b) { return all_of(a) == all_of(b); });
      if (!same || !here.filters.empty() || here.rules.size() != 2) return false;
      for (const SwitchedRouter::Rule& rule : here.rules) {
        if (rule.ring || !rule.pop) return false;
      }
      if (here.rules[0].color == here.rules[1].color) return false;
    }
    return true;
  }

  bool write_codes() {
    for (std::uint32_t program = 0; program < program_.cores.size(); ++program) {
      const CoreProgram& core = program_.cores[program];
      TurnCode code;
      if (!used_[program]) {
        result.codes.push_back(std::move(code));
        continue;
      }
      unsigned data = 0;
      unsigned closes = 0;
      if (!core.fifos.empty() || core.tasks.empty() || !core.tasks[0].active) return false;
      for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
        const Task& task = core.tasks[i];
        Coder coder(params_, result, core);
        if (!coder.code(task) || (i != 0 && task.active)) return false;
        const TurnTask& made = coder.result;
        if (task.kind == Task::Kind::data) {
          if (task.color != result.color[kTurnColumn]) return false;
          code.data = i;
          ++data;
        }
        if (made.closes) {
          if (made.kind != Task::Kind::local || i == 0 || made.ops.size() != 1) return false;
          code.close = i;
          ++closes;
        }
        if (i != 0 && (made.row_words != 0 || made.column_words != 0)) return false;
        code.tasks.push_back(coder.result);
      }
      if (data != 1 || closes != 1 || core.tasks[0].kind != Task::Kind::local) return false;
      if (!only_the_close(core, code.close) || code.tasks[0].row_words == 0) return false;
      result.codes.push_back(std::move(code));
    }
    return true;
  }

  /// Of the local tasks but the first there is one, and the first activates it once.
  static bool only_the_close(const CoreProgram& core, std::uint32_t close) {
    unsigned times = 0;
    for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
      if (i != 0 && i != close && core.tasks[i].kind == Task::Kind::local) return false;
      for (const Step& step : core.tasks[i].steps) {
        const TaskIndex told =
            step.kind == Step::Kind::activate ? step.task : step.vector.activates;
        if (told == kNoTask) continue;
        if (i != 0 || told != close) return false;
        ++times;
      }
    }
    return times == 1;
  }

  const TaskParams& params_;
  const QueueShapes shapes_;
  const TaskProgram& program_;
  std::vector<bool> used_;  // descriptions of cores
};

}  // namespace

std::optional<TurnProgram> find_turns(const TaskParams& params, const TaskProgram& program) {
  if (program.core_of.empty() || !program.memory.empty()) return std::nullopt;
  Finder finder(params, program);
  if (!finder.find()) return std::nullopt;
  return std::move(finder.result);
}

}  // namespace lacuna::wse
