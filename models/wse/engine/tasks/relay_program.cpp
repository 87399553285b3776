// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/relay_program.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/wse/engine/tasks/find_program.hpp"
#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

class RelayFinder {
 public:
  RelayFinder(const TaskParams& params, const TaskProgram& program)
      : params_(params),
        program_(program),
        in_depths_(params.queue.in_depths()),
        out_depths_(params.queue.out_depths()),
        in_(program.core_of.size()) {
    result.cores.resize(program.core_of.size());
  }

  bool find() {
    for (std::size_t core = 0; core < result.cores.size(); ++core) {
      if (!find_stream(core)) return false;
    }
    for (std::size_t core = 0; core < result.cores.size(); ++core) {
      if (!all_routes_lead_somewhere(core) || !find_depths(core) || !code(core)) return false;
    }
    return true;
  }

  RelayProgram result;

 private:
  /// The color that comes down the ramp of a core, from the core that sends it.
  struct In {
    bool comes = false;
    Color color{};
  };

  const SwitchedRouter& router(std::size_t core) const {
    return program_.routers[program_.router_of[core]];
  }
  const CoreProgram& code_of(std::size_t core) const {
    return program_.cores[program_.core_of[core]];
  }

  /// The words that come up the ramp go out at one port and down the ramp of the next router.
  bool find_stream(std::size_t core) {
    const SwitchedRouter& here = router(core);
    if (!here.rules.empty() || !here.filters.empty()) return false;
    RelayCore& relay = result.cores[core];
    for (const SwitchedRoute& route : here.routes) {
      if (route.position != 0) return false;
      if (route.from != kRamp) continue;
      if (relay.to != kNoRelay || (route.to & (route.to - 1U)) != 0 || route.to == 0) return false;
      relay.color = route.color;
      relay.port = static_cast<unsigned>(__builtin_ctz(route.to));
      const auto next = neighbour_of(program_, core, relay.port);
      if (!next || in_[*next].comes || !leads_down(*next, relay.color, opposite(relay.port))) {
        return false;
      }
      relay.to = static_cast<std::uint32_t>(*next);
      in_[*next] = {true, relay.color};
    }
    return true;
  }

  bool leads_down(std::size_t core, Color color, unsigned from) const {
    for (const SwitchedRoute& route : router(core).routes) {
      if (route.color != color || static_cast<unsigned>(route.from) != from) continue;
      return route.to == bit(kRamp) && route.position == 0;
    }
    return false;
  }

  bool all_routes_lead_somewhere(std::size_t core) const {
    const std::size_t streams =
        (result.cores[core].to != kNoRelay ? 1U : 0U) + (in_[core].comes ? 1U : 0U);
    return router(core).routes.size() == streams;
  }

  bool find_depths(std::size_t core) {
    RelayCore& relay = result.cores[core];
    if (relay.to == kNoRelay) return true;
    const unsigned out = out_queue(code_of(core), relay.color);
    const unsigned in = in_queue(code_of(relay.to), relay.color);
    if (out >= out_depths_.size() || in >= in_depths_.size()) return false;
    relay.out_depth = out_depths_[out];
    relay.in_depth = in_depths_[in];
    return true;
  }

  bool code(std::size_t core) {
    const CoreProgram& what = code_of(core);
    if (!what.fifos.empty() || what.tasks.size() > 1) return false;
    if (what.tasks.empty()) return true;
    const Task& task = what.tasks.front();
    if (task.kind != Task::Kind::local || !task.active || task.blocked) return false;
    return std::all_of(task.steps.begin(), task.steps.end(), [&](const Step& step) {
      return step.kind == Step::Kind::vector && add(core, step.vector);
    });
  }

  bool add(std::size_t core, const Instruction& what) {
    if (what.thread != kMainThread || what.activates != kNoTask || what.unblocks != kNoTask) {
      return false;
    }
    if (what.length == 0) return true;
    TaskCounters& counters = result.cores[core].counters;
    if (what.op == VectorOp::work) {
      counters.cycles[static_cast<std::size_t>(TaskCycle::scalar)] += what.length;
      result.cores[core].ops.push_back({what.length, 0, 0, false, false});
      return true;
    }
    return what.op == VectorOp::move && add_move(core, what);
  }

  bool add_move(std::size_t core, const Instruction& what) {
    RelayCore& relay = result.cores[core];
    const unsigned bytes = source_bytes(what.element);
    if (what.control || what.switches != 0 || bytes != result_bytes(what.element)) return false;
    RelayOp op;
    op.takes = what.a.kind == Kind::fabric;
    op.sends = what.to.kind == Kind::fabric;
    if (op.takes && (!in_[core].comes || in_[core].color != what.a.color)) return false;
    if (op.sends && (relay.to == kNoRelay || relay.color != what.to.color)) return false;
    if (what.a.kind == Kind::fifo || what.to.kind == Kind::fifo) return false;
    if (what.b.kind != Kind::none) return false;
    const bool pairs = what.simd64 && params_.core.fabric_simd64;
    const unsigned in_slot = pairs ? 2U : params_.core.fabric_words_per_issue.value();
    const BeatCost cost(what, params_.simd, params_.mem, in_slot, 0);
    const std::uint32_t width = cost.width();
    if ((op.takes || op.sends) && words_of(bytes, width) != 1) return false;
    op.beats = (what.length + width - 1) / width;
    const std::uint32_t last = what.length - (op.beats - 1) * width;
    const BeatStalls all = cost.stalls_from(0, what.length);
    op.extra = cost.stalls(0, width).bank;
    op.extra_last = cost.stalls(what.length - last, last).bank;
    if (all.residual + all.special != 0 || !cost.even()) return false;
    if (all.bank != op.extra * (op.beats - 1) + op.extra_last) return false;  // not all beats alike
    relay.ops.push_back(op);
    relay.sent += op.sends ? op.beats : 0;
    count(what, cost, op, all, relay.counters);
    return true;
  }

  static void count(const Instruction& what, const BeatCost& cost, const RelayOp& op,
                    const BeatStalls& all, TaskCounters& counters) {
    const TaskCycle kind = op.takes || op.sends ? TaskCycle::fabric : TaskCycle::vector;
    counters.cycles[static_cast<std::size_t>(kind)] += op.beats;
    counters.cycles[static_cast<std::size_t>(TaskCycle::conflict)] += all.bank;
    ++counters.instructions;
    counters.sent += op.sends ? op.beats : 0;
    counters.received += op.takes ? op.beats : 0;
    count_elements(what, cost, cost.width(), op.beats - 1, counters);
    count_elements(what, cost, what.length - (op.beats - 1) * cost.width(), 1, counters);
  }

  const TaskParams& params_;
  const TaskProgram& program_;
  const std::vector<unsigned> in_depths_;
  const std::vector<unsigned> out_depths_;
  std::vector<In> in_;
};

}  // namespace

std::optional<RelayProgram> find_relays(const TaskParams& params, const TaskProgram& program) {
  return find_form<RelayFinder>(params, program);
}

}  // namespace lacuna::wse
