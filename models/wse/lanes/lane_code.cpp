// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/lane_code.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse::lanes {
namespace {

using Kind = Operand::Kind;

constexpr std::uint32_t kMostExtra = 100;

class Coder {
 public:
  Coder(const TaskParams& params, const std::vector<Routine>& routines, const Names& names)
      : params_(params), routines_(routines), names_(names) {}

  TaskCode code(const Task& task) {
    result_.kind = task.kind;
    if (task.kind == Task::Kind::data) result_.cls = class_of(task.color);
    result_.id = task.id;
    result_.active = task.active;
    result_.blocked = task.blocked;
    for (const Step& step : task.steps) {
      last_ = &step == &task.steps.back();
      if (last_ || !goes_on(step)) first_ = result_.ops.size();
      add(step);
    }
    result_.begun = std::min(first_ + 1, result_.ops.size());
    return std::move(result_);
  }

 private:
  int class_of(Color color) const {
    const int cls = names_.class_of.at(static_cast<std::size_t>(color));
    if (cls < 0) refuse("a color that no router knows");
    return cls;
  }

  /// Beats of the main thread come before, and nobody waits for their end.
  bool in_beats() const {
    if (result_.ops.empty()) return false;
    const Op& op = result_.ops.back();
    return op.kind == Op::Kind::beats && op.activates == kNoTask && op.unblocks == kNoTask;
  }
  /// A step of beats follows such beats without a gap, as if it were of the same step.
  bool goes_on(const Step& step) const {
    if (!in_beats()) return false;
    if (step.kind == Step::Kind::call) return true;
    return step.kind == Step::Kind::vector && step.vector.thread == 0 && step.vector.length != 0;
  }

  Op& op(Op::Kind kind, std::uint8_t context = 0) {
    Op op;
    op.kind = kind;
    op.context = context;
    op.continues = kind == Op::Kind::beats && in_beats();
    result_.ops.push_back(op);
    return result_.ops.back();
  }

  void add(const Step& step) {
    switch (step.kind) {
      case Step::Kind::activate:
        op(Op::Kind::tell).activates = step.task;
        return;
      case Step::Kind::unblock:
        op(Op::Kind::tell).unblocks = step.task;
        return;
      case Step::Kind::block:
        op(Op::Kind::tell).blocks = step.task;
        return;
      case Step::Kind::stamp:
        op(Op::Kind::tell).stamps = true;
        return;
      case Step::Kind::call: {
        const Routine& routine = routines_[step.routine];
        for (std::size_t i = 0; i < routine.size(); ++i) {
          if (last_ && i + 1 == routine.size()) first_ = result_.ops.size();
          add_beats(routine[i], 0);
        }
        return;
      }
      case Step::Kind::vector:
        break;
    }
    const Instruction& what = step.vector;
    const std::uint8_t context = names_.context_of.at(what.thread);
    if (what.length != 0) {
      add_beats(what, context);
    } else if (context != 0) {
      op(Op::Kind::wait, context);
    } else if (last_) {
      op(Op::Kind::tell);  // it begins when the one before is over
    }
  }

  std::uint8_t class_bit(const Operand& operand) const {
    if (operand.is_fifo()) refuse("a FIFO in memory");
    if (!operand.is_fabric()) return 0;
    return static_cast<std::uint8_t>(1U << class_of(operand.color));
  }

  /// What the word that started the task says must not matter.
  void check_word(const Instruction& what, const BeatCost& cost, std::uint32_t first,
                  std::uint32_t elements, unsigned words) const {
    bool reads = false;
    for (const Operand* operand : {&what.to, &what.a, &what.b}) {
      reads = reads || operand->index_bytes != 0 || operand->offset_bytes != 0;
    }
    if (!reads) return;
    const BeatCost other(what, params_.simd, params_.mem, words, 0x00010001);
    if (other.stalls(first, elements).bank == cost.stalls(first, elements).bank) return;
    refuse("an address that the word of a task says");
  }

  /// Beats of one length are one op.
  void add_beats(const Instruction& what, std::uint8_t context) {
    const auto sends = class_bit(what.to);
    const auto a = class_bit(what.a);
    const auto b = class_bit(what.b);
    if ((a & b) != 0) refuse("two words of a queue in a beat");
    const unsigned words =
        what.simd64 && params_.core.fabric_simd64 ? 2 : params_.core.fabric_words_per_issue.value();
    const BeatCost cost(what, params_.simd, params_.mem, words, 0);
    const bool work = what.op == VectorOp::work;
    Op next;
    next.context = context;
    next.takes = static_cast<std::uint8_t>(a | b);
    next.sends = sends;
    for (std::uint32_t first = 0; first < what.length;) {
      const std::uint32_t elements = work ? what.length : cost.elements(first, what.length);
      if (!work) check_word(what, cost, first, elements, words);
      next.count = work ? elements : 1;
      next.words_in = words_in_beat(next.takes, source_bytes(what.element), elements);
      next.words_out = words_in_beat(next.sends, result_bytes(what.element), elements);
      put(next, what, work ? BeatStalls() : cost.stalls(first, elements));
      first += elements;
    }
    finish(what);
    if (!work) ++result_.counters.instructions;
    count_accesses(what, cost, 0, what.length, result_.counters);
  }
  static std::uint8_t words_in_beat(std::uint8_t classes, unsigned bytes, std::uint32_t elements) {
    return classes == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(words_of(bytes, elements));
  }

  /// What comes with the last beat of an instruction.
  void finish(const Instruction& what) {
    Op& last = result_.ops.back();
    last.activates = what.activates;
    last.unblocks = what.unblocks;
    last.switches = what.switches;
    for (SwitchCommands left = what.switches & 0x7FFFU; left != 0; left >>= 2U) {
      if (command_of(left) == SwitchCommand::teardown) refuse("a teardown");
    }
    if (!what.control || last.sends == 0) return;
    const bool one = what.length == 1 && last.count == 1;
    const bool known = what.op == VectorOp::move && what.element == Element::int32 &&
                       what.a.kind == Kind::number && what.b.kind == Kind::none;
    if (!one || !known) refuse("commands that are not known before");
    last.control = true;
    last.id = static_cast<std::uint8_t>(static_cast<std::uint32_t>(what.a.value) >> 16U);
  }

  void put(const Op& beat, const Instruction& what, const BeatStalls& stalls) {
    const bool fabric = (beat.takes | beat.sends) != 0;
    TaskCycle kind = fabric ? TaskCycle::fabric : TaskCycle::vector;
    if (what.op == VectorOp::work) kind = TaskCycle::scalar;
    count_beats(kind, beat.count, stalls);
    const auto classes = [](unsigned bits) {
      return static_cast<unsigned>(__builtin_popcount(bits));
    };
    result_.counters.received += std::uint64_t{beat.count} * beat.words_in * classes(beat.takes);
    result_.counters.sent += std::uint64_t{beat.count} * beat.words_out;
    const std::uint32_t extra = stalls.all();
    const bool in_main = beat.context == 0;
    if (extra > kMostExtra || (!in_main && extra != 0)) refuse("a beat that takes long");
    if (!in_main && params_.core.slots == 2U && kind != TaskCycle::fabric) {
      refuse("a microthread on memory beside the main thread");
    }
    const bool has_before = result_.ops.size() != first_;
    if (has_before) {
      Op& before = result_.ops.back();
      Op joined = beat;
      joined.kind = before.kind;
      joined.extra = static_cast<std::uint8_t>(extra);
      joined.continues = before.continues;
      joined.count = before.count;
      if (before == joined) {
        before.count += beat.count;
        return;
      }
      before.goes_on = !in_main;
    }
    Op& next = op(in_main ? Op::Kind::beats : Op::Kind::start, beat.context);
    next.takes = beat.takes;
    next.sends = beat.sends;
    next.words_in = beat.words_in;
    next.words_out = beat.words_out;
    next.extra = static_cast<std::uint8_t>(extra);
    next.count = beat.count;
  }
  void count_beats(TaskCycle kind, std::uint32_t beats, const BeatStalls& stalls) {
    const auto add = [&](TaskCycle cycle, std::uint32_t more) {
      result_.counters.cycles.at(static_cast<std::size_t>(cycle)) += more;
    };
    add(kind, beats);
    add(TaskCycle::conflict, stalls.bank);
    add(TaskCycle::residual, stalls.residual);
    add(TaskCycle::special, stalls.special);
  }

  const TaskParams& params_;
  const std::vector<Routine>& routines_;
  const Names& names_;
  TaskCode result_;
  bool last_ = false;      // step of its task
  std::size_t first_ = 0;  // op of the step, or of steps that are as one
};

auto fields_of(const Op& op) {
  return std::tie(op.kind, op.context, op.extra, op.continues, op.goes_on, op.takes, op.sends,
                  op.words_in, op.words_out, op.control, op.id, op.stamps, op.count, op.activates,
                  op.unblocks, op.blocks, op.switches);
}

}  // namespace

bool operator==(const Op& a, const Op& b) { return fields_of(a) == fields_of(b); }

bool same(const TaskCode& a, const TaskCode& b) {
  const auto head = [](const TaskCode& code) {
    return std::tie(code.kind, code.cls, code.id, code.active, code.blocked, code.begun);
  };
  return head(a) == head(b) && a.ops == b.ops && a.counters == b.counters;
}

void refuse(std::string why) { throw Refused{std::move(why)}; }

TaskCode write_code(const TaskParams& params, const std::vector<Routine>& routines,
                    const Names& names, const Task& task) {
  return Coder(params, routines, names).code(task);
}

}  // namespace lacuna::wse::lanes
