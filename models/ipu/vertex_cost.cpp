// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "models/ipu/program.hpp"
#include "models/ipu/worker_pipeline.hpp"
#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

/// Walks codelets without unrolling loops: each instruction is met once per call, with the number
/// of times it is executed.
template <class Visit>
void visit_calls(const Program& program, CallRange range, const Visit& visit) {
  constexpr std::size_t kDepth = 8;
  struct Open {
    std::size_t end;
    std::uint64_t times;
  };
  std::array<Open, kDepth + 1> open{};
  for (std::uint32_t c = range.first; c < range.first + range.count; ++c) {
    const Call& call = program.calls[c];
    const Codelet& code = program.codelets[call.codelet];
    std::size_t depth = 0;
    open[0] = {code.size(), 1};
    for (std::size_t i = 0; i < code.size(); ++i) {
      while (i >= open.at(depth).end) --depth;
      const Instr& instr = code[i];
      const std::uint64_t value = instr_count(instr, call);
      if (instr.op != Instr::Op::loop) {
        visit(instr, call, open.at(depth).times, value);
        continue;
      }
      const std::uint64_t times = open.at(depth).times * value;
      if (times == 0) {
        i += instr.what;
        continue;
      }
      if (++depth > kDepth) throw InternalError("loops of a codelet are nested too deep");
      open.at(depth) = {i + 1 + instr.what, times};
    }
  }
}

struct WorkerSlots {
  std::uint64_t all = 0;
  std::uint64_t conflicts = 0;
};

WorkerSlots count_slots(const Program& program, std::uint32_t worker) {
  WorkerSlots slots;
  if (worker == kNone) return slots;
  visit_calls(program, program.workers[worker],
              [&](const Instr& instr, const Call&, std::uint64_t times, std::uint64_t n) {
                if (is_free(program, instr.what)) return;
                const std::uint64_t lost = conflicts_of(program, instr.what);
                slots.all += times * n * (1 + lost);
                slots.conflicts += times * n * lost;
              });
  return slots;
}

struct SetCost {
  std::uint64_t longest = 0;
  std::uint64_t shortest = 0;
  std::uint64_t slots = 0;      // of all workers
  std::uint64_t conflicts = 0;  // of these, lost
  std::uint64_t runs = 0;       // how often the set is launched
  bool known = false;
};

/// Sums one vertex. Worker sets are looked at once, however often they are launched.
class VertexSum {
 public:
  VertexSum(const Program& program, const Vertex& vertex, std::uint64_t* issues)
      : program_(program), vertex_(vertex), issues_(issues), sets_(vertex.sets) {}

  VertexCost sum() {
    visit_calls(program_, vertex_.supervisor,
                [&](const Instr& instr, const Call& call, std::uint64_t times, std::uint64_t n) {
                  if (instr.op == Instr::Op::issue) {
                    issues_[instr.what] += times * n;
                    if (is_free(program_, instr.what)) return;
                    cost_.supervisor += times * n;
                    cost_.conflict += times * n * conflicts_of(program_, instr.what);
                  } else {
                    add_run(instr, call, times, n);
                  }
                });
    for (std::uint32_t set = 0; set < vertex_.sets; ++set) add_issues(set);
    cost_.cycles = cost_.worker + cost_.supervisor + cost_.slot + cost_.conflict;
    return cost_;
  }

 private:
  void add_run(const Instr& instr, const Call& call, std::uint64_t times,
               std::uint64_t clocks_ahead) {
    if (program_.free_ahead) clocks_ahead = 0;
    const SetCost& set = cost_of(run_set(instr, call));
    const WorkerPipeline pipeline(program_.set_size);
    cost_.worker += times * (set.slots - set.conflicts);
    cost_.conflict += times * set.conflicts;
    cost_.slot += times * (pipeline.clocks(set.longest) - set.slots);
    cost_.supervisor += times * pipeline.after_workers(set.longest, set.shortest, clocks_ahead);
    sets_[run_set(instr, call)].runs += times;
  }

  const SetCost& cost_of(std::uint32_t index) {
    SetCost& set = sets_.at(index);
    if (set.known) return set;
    set.known = true;
    set.shortest = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t w = 0; w < program_.set_size; ++w) {
      const WorkerSlots mine = count_slots(program_, worker_of(program_, vertex_, index, w));
      set.longest = std::max(set.longest, mine.all);
      set.shortest = std::min(set.shortest, mine.all);
      set.slots += mine.all;
      set.conflicts += mine.conflicts;
    }
    return set;
  }

  void add_issues(std::uint32_t set) {
    const std::uint64_t runs = sets_[set].runs;
    if (runs == 0) return;
    for (std::uint32_t w = 0; w < program_.set_size; ++w) {
      const std::uint32_t worker = worker_of(program_, vertex_, set, w);
      if (worker == kNone) continue;
      visit_calls(program_, program_.workers[worker],
                  [&](const Instr& instr, const Call&, std::uint64_t times, std::uint64_t n) {
                    issues_[instr.what] += runs * times * n;
                  });
    }
  }

  const Program& program_;
  const Vertex& vertex_;
  std::uint64_t* issues_;
  std::vector<SetCost> sets_;
  VertexCost cost_;
};

}  // namespace

std::uint64_t instr_count(const Instr& instr, const Call& call) {
  const bool more = instr.argument != Instr::kNoArgument && instr.op != Instr::Op::run;
  const std::int64_t count =
      instr.count + (more ? std::int64_t{call.arguments.at(instr.argument)} : 0);
  if (count < 0) throw InternalError("a codelet is called with a negative count");
  return static_cast<std::uint64_t>(count);
}

std::uint64_t worker_slots(const Program& program, std::uint32_t worker) {
  return count_slots(program, worker).all;
}

VertexCost vertex_cost(const Program& program, const Vertex& vertex, std::uint64_t* issues) {
  return VertexSum(program, vertex, issues).sum();
}

}  // namespace lacuna::ipu
