// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/shift_program.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/wse/engine/tasks/find_program.hpp"
#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

constexpr std::uint8_t kNoThread = 0xFF;
constexpr std::uint32_t kMostShiftExtra = 100;  // of the lanes' small integers
constexpr unsigned kMostShiftDepth = 100;
constexpr unsigned kMostShiftLatency = 7;

/// Where the words of a color go that come in at a port; null if they do not.
const SwitchedRoute* route_of(const SwitchedRouter& router, Color color, unsigned from) {
  for (const SwitchedRoute& route : router.routes) {
    if (route.color == color && static_cast<unsigned>(route.from) == from) return &route;
  }
  return nullptr;
}

/// The one port of a set.
std::optional<unsigned> only_port(PortSet ports) {
  if (ports == 0 || (ports & (ports - 1U)) != 0) return std::nullopt;
  return static_cast<unsigned>(__builtin_ctz(ports));
}

/// The streams of one core by the threads and colors of its program.
struct ShiftEnds {
  std::array<Color, kShiftStreams> out{};
  std::array<Color, kShiftStreams> in{};
};

/// Translates the steps of a program.
class ShiftCoder {
 public:
  ShiftCoder(const TaskParams& params, const ShiftEnds& ends, unsigned streams)
      : params_(params), ends_(ends), streams_(streams) {
    thread_.fill(kNoThread);
  }

  bool code(const CoreProgram& program, const std::vector<Routine>& routines) {
    if (!program.fifos.empty() || program.tasks.size() > 1) return false;
    if (!program.tasks.empty()) {
      const Task& task = program.tasks.front();
      if (task.kind != Task::Kind::local || !task.active || task.blocked) return false;
      for (const Step& step : task.steps) {
        const bool calls = step.kind == Step::Kind::call;
        if (!calls && (step.kind != Step::Kind::vector || !add(step.vector))) return false;
        if (calls && !add_all(routines[step.routine])) return false;
      }
    }
    const bool acts = std::any_of(result.ops.begin(), result.ops.end(),
                                  [](const LaneOp& op) { return op.kind != LaneOp::Kind::wait; });
    if (!acts) result.ops.clear();
    result.ops.emplace_back();
    return true;
  }

  /// Earlier threads go first.
  bool in_order() const {
    std::uint8_t last = 0;
    for (const std::uint8_t thread : thread_) {
      if (thread == kNoThread) continue;
      if (thread <= last) return false;
      last = thread;
    }
    return true;
  }

  ShiftCode result;

 private:
  bool add_all(const Routine& routine) {
    return std::all_of(routine.begin(), routine.end(),
                       [this](const Instruction& what) { return add(what); });
  }

  bool add(const Instruction& what) {
    if (what.activates != kNoTask || what.unblocks != kNoTask) return false;
    if (what.thread == kMainThread) return what.length == 0 || add_main(what);
    if (what.length == 0) return add_wait(what.thread);
    return add_move(what);
  }

  bool add_wait(std::uint8_t thread) {
    for (std::uint8_t i = 0; i < kShiftThreads; ++i) {
      if (thread_.at(i) != thread) continue;
      result.ops.push_back({LaneOp::Kind::wait, static_cast<std::uint8_t>(i + 1U)});
    }
    return true;  // one that has not been used is idle
  }

  bool add_move(const Instruction& what) {
    if (what.op != VectorOp::move || what.control || what.switches != 0) return false;
    if (source_bytes(what.element) != result_bytes(what.element)) return false;
    const bool sends = what.to.kind == Kind::fabric;
    const Operand& far = sends ? what.to : what.a;
    const Operand& near = sends ? what.a : what.to;
    if (far.kind != Kind::fabric || near.kind != Kind::memory) return false;
    std::uint8_t slot = kNoThread;
    for (unsigned i = 0; i < streams_; ++i) {
      if ((sends ? ends_.out : ends_.in).at(i) != far.color) continue;
      slot = static_cast<std::uint8_t>(shift_context(i, sends) - 1U);
    }
    if (slot == kNoThread) return false;
    if (thread_.at(slot) != kNoThread && thread_.at(slot) != what.thread) return false;
    thread_.at(slot) = what.thread;
    const bool pairs = what.simd64 && params_.core.fabric_simd64;
    const unsigned in_slot = pairs ? 2U : params_.core.fabric_words_per_issue.value();
    const BeatCost cost(what, params_.simd, params_.mem, in_slot, 0);
    const BeatStalls stalls = cost.stalls_from(0, what.length);
    const unsigned bytes = source_bytes(what.element);
    if (words_of(bytes, cost.width()) != 1) return false;
    if (stalls.bank + stalls.residual + stalls.special != 0) return false;
    const std::uint32_t words = cost.beats(0, what.length);  // rows may end beats, and words
    const auto context = static_cast<std::uint8_t>(slot + 1U);
    result.ops.push_back({LaneOp::Kind::start, context, 0, false, words});
    count(what, cost);
    result.counters.cycles[static_cast<std::size_t>(TaskCycle::fabric)] += words;
    if (sends) {
      result.counters.sent += words;
      result.sent.at(slot / 2U) += words;
    } else {
      result.counters.received += words;
    }
    return true;
  }

  bool add_main(const Instruction& what) {
    for (const Operand* operand : {&what.to, &what.a, &what.b}) {
      if (operand->kind == Kind::fabric || operand->kind == Kind::fifo) return false;
    }
    const BeatCost cost(what, params_.simd, params_.mem, params_.core.fabric_words_per_issue, 0);
    if (!cost.even()) return false;
    const std::uint32_t beats = cost.beats(0, what.length);
    const BeatStalls all = cost.stalls_from(0, what.length);
    auto& cycles = result.counters.cycles;
    const TaskCycle kind = what.op == VectorOp::work ? TaskCycle::scalar : TaskCycle::vector;
    cycles[static_cast<std::size_t>(kind)] += beats;
    cycles[static_cast<std::size_t>(TaskCycle::conflict)] += all.bank;
    cycles[static_cast<std::size_t>(TaskCycle::residual)] += all.residual;
    cycles[static_cast<std::size_t>(TaskCycle::special)] += all.special;
    count(what, cost);
    if (all.bank + all.residual + all.special == 0) {
      add_beats(beats, 0);
      return true;
    }
    for (std::uint32_t first = 0; first < what.length; first += cost.width()) {
      const BeatStalls one = cost.stalls(first, std::min(cost.width(), what.length - first));
      const std::uint32_t extra = one.bank + one.residual + one.special;
      if (extra > kMostShiftExtra) return false;
      add_beats(1, static_cast<std::uint8_t>(extra));
    }
    return true;
  }

  /// Instructions of the main thread follow each other without a gap.
  void add_beats(std::uint32_t beats, std::uint8_t extra) {
    if (!result.ops.empty()) {
      LaneOp& last = result.ops.back();
      if (last.kind == LaneOp::Kind::beats && last.extra == extra) {
        last.count += beats;
        return;
      }
    }
    result.ops.push_back({LaneOp::Kind::beats, 0, extra, false, beats});
  }

  void count(const Instruction& what, const BeatCost& cost) {
    if (what.op != VectorOp::work) ++result.counters.instructions;
    count_accesses(what, cost, 0, what.length, result.counters);
  }

  const TaskParams& params_;
  const ShiftEnds& ends_;
  unsigned streams_;
  std::array<std::uint8_t, kShiftThreads> thread_{};
};

class ShiftFinder {
 public:
  ShiftFinder(const TaskParams& params, const TaskProgram& program)
      : params_(params),
        shapes_(params.router),
        program_(program),
        cores_(program.core_of.size()),
        ends_(cores_),
        taken_(cores_ * kPorts, false) {}

  bool find() {
    return fits() && find_streams() && follow_all() && find_depths() && place_lanes() &&
           write_codes();
  }

  ShiftProgram result;

 private:
  bool fits() const {
    return reason_against_lanes(params_.router).empty() &&
           params_.core.fabric_words_per_issue == 1U && shapes_.longest() <= kMostShiftLatency &&
           shapes_.link().capacity + shapes_.ramp_up().latency < kMostShiftDepth;
  }

  const SwitchedRouter& router(std::size_t core) const {
    return program_.routers[program_.router_of[core]];
  }

  /// A stream for each color that comes up a ramp, in the order of the routes.
  bool find_streams() {
    for (std::size_t core = 0; core < cores_; ++core) {
      const SwitchedRouter& here = router(core);
      if (!here.rules.empty() || !here.filters.empty()) return false;
      unsigned streams = 0;
      for (const SwitchedRoute& route : here.routes) {
        if (route.position != 0 || !only_port(route.to)) return false;
        if (route.from != kRamp) continue;
        if (streams == kShiftStreams) return false;
        ends_[core].out.at(streams++) = route.color;
      }
      if (core == 0) result.streams = streams;
      if (streams == 0 || streams != result.streams) return false;
    }
    return true;
  }

  bool follow_all() {
    for (unsigned stream = 0; stream < result.streams; ++stream) {
      std::vector<bool> reached(cores_, false);
      for (std::size_t core = 0; core < cores_; ++core) {
        ShiftPath path;
        path.color = ends_[core].out.at(stream);
        if (!follow(core, path) || reached[path.to]) return false;
        reached[path.to] = true;
        ends_[path.to].in.at(stream) = path.color;
        result.paths.at(stream).push_back(path);
      }
    }
    if (result.streams == 1) return true;
    return std::all_of(ends_.begin(), ends_.end(),
                       [](const ShiftEnds& ends) { return ends.in[0] < ends.in[1]; });
  }

  /// Each link between routers belongs to one stream.
  bool use(std::size_t core, unsigned port) {
    const std::size_t link = core * kPorts + port;
    if (port == kRamp || taken_[link]) return false;
    taken_[link] = true;
    return true;
  }

  bool follow(std::size_t core, ShiftPath& path) {
    std::size_t here = core;
    unsigned from = kRamp;
    for (unsigned hops = 0; hops <= 2; ++hops) {
      const SwitchedRoute* route = route_of(router(here), path.color, from);
      if (route == nullptr) return false;
      const unsigned port = *only_port(route->to);
      if (port == kRamp) {
        path.to = static_cast<std::uint32_t>(here);
        return hops != 0;
      }
      if (hops == 2 || !use(here, port) || shapes_.turn(from, port) != 0) return false;
      if (hops == 0) path.out = port;
      if (hops == 1) {
        path.passes = true;
        path.over = static_cast<std::uint32_t>(here);
        path.over_out = port;
      }
      const auto next = neighbour_of(program_, here, port);
      if (!next) return false;
      here = *next;
      from = opposite(port);
    }
    return false;
  }

  bool find_depths() {
    const std::vector<unsigned> in = params_.queue.in_depths();
    const std::vector<unsigned> out = params_.queue.out_depths();
    for (std::size_t core = 0; core < cores_; ++core) {
      const CoreProgram& program = program_.cores[program_.core_of[core]];
      std::array<unsigned, kShiftStreams> queues{};
      for (unsigned stream = 0; stream < result.streams; ++stream) {
        const unsigned to = out_queue(program, ends_[core].out.at(stream));
        const unsigned from = in_queue(program, ends_[core].in.at(stream));
        if (to >= out.size() || from >= in.size()) return false;
        queues.at(stream) = to;
        if (core == 0) result.out_depth.at(stream) = out[to];
        if (core == 0) result.in_depth.at(stream) = in[from];
        if (result.out_depth.at(stream) != out[to] || result.in_depth.at(stream) != in[from]) {
          return false;
        }
        if (out[to] > kMostShiftDepth || shapes_.ramp_down(in[from]).capacity >= kMostShiftDepth)
          return false;
      }
      if (result.streams == 2 && queues[0] == queues[1]) return false;
    }
    return true;
  }

  std::uint32_t next(unsigned stream, std::uint32_t core) const {
    return result.paths.at(stream)[core].to;
  }

  bool place_lanes() {
    std::uint32_t at = 0;
    do {
      ++result.circle;
      at = next(0, at);
    } while (at != 0 && result.circle < cores_);
    result.circles = static_cast<std::uint32_t>(cores_ / result.circle);
    if (std::size_t{result.circle} * result.circles != cores_) return false;
    if (result.streams == 1 && result.circles != 1) return false;
    std::vector<bool> placed(cores_, false);
    std::uint32_t first = 0;
    for (std::uint32_t j = 0; j < result.circles; ++j) {
      at = first;
      for (std::uint32_t i = 0; i < result.circle; ++i, at = next(0, at)) {
        if (placed[at]) return false;
        placed[at] = true;
        result.core_of.push_back(at);
      }
      if (at != first) return false;
      if (result.streams == 2) first = next(1, first);
    }
    return result.streams == 1 || columns_close();
  }

  bool columns_close() const {
    for (std::uint32_t lane = 0; lane < cores_; ++lane) {
      const std::uint32_t below = (lane + result.circle) % static_cast<std::uint32_t>(cores_);
      if (next(1, result.core_of[lane]) != result.core_of[below]) return false;
    }
    return true;
  }

  bool write_codes() {
    using Key = std::tuple<std::uint32_t, std::array<Color, kShiftStreams>,
                           std::array<Color, kShiftStreams>>;
    std::map<Key, std::uint32_t> known;
    for (std::size_t core = 0; core < cores_; ++core) {
      const std::uint32_t program = program_.core_of[core];
      const Key key(program, ends_[core].out, ends_[core].in);
      const auto [found, is_new] =
          known.try_emplace(key, static_cast<std::uint32_t>(result.codes.size()));
      result.code_of.push_back(found->second);
      if (!is_new) continue;
      ShiftCoder coder(params_, ends_[core], result.streams);
      if (!coder.code(program_.cores[program], program_.routines) || !coder.in_order()) {
        return false;
      }
      result.codes.push_back(std::move(coder.result));
    }
    return true;
  }

  const TaskParams& params_;
  const QueueShapes shapes_;
  const TaskProgram& program_;
  std::size_t cores_;
  std::vector<ShiftEnds> ends_;
  std::vector<bool> taken_;  // by core and port
};

}  // namespace

std::optional<ShiftProgram> find_shifts(const TaskParams& params, const TaskProgram& program) {
  return find_form<ShiftFinder>(params, program);
}

}  // namespace lacuna::wse
