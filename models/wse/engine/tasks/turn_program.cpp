// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/turn_program.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/wse/engine/tasks/find_program.hpp"
#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

constexpr std::uint32_t kMostTurnExtra = 20;  // of the lanes' small integers
constexpr unsigned kMostDelay = 100;
constexpr unsigned kMostTurnDepth = 100;
constexpr unsigned kMostTurnLatency = 7;

/// The last word of a core moves its own switch and that of the next one.
constexpr auto kNextSender = static_cast<SwitchCommands>(
    first_command(SwitchCommand::advance) | first_command(SwitchCommand::advance) << 2U);

/// All that says what an instruction does.
auto fields_of(const Operand& o) {
  return std::tie(o.kind, o.color, o.fifo, o.address, o.stride, o.inner, o.outer, o.index_bytes,
                  o.offset_bytes, o.value);
}
auto fields_of(const Instruction& i) {
  return std::tuple_cat(std::tie(i.op, i.element, i.length, i.thread, i.activates, i.unblocks,
                                 i.starts_sum, i.control, i.simd64, i.switches),
                        fields_of(i.to), fields_of(i.a), fields_of(i.b));
}
static_assert(sizeof(Operand) == 32 && sizeof(Instruction) == 116, "is a field left out?");

/// Orders tasks by what they do.
struct TaskOrder {
  bool operator()(const Task* a, const Task* b) const {
    const auto head = [](const Task& task) {
      return std::make_tuple(task.kind, task.color, task.id, task.active, task.blocked,
                             task.steps.size());
    };
    if (head(*a) != head(*b)) return head(*a) < head(*b);
    for (std::size_t i = 0; i < a->steps.size(); ++i) {
      const Step& x = a->steps[i];
      const Step& y = b->steps[i];
      const auto of = std::tie(x.kind, x.task, x.routine);
      const auto other = std::tie(y.kind, y.task, y.routine);
      if (of != other) return of < other;
      if (x.kind != Step::Kind::vector) continue;
      const auto vector = fields_of(x.vector);
      const auto second = fields_of(y.vector);
      if (vector != second) return vector < second;
    }
    return false;
  }
};

/// Translates the steps of a task.
class TurnCoder {
 public:
  TurnCoder(const TaskParams& params, const TurnProgram& program,
            const std::vector<Routine>& routines)
      : params_(params), program_(program), routines_(routines) {}

  bool code(const Task& task) {
    if (task.blocked && task.kind != Task::Kind::local) return false;
    result.kind = task.kind;
    result.id = task.id;
    result.blocked = task.blocked;
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
  LaneOp& op(LaneOp::Kind kind, std::uint8_t thread, std::uint32_t count, std::uint32_t extra = 0) {
    const bool continues = result.ops.size() != first_;
    LaneOp op;
    op.kind = kind;
    op.context = thread;
    op.extra = static_cast<std::uint8_t>(extra);
    op.continues = continues;
    op.count = count;
    result.ops.push_back(op);
    return result.ops.back();
  }

  bool add(const Step& step) {
    switch (step.kind) {
      case Step::Kind::activate:
        op(LaneOp::Kind::tell, kTurnMain, 0).activates = step.task;
        return true;
      case Step::Kind::unblock:
        op(LaneOp::Kind::tell, kTurnMain, 0).unblocks = step.task;
        return true;
      case Step::Kind::call:
        return add_call(routines_[step.routine]);
      case Step::Kind::block:
      case Step::Kind::stamp:
        return false;
      case Step::Kind::vector:
        break;
    }
    const Instruction& what = step.vector;
    const std::uint8_t context = program_.context.at(what.thread);
    const bool in_main = what.thread == kMainThread;
    if (!in_main && context == kTurnMain) return false;
    if (what.length == 0) {
      if (!in_main) op(LaneOp::Kind::wait, context, 0);
      return !in_main || !last_;
    }
    return in_main ? add_main(what) : add_move(what, context);
  }

  /// One instruction goes on after the other; when the last one begins, so has the step.
  bool add_call(const Routine& routine) {
    for (std::size_t i = 0; i < routine.size(); ++i) {
      if (i + 1 == routine.size()) first_ = result.ops.size();
      if (!add_main(routine[i])) return false;
    }
    return true;
  }

  /// All beats move one word and take one slot.
  bool moves_words(const Instruction& what, std::uint32_t& words) const {
    if (what.op != VectorOp::move || what.b.kind != Kind::none) return false;
    if (what.simd64 && params_.core.fabric_simd64) return false;
    if (source_bytes(what.element) != result_bytes(what.element)) return false;
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    const BeatStalls stalls = cost.stalls_from(0, what.length);
    if (words_of(source_bytes(what.element), cost.width()) != 1) return false;
    if (stalls.bank + stalls.residual + stalls.special != 0) return false;
    words = cost.beats(0, what.length);
    return true;
  }

  bool add_move(const Instruction& what, std::uint8_t context) {
    std::uint32_t words = 0;
    if (!moves_words(what, words)) return false;
    const bool sends = turn_sends(context);
    const bool ends = what.switches != 0;
    if (sends ? !can_send(what, context, words) : what.to.kind != Kind::memory) return false;
    if (sends) {
      result.counters.sent += words;
      result.words.at(turn_stream(context)) += words;
      result.ends.at(turn_stream(context)) += ends ? 1 : 0;
    } else {
      result.counters.received += words;
      result.takes_column = result.takes_column || context == kTurnTakeColumn;
    }
    result.counters.cycles[static_cast<std::size_t>(TaskCycle::fabric)] += words;
    count(what);
    LaneOp& start = op(LaneOp::Kind::start, context, words);
    start.activates = what.activates;
    start.unblocks = what.unblocks;
    start.ends = ends;
    return true;
  }

  /// Elements of memory, or the one word that closes a column; with the last the switches move.
  bool can_send(const Instruction& what, std::uint8_t context, std::uint32_t words) {
    if (what.switches != 0 && what.switches != kNextSender) return false;
    if (!what.control) return what.a.kind == Kind::memory;
    const bool one = words == 1 && what.element == Element::int32 && what.a.kind == Kind::number;
    if (!one || what.switches == 0 || context != kTurnSendColumn) return false;
    result.closes = true;
    result.close_id = static_cast<std::uint8_t>(static_cast<std::uint32_t>(what.a.value) >> 16U);
    return true;
  }

  bool add_main(const Instruction& what) {
    if (what.activates != kNoTask || what.unblocks != kNoTask) return false;
    if (what.to.kind == Kind::fabric || what.to.kind == Kind::fifo) return false;
    if (what.a.kind == Kind::fabric) {
      std::uint32_t words = 0;
      // the next word is not looked at before these are taken
      if (last_ || what.a.color != program_.color[kTurnColumn] || !moves_words(what, words)) {
        return false;
      }
      result.counters.cycles[static_cast<std::size_t>(TaskCycle::fabric)] += words;
      result.counters.received += words;
      result.main_takes = true;
      count(what);
      op(LaneOp::Kind::take, 0, words);
      return true;
    }
    if (what.a.kind == Kind::fifo || what.b.kind == Kind::fabric || what.b.kind == Kind::fifo) {
      return false;
    }
    return add_all_beats(what);
  }

  bool add_all_beats(const Instruction& what) {
    auto& cycles = result.counters.cycles;
    if (what.op == VectorOp::work) {
      cycles[static_cast<std::size_t>(TaskCycle::scalar)] += what.length;
      add_beats(what.length, 0);
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
      if (extra > kMostTurnExtra || word.bank != one.bank) return false;
      ++cycles[static_cast<std::size_t>(TaskCycle::vector)];
      cycles[static_cast<std::size_t>(TaskCycle::conflict)] += one.bank;
      cycles[static_cast<std::size_t>(TaskCycle::residual)] += one.residual;
      cycles[static_cast<std::size_t>(TaskCycle::special)] += one.special;
      add_beats(1, extra);
      first += elements;
    }
    return true;
  }

  /// Beats that follow those before without a gap, if these are of the same step.
  void add_beats(std::uint32_t beats, std::uint32_t extra) {
    const bool goes_on = result.ops.size() != first_ &&
                         result.ops.back().kind == LaneOp::Kind::beats &&
                         result.ops.back().extra == extra;
    if (goes_on) {
      result.ops.back().count += beats;
    } else {
      op(LaneOp::Kind::beats, 0, beats, extra);
    }
  }

  void count(const Instruction& what) {
    ++result.counters.instructions;
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    count_accesses(what, cost, 0, what.length, result.counters);
  }

  const TaskParams& params_;
  const TurnProgram& program_;
  const std::vector<Routine>& routines_;
  bool last_ = false;      // step of its task
  std::size_t first_ = 0;  // op of the step
};

class TurnFinder {
 public:
  TurnFinder(const TaskParams& params, const TaskProgram& program)
      : params_(params),
        shapes_(params.router),
        program_(program),
        used_(program.cores.size(), false) {
    result.rows = program.rows;
    result.columns = program.columns;
    result.code_of = program.core_of;
    for (const std::uint32_t core : program.core_of) used_[core] = true;
  }

  bool find() {
    return fits() && find_colors() && find_depths() && find_routes() && find_contexts() &&
           write_codes();
  }

  TurnProgram result;

 private:
  bool fits() const {
    const CoreParams& core = params_.core;
    const Dispatch dispatch(core);
    return program_.rows > 1 && program_.columns > 1 &&
           reason_against_lanes(params_.router).empty() && core.fabric_words_per_issue == 1U &&
           !shapes_.has_turns() && dispatch.delay(false) <= kMostDelay &&
           dispatch.delay(true) <= kMostDelay && shapes_.longest() <= kMostTurnLatency &&
           shapes_.link().capacity + shapes_.ramp_up().capacity < kMostTurnDepth;
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
      result.to_itself.at(stream) = (route.to & bit(kRamp)) != 0;
    }
    return found[0] && found[1] && result.color[0] != result.color[1];
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
        to.at(stream) = out_queue(core, color);
        const unsigned from = in_queue(core, color);
        if (to.at(stream) >= out.size() || from >= in.size()) return false;
        if (first) {
          result.out_depth.at(stream) = out[to.at(stream)];
          result.in_depth.at(stream) = in[from];
        }
        if (result.out_depth.at(stream) != out[to.at(stream)] ||
            result.in_depth.at(stream) != in[from] ||
            result.out_depth.at(stream) >= kMostTurnDepth ||
            shapes_.ramp_down(in[from]).capacity >= kMostTurnDepth) {
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

  PortSet itself(unsigned stream) const {
    return result.to_itself.at(stream) ? bit(kRamp) : PortSet{0};
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
           program_.columns, kWest, kEast, itself(kTurnRow));
      line(expected, result.color[kTurnColumn], static_cast<std::uint32_t>(core / program_.columns),
           program_.rows, kNorth, kSouth, itself(kTurnColumn));
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

  /// Which microthread has which stream, in the same order as the contexts.
  bool find_contexts() {
    for (std::uint32_t i = 0; i < program_.cores.size(); ++i) {
      for (const Task& task : program_.cores[i].tasks) {
        for (const Step& step : task.steps) {
          if (used_[i] && step.kind == Step::Kind::vector && !find_context(step.vector)) {
            return false;
          }
        }
      }
    }
    std::uint8_t last = kTurnMain;
    for (const std::uint8_t context : result.context) {
      if (context == kTurnMain) continue;
      if (context <= last) return false;
      last = context;
    }
    return true;
  }

  bool find_context(const Instruction& what) {
    if (what.thread == kMainThread || what.length == 0) return true;
    const bool sends = what.to.kind == Kind::fabric;
    const Operand& far = sends ? what.to : what.a;
    const unsigned stream = far.color == result.color[kTurnRow] ? kTurnRow : kTurnColumn;
    if (far.kind != Kind::fabric || far.color != result.color.at(stream)) return false;
    const auto context = static_cast<std::uint8_t>((sends ? kTurnSendRow : kTurnTakeRow) + stream);
    std::uint8_t& known = result.context.at(what.thread);
    if (known != kTurnMain && known != context) return false;
    known = context;
    return true;
  }

  bool write_codes() {
    bool first = true;
    for (std::uint32_t program = 0; program < program_.cores.size(); ++program) {
      TurnCode code;
      if (used_[program] && !write(program_.cores[program], first, code)) return false;
      first = first && !used_[program];
      result.codes.push_back(std::move(code));
    }
    return true;
  }

  /// What the tasks of a core do, all together.
  struct Told {
    std::array<std::uint32_t, 2> ends{};
    bool closes = false;
    bool takes_column = false;
    unsigned data = 0;  // tasks that are started by words
    bool local = true;  // all are local, and none takes words

    void add(const TurnTask& task) {
      for (unsigned s = 0; s < 2; ++s) ends.at(s) += task.ends.at(s);
      closes = closes || task.closes;
      takes_column = takes_column || task.takes_column;
      local = local && task.kind == Task::Kind::local && !task.main_takes;
      data += task.kind == Task::Kind::data ? 1 : 0;
    }
  };

  /// Every core sends on both streams. All of them have data tasks and close columns, or none.
  bool write(const CoreProgram& core, bool first, TurnCode& code) {
    if (!core.fifos.empty() || core.tasks.empty()) return false;
    if (core.tasks[0].blocked || core.tasks[0].kind != Task::Kind::local) return false;
    Told told;
    code.tasks.reserve(core.tasks.size());
    for (std::size_t i = 0; i < core.tasks.size(); ++i) {
      const Task& task = core.tasks[i];
      if (task.active != (i == 0) || !tells_local(core, task)) return false;
      const std::optional<std::uint32_t> number = number_of(task);
      if (!number) return false;
      const TurnTask& made = result.tasks[*number];
      code.tasks.push_back(*number);
      for (unsigned s = 0; s < 2; ++s) code.words.at(s) += made.words.at(s);
      if (made.closes) code.close_id = made.close_id;
      told.add(made);
      if (made.kind == Task::Kind::data && task.color != result.color[kTurnColumn]) return false;
    }
    if (first) result.by_tasks = told.closes;
    if (told.closes != result.by_tasks || told.ends[0] != 1 || told.ends[1] != 1) return false;
    return told.closes ? told.data == 1 && !told.takes_column : told.local;
  }

  /// It activates and unblocks local tasks alone.
  static bool tells_local(const CoreProgram& core, const Task& task) {
    const auto is_local = [&](TaskIndex told) {
      return told == kNoTask ||
             (told < core.tasks.size() && core.tasks[told].kind == Task::Kind::local);
    };
    return std::all_of(task.steps.begin(), task.steps.end(), [&](const Step& step) {
      return is_local(step.task) && is_local(step.vector.activates) &&
             is_local(step.vector.unblocks);
    });
  }

  /// Of result.tasks; nullopt if it is none for lanes.
  std::optional<std::uint32_t> number_of(const Task& task) {
    const auto shared = shared_.find(&task);
    if (shared != shared_.end()) return shared->second;
    const auto [known, fresh] =
        numbers_.emplace(&task, static_cast<std::uint32_t>(result.tasks.size()));
    shared_.emplace(&task, known->second);
    if (!fresh) return known->second;
    TurnCoder coder(params_, result, program_.routines);
    if (!coder.code(task)) return std::nullopt;
    result.tasks.push_back(std::move(coder.result));
    return known->second;
  }

  const TaskParams& params_;
  const QueueShapes shapes_;
  const TaskProgram& program_;
  std::vector<bool> used_;                                   // descriptions of cores
  std::map<const Task*, std::uint32_t, TaskOrder> numbers_;  // of tasks,
  std::unordered_map<const Task*, std::uint32_t> shared_;    // and of those that cores share
};

}  // namespace

std::optional<TurnProgram> find_turns(const TaskParams& params, const TaskProgram& program) {
  return find_form<TurnFinder>(params, program);
}

}  // namespace lacuna::wse
