// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/lane_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse::lanes {
namespace {

using Kind = Operand::Kind;

constexpr unsigned kMostTags = 7;  // words of a queue whose words carry commands
constexpr unsigned kMostWords = 100;
constexpr unsigned kMostLatency = 7;
constexpr std::uint32_t kMostExtra = 100;

/// What the lanes have not: a reason, thrown while a plan is made.
struct Refused {
  std::string why;
};
[[noreturn]] void refuse(std::string why) { throw Refused{std::move(why)}; }

class Coder {
 public:
  Coder(const TaskParams& params, const std::vector<Routine>& routines,
        const std::array<int, kColors>& class_of, const std::map<unsigned, std::uint8_t>& contexts)
      : params_(params), routines_(routines), class_of_(class_of), contexts_(contexts) {}

  Code::Task code(const Task& task) {
    if (task.kind != Task::Kind::local) refuse("a task that a wavelet starts");
    result_ = {};
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

  Op& op(Op::Kind kind, std::uint8_t context) {
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
        op(Op::Kind::tell, 0).activates = step.task;
        return;
      case Step::Kind::unblock:
        op(Op::Kind::tell, 0).unblocks = step.task;
        return;
      case Step::Kind::block:
        op(Op::Kind::tell, 0).blocks = step.task;
        return;
      case Step::Kind::stamp:
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
    const std::uint8_t context = what.thread == 0 ? 0 : contexts_.at(what.thread);
    if (what.length != 0) {
      add_beats(what, context);
    } else if (context != 0) {
      op(Op::Kind::wait, context);
    }
  }

  std::uint8_t class_bit(const Operand& operand) const {
    if (operand.is_fifo()) refuse("a FIFO in memory");
    if (operand.kind == Kind::word || operand.index_bytes != 0 || operand.offset_bytes != 0) {
      refuse("a word that started a task as an operand");
    }
    if (!operand.is_fabric()) return 0;
    return static_cast<std::uint8_t>(1U << class_of_.at(static_cast<std::size_t>(operand.color)));
  }

  /// Beats of one length are one op.
  void add_beats(const Instruction& what, std::uint8_t context) {
    if (what.control) refuse("control wavelets");
    if (what.simd64 && params_.core.fabric_simd64) refuse("two words in a beat");
    const auto sends = class_bit(what.to);
    const auto a = class_bit(what.a);
    const auto b = class_bit(what.b);
    if ((a & b) != 0) refuse("two words of a queue in a beat");
    const BeatCost cost(what, params_.simd, params_.mem, 1, 0);
    for (std::uint32_t first = 0; first < what.length;) {
      const bool work = what.op == VectorOp::work;
      const std::uint32_t elements = work ? what.length : cost.elements(first, what.length);
      const BeatStalls stalls = work ? BeatStalls() : cost.stalls(first, elements);
      const std::uint32_t extra = stalls.bank + stalls.residual + stalls.special;
      if (extra > kMostExtra || (context != 0 && extra != 0)) refuse("a beat that takes long");
      const bool one = (sends == 0 || words_of(result_bytes(what.element), elements) == 1) &&
                       ((a | b) == 0 || words_of(source_bytes(what.element), elements) == 1);
      if (!one) refuse("several words in a beat");
      put(context, static_cast<std::uint8_t>(a | b), sends, extra, work ? elements : 1);
      first += elements;
    }
    Op& last = result_.ops.back();
    last.activates = what.activates;
    last.unblocks = what.unblocks;
    last.switches = what.switches;
    for (SwitchCommands left = what.switches & 0x7FFFU; left != 0; left >>= 2U) {
      if (command_of(left) == SwitchCommand::teardown) refuse("a teardown");
    }
  }

  void put(std::uint8_t context, std::uint8_t takes, std::uint8_t sends, std::uint32_t extra,
           std::uint32_t beats) {
    if (result_.ops.size() != first_) {
      Op& before = result_.ops.back();
      const Op::Kind kind = context == 0 ? Op::Kind::beats : Op::Kind::start;
      const bool goes_on = before.kind == kind && before.context == context &&
                           before.takes == takes && before.sends == sends &&
                           before.extra == extra && before.activates == kNoTask &&
                           before.unblocks == kNoTask && before.switches == 0;
      if (goes_on) {
        before.count += beats;
        return;
      }
      if (context != 0) refuse("beats of a microthread that differ");
    }
    Op& next = op(context == 0 ? Op::Kind::beats : Op::Kind::start, context);
    next.takes = takes;
    next.sends = sends;
    next.extra = static_cast<std::uint8_t>(extra);
    next.count = beats;
  }

  const TaskParams& params_;
  const std::vector<Routine>& routines_;
  const std::array<int, kColors>& class_of_;
  const std::map<unsigned, std::uint8_t>& contexts_;
  Code::Task result_;
  bool last_ = false;      // step of its task
  std::size_t first_ = 0;  // op of the step, or of steps that are as one
};

class Planner {
 public:
  Planner(const TaskParams& params, const TaskProgram& program, LanePlan& plan)
      : params_(params), shapes_(params.router), program_(program), plan_(plan) {}

  void plan() {
    if (!program_.memory.empty()) refuse("values");
    plan_.columns = program_.columns;
    plan_.rows = program_.rows;
    check_hardware();
    deal_classes();
    write_routers();
    write_codes();
    find_slots();
    find_uses();
    find_rooms();
  }

 private:
  void check_hardware() const {
    const std::string why = reason_against_lanes(params_.router);
    if (!why.empty()) refuse(why);
    if (params_.core.slots == 2U) refuse("two issue slots");
    if (params_.core.fabric_words_per_issue != 1U) refuse("several words in a beat");
    if (shapes_.has_turns()) refuse("a latency of turns");
    if (params_.router.link_cycles != params_.router.link_words) refuse("links that pause");
    const Dispatch dispatch(params_.core);
    if (std::max(dispatch.delay(false), Cycle{params_.task.completion}) > kMostWords) {
      refuse("a long dispatch");
    }
    if (shapes_.longest() > kMostLatency || shapes_.link().capacity > kMostWords) {
      refuse("long links or deep buffers");
    }
  }

  /// Colors that meet in a buffer or queue of some router are of different classes.
  void deal_classes() {
    std::set<std::pair<unsigned, unsigned>> meet;
    std::set<unsigned> colors;
    for (const SwitchedRouter& router : program_.routers) {
      if (!router.filters.empty()) refuse("filters");
      for (const SwitchedRoute& a : router.routes) {
        colors.insert(static_cast<unsigned>(a.color));
        for (const SwitchedRoute& b : router.routes) {
          const bool both = a.from == b.from || (a.to & b.to & bit(kRamp)) != 0 ||
                            a.position != 0 || b.position != 0;
          if (a.color != b.color && both) {
            meet.emplace(static_cast<unsigned>(a.color), static_cast<unsigned>(b.color));
          }
        }
      }
    }
    class_of_.fill(-1);
    for (const unsigned color : colors) {
      std::set<int> taken;
      for (const unsigned other : colors) {
        if (meet.count({color, other}) != 0) taken.insert(class_of_.at(other));
      }
      int cls = 0;
      while (taken.count(cls) != 0) ++cls;
      if (cls == kMostClasses) refuse("more colors in a router than there are classes");
      class_of_.at(color) = cls;
      plan_.needs.classes = std::max(plan_.needs.classes, cls + 1);
    }
  }

  int class_of(Color color) const { return class_of_.at(static_cast<std::size_t>(color)); }

  void write_routers() {
    for (const SwitchedRouter& router : program_.routers) {
      std::array<ColorUse, kMostClasses> uses;
      for (const SwitchedRoute& route : router.routes) {
        ColorUse& use = uses.at(static_cast<std::size_t>(class_of(route.color)));
        use.color.at(route.from) = static_cast<int>(route.color);
        use.to.at(route.from).at(route.position) = route.to;
        use.positions = std::max<std::uint8_t>(use.positions, route.position + 1U);
      }
      for (const SwitchedRouter::Rule& rule : router.rules) {
        if (class_of(rule.color) < 0) continue;
        ColorUse& use = uses.at(static_cast<std::size_t>(class_of(rule.color)));
        use.ring = rule.ring;
        use.pop = rule.pop;
      }
      plan_.routers.push_back(uses);
    }
  }

  void write_codes() {
    std::set<unsigned> threads;
    for (const CoreProgram& core : program_.cores) {
      if (!core.fifos.empty()) refuse("FIFOs in memory");
      for (const Task& task : core.tasks) {
        for (const Step& step : task.steps) {
          if (step.kind == Step::Kind::vector && step.vector.thread != 0) {
            threads.insert(step.vector.thread);
          }
        }
      }
    }
    std::map<unsigned, std::uint8_t> contexts;
    for (const unsigned thread : threads) {
      contexts.emplace(thread, static_cast<std::uint8_t>(contexts.size() + 1));
    }
    plan_.needs.contexts = static_cast<int>(contexts.size()) + 1;
    Coder coder(params_, program_.routines, class_of_, contexts);
    for (const CoreProgram& core : program_.cores) {
      Code code;
      for (const Task& task : core.tasks) code.tasks.push_back(code_of(task, coder));
      plan_.codes.push_back(std::move(code));
    }
  }

  std::shared_ptr<const Code::Task> code_of(const Task& task, Coder& coder) {
    std::shared_ptr<const Code::Task>& known = code_of_task_[&task];
    if (known) return known;
    Code::Task code = coder.code(task);
    std::string key = {code.active ? '1' : '0', code.blocked ? '1' : '0'};
    const auto add = [&](std::uint32_t number) {
      key.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    for (const Op& op : code.ops) {
      add(static_cast<std::uint32_t>(op.kind) | static_cast<std::uint32_t>(op.context) << 8U |
          static_cast<std::uint32_t>(op.extra) << 16U | (op.continues ? 1U << 24U : 0U));
      add(static_cast<std::uint32_t>(op.takes) | static_cast<std::uint32_t>(op.sends) << 8U |
          static_cast<std::uint32_t>(op.switches) << 16U);
      add(op.count);
      add(static_cast<std::uint32_t>(op.activates) | static_cast<std::uint32_t>(op.unblocks)
                                                         << 16U);
      add(op.blocks);
    }
    std::shared_ptr<const Code::Task>& shared = shared_[key];
    if (!shared) shared = std::make_shared<const Code::Task>(std::move(code));
    return known = shared;
  }

  /// Slots and paths by class, port and way; what competes for a port.
  void find_slots() {
    std::map<std::pair<int, unsigned>, Slot> slots;
    std::set<std::tuple<int, unsigned, unsigned>> paths;
    std::array<bool, kMostClasses> switched{};
    for (const auto& router : plan_.routers) {
      for (int c = 0; c < kMostClasses; ++c) {
        const ColorUse& use = router.at(static_cast<std::size_t>(c));
        switched.at(static_cast<std::size_t>(c)) |= use.positions > 1;
        for (unsigned from = 0; from < kPorts; ++from) {
          PortSet all = 0;
          bool several = false;
          for (const PortSet to : use.to.at(from)) {
            all = static_cast<PortSet>(all | to);
            several = several || (to & (to - 1U)) != 0;
          }
          if (all == 0) continue;
          Slot& slot = slots[{c, from}];
          slot.port = static_cast<std::uint8_t>(from);
          slot.cls = static_cast<std::uint8_t>(c);
          slot.several = slot.several || several;
          for (unsigned port = 0; port < kPorts; ++port) {
            if ((all & bit(port)) != 0) paths.emplace(c, from, port);
          }
        }
      }
      find_contests(router);
    }
    Shape& needs = plan_.needs;
    if (slots.size() > kMostSlots || paths.size() > kMostPaths) refuse("many buffers or ways");
    for (auto& [key, slot] : slots) {
      slot.switched = switched.at(slot.cls);
      needs.slot[needs.slots++] = slot;
    }
    for (const auto& [cls, from, port] : paths) {
      Path& path = needs.path[needs.paths++];
      path.slot = static_cast<std::uint8_t>(slot_at(needs, static_cast<int>(from), cls));
      path.port = static_cast<std::uint8_t>(port);
    }
    check_tags(switched);
  }

  /// Ports that two heads can want: of different colors, or of one color at a position.
  void find_contests(const std::array<ColorUse, kMostClasses>& router) {
    for (unsigned port = 0; port < kPorts; ++port) {
      unsigned wanted = 0;
      for (const ColorUse& use : router) {
        unsigned most = 0;
        unsigned open_at_once = 0;  // one color, or several without switches
        for (unsigned position = 0; position < 4; ++position) {
          unsigned open = 0;
          unsigned inputs = 0;
          for (const auto& from : use.to) {
            open += (from.at(position) & bit(port)) != 0 ? 1 : 0;
            inputs += from.at(position) != 0 ? 1 : 0;
          }
          most = std::max(most, open);
          open_at_once = std::max(open_at_once, inputs);
        }
        // a head that waits keeps its way while another moves the switch
        if (use.positions > 1 && open_at_once > 1 && most != 0) most = 2;
        wanted += most;
      }
      if (wanted > 1) plan_.needs.contested |= 1U << port;
    }
  }

  void check_tags(const std::array<bool, kMostClasses>& switched) const {
    for (int c = 0; c < plan_.needs.classes; ++c) {
      if (!switched.at(static_cast<std::size_t>(c))) continue;
      if (std::max(shapes_.link().capacity, shapes_.ramp_up().capacity) > kMostTags) {
        refuse("deep buffers of words with commands");
      }
    }
  }

  void find_uses() {
    std::set<std::tuple<int, int, bool>> uses;
    for (const Code& code : plan_.codes) {
      for (const auto& task : code.tasks) {
        for (const Op& op : task->ops) {
          for (int c = 0; c < kMostClasses; ++c) {
            if ((op.takes >> c & 1U) != 0) uses.emplace(op.context, c, false);
            if ((op.sends >> c & 1U) != 0) uses.emplace(op.context, c, true);
          }
        }
      }
    }
    Shape& needs = plan_.needs;
    if (uses.size() > kMostUses) refuse("many streams of threads");
    for (const auto& [context, cls, out] : uses) {
      needs.use[needs.uses++] = {static_cast<std::uint8_t>(context), static_cast<std::uint8_t>(cls),
                                 out};
    }
  }

  void find_rooms() {
    const std::vector<unsigned> in = params_.queue.in_depths();
    const std::vector<unsigned> out = params_.queue.out_depths();
    plan_.in_room.assign(program_.cores.size(), {});
    plan_.out_room.assign(program_.cores.size(), {});
    for (std::size_t place = 0; place < program_.core_of.size(); ++place) {
      const std::uint32_t number = program_.core_of[place];
      const CoreProgram& core = program_.cores[number];
      std::set<unsigned> used;
      for (int c = 0; c < kMostClasses; ++c) {
        const ColorUse& use =
            plan_.routers[program_.router_of[place]].at(static_cast<std::size_t>(c));
        for (unsigned port = 0; port < kPorts; ++port) {
          PortSet all = 0;
          for (const PortSet to : use.to.at(port)) all = static_cast<PortSet>(all | to);
          if ((all & bit(kRamp)) == 0) continue;
          const unsigned from = in_queue(core, static_cast<Color>(use.color.at(port)));
          if (from >= in.size()) refuse("a queue that is not there");
          set_room(plan_.in_room[number].at(static_cast<std::size_t>(c)),
                   shapes_.ramp_down(in[from]).capacity, kMostWords);
        }
        if (use.color[kRamp] < 0) continue;
        const unsigned to = out_queue(core, static_cast<Color>(use.color[kRamp]));
        if (to >= out.size()) refuse("a queue that is not there");
        if (!used.insert(to).second) refuse("a queue of several colors");
        set_room(plan_.out_room[number].at(static_cast<std::size_t>(c)),
                 QueueShapes::output(out[to]).capacity, use.positions > 1 ? kMostTags : kMostWords);
      }
    }
  }
  static void set_room(std::uint8_t& room, unsigned words, unsigned most) {
    if (words > most) refuse("a deep queue");
    if (room != 0 && room != words) refuse("a program whose queues differ by core");
    room = static_cast<std::uint8_t>(words);
  }

  const TaskParams& params_;
  const QueueShapes shapes_;
  const TaskProgram& program_;
  LanePlan& plan_;
  std::array<int, kColors> class_of_{};
  std::unordered_map<const Task*, std::shared_ptr<const Code::Task>> code_of_task_;
  std::unordered_map<std::string, std::shared_ptr<const Code::Task>> shared_;  // by all they say
};

}  // namespace

std::string plan_lanes(const TaskParams& params, const TaskProgram& program, LanePlan& plan) {
  try {
    Planner(params, program, plan).plan();
  } catch (const Refused& refused) {
    return refused.why;
  }
  return "";
}

}  // namespace lacuna::wse::lanes
