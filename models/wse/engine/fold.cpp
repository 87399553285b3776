// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/wse/fabric/lane_limits.hpp"
#include "models/wse/fabric/queue.hpp"

namespace lacuna::wse {
namespace {

bool vertical(unsigned port) { return port == kNorth || port == kSouth; }

/// Empty if only the weights use the links between rows, from where they enter to the ends and to
/// each ramp.
std::string check_routes(const RouterProgram& router, const Program& program, Color weights) {
  for (const Route& route : router.routes) {
    const bool goes_vertical = (route.to & (bit(kNorth) | bit(kSouth))) != 0;
    if (route.color == weights) {
      const bool both = program.both_ways();
      const unsigned ways = both ? bit(kNorth) | bit(kSouth) : bit(kSouth);
      const auto to = static_cast<PortSet>(route.to & ~ways);
      const bool comes = route.from == kNorth || (both && route.from == kSouth);
      if (!comes || to != bit(kRamp)) return "the weights do not enter in one row";
    } else if (vertical(route.from) || goes_vertical) {
      return fmt::format("color {} crosses between rows", static_cast<unsigned>(route.color));
    }
  }
  return "";
}

bool same_routes(const RouterProgram& a, const RouterProgram& b, Color weights) {
  return std::equal(a.routes.begin(), a.routes.end(), b.routes.begin(), b.routes.end(),
                    [&](const Route& x, const Route& y) {
                      const bool same_to = x.to == y.to || x.color == weights;
                      return x.color == y.color && x.from == y.from && same_to;
                    });
}

/// Rows of equal work; the last row may lack the copy to the south.
bool same_work(const Program& program, std::size_t a, std::size_t b) {
  const StreamingKernel& kernel = program.kernel;
  if (kernel.tokens[a] != kernel.tokens[b]) return false;
  for (std::size_t c = 0; c < program.columns; ++c) {
    if (program.router_of[a * program.columns + c] == program.router_of[b * program.columns + c]) {
      continue;
    }
    if (!same_routes(program.router(a, c), program.router(b, c), kernel.stream_color(c))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string reason_against_own_time(const Program& program, const HardwareParams& params,
                                    const RunOptions& options) {
  if (ArbiterRule(params.router).by_age) return "routers choose by the age of words";
  if (QueueShapes(params.router).has_turns() && has_turns(program)) {
    return "words take longer around a corner (router.turn)";
  }
  if (!QueueShapes(params.router).links_alike())
    return "links of some directions or colors are longer";
  if (!RampRule::always_open()) return "in some cycles ramps carry no words";
  if (!IssueRule::always_open()) return "in some cycles no beat is issued";
  if (params.core.init_cycles != 0) return "cores begin at a cycle, not with their first word";
  if (!program.background.empty()) return "other words run down the columns";
  if (options.jitter != 0) return "delays of single words differ from row to row";
  if (program.gradient) return "sums run down the columns";
  if (!program.inlets.empty() || !program.outlets.empty()) return "modules sit at the edge";
  std::vector<bool> seen(program.routers.size(), false);
  for (std::size_t i = std::size_t{program.distribution_rows} * program.columns;
       i < program.router_of.size(); ++i) {
    const std::uint32_t router = program.router_of[i];
    if (seen[router]) continue;
    seen[router] = true;
    const Color weights = program.kernel.stream_color(i % program.columns);
    std::string wrong = check_routes(program.routers[router], program, weights);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string reason_against_rows(const Program& program, const HardwareParams& params,
                                const RunOptions& options) {
  std::string reason = reason_against_own_time(program, params, options);
  if (!reason.empty() || program.kernel.held.empty()) return reason;
  return kRowsDiffer;
}

namespace {

/// The rows of a way in the order in which words come to them.
using Way = std::vector<std::uint32_t>;

/// Says for the rows [first, last) of a way, a class, which row stands for each: the second for
/// those between the first and the last `tail`.
void add_class(const Way& way, std::size_t first, std::size_t last, std::uint32_t tail,
               std::vector<std::uint32_t>& stands_for) {
  for (std::size_t i = first; i < last; ++i) {
    const bool kept = i <= first + 1 || i + tail >= last;
    stands_for[way[i]] = kept ? way[i] : way[first + 1];
  }
}

}  // namespace

FoldPlan no_fold(const Program& program, std::string reason) {
  FoldPlan plan;
  plan.refused = std::move(reason);
  plan.kept.resize(program.rows);
  std::iota(plan.kept.begin(), plan.kept.end(), 0U);
  plan.representative = plan.kept;
  plan.entry = plan.kept_entry = program.entry;
  return plan;
}

FoldPlan plan_fold(const Program& program, const HardwareParams& params, const RunOptions& options,
                   std::uint32_t tail) {
  std::string reason = reason_against_rows(program, params, options);
  if (!program.kernel.activations.empty()) reason = "each row carries values of its own";
  return reason.empty() ? fold_rows(program, tail) : no_fold(program, std::move(reason));
}

FoldPlan fold_rows(const Program& program, std::uint32_t tail) {
  FoldPlan plan;
  std::vector<std::uint32_t> stands_for(program.rows);
  const auto fold_way = [&](const Way& way) {
    std::size_t first = 0;
    for (std::size_t i = 1; i <= way.size(); ++i) {
      if (i < way.size() && same_work(program, way[i - 1], way[i])) continue;
      ++plan.classes;
      add_class(way, first, i, tail, stands_for);
      first = i;
    }
  };
  // Rows that bring words from the west edge are each like no other.
  std::iota(stands_for.begin(), stands_for.begin() + program.distribution_rows, 0U);
  Way north(program.both_ways() ? program.entry : 0);
  for (std::uint32_t i = 0; i < north.size(); ++i) north[i] = program.entry - 1 - i;
  Way south(program.rows - program.entry);
  std::iota(south.begin(), south.end(), program.entry);
  if (!north.empty()) fold_way(north);
  if (!south.empty()) fold_way(south);
  plan.keep(stands_for, program.entry);
  return plan;
}

void FoldPlan::keep(const std::vector<std::uint32_t>& stands_for, std::uint32_t entry_row) {
  std::vector<std::uint32_t> place;
  for (std::uint32_t row = 0; row < stands_for.size(); ++row) {
    place.push_back(static_cast<std::uint32_t>(kept.size()));
    if (stands_for[row] == row) kept.push_back(row);
  }
  for (const std::uint32_t row : stands_for) representative.push_back(place[row]);
  entry = entry_row;
  kept_entry = place.empty() ? 0 : place[entry];
}

Program fold(const Program& program, const FoldPlan& plan) {
  Program small = program;
  small.rows = static_cast<std::uint32_t>(plan.kept.size());
  small.entry = plan.kept_entry;
  small.kernel.tokens.clear();
  small.router_of.clear();
  small.kernel.held = {};
  for (Outlet& outlet : small.outlets) outlet.row = small.rows - 1;  // rows of cores have no others
  for (const std::uint32_t row : plan.kept) {
    small.kernel.tokens.push_back(program.kernel.tokens[row]);
    const auto begin = program.router_of.begin() + std::ptrdiff_t{row} * program.columns;
    small.router_of.insert(small.router_of.end(), begin, begin + program.columns);
    if (program.kernel.held.empty()) continue;
    small.kernel.held.append(program.kernel.held, std::size_t{row} * program.columns,
                             program.columns);
  }
  return small;
}

bool proves_fold(const WaferOutcome& folded, const FoldPlan& plan) {
  const std::size_t columns = folded.routers.size() / plan.kept.size();
  std::vector<std::size_t> stands_for(plan.kept.size(), 0);
  for (const std::uint32_t place : plan.representative) ++stands_for[place];
  for (std::size_t i = 0; i < folded.routers.size(); ++i) {
    if (stands_for[i / columns] > 1 && folded.routers[i].closures != 0) return false;
  }
  return true;
}

namespace {

/// The core's counters if its first word came `behind` cycles later and the run lasted until
/// `end`: it waited longer for weights, with a buffer open, and for less or longer after its end.
CoreCounters shifted(CoreCounters core, Cycle behind, Cycle end, bool works) {
  if (works) {
    core.cycles[kWaitWeights] += behind;
    core.buffers_in_use += behind;
    core.end += behind;
  }
  core.cycles[kDone] = end - core.end;
  return core;
}

void unfold_events(const WaferOutcome& folded, const FoldPlan& plan, const Program& program,
                   Cycle hop, WaferOutcome& full) {
  const std::size_t width = std::size_t{2} * program.columns;
  std::vector<std::vector<Event>> by_row(plan.kept.size() + 1);
  for (const Event& event : folded.events) by_row[event.unit / width].push_back(event);
  for (std::size_t row = 0; row <= program.rows; ++row) {
    const bool injectors = row == program.rows;
    const std::size_t from = injectors ? plan.kept.size() : plan.representative[row];
    for (Event event : by_row[from]) {
      event.unit += static_cast<std::uint32_t>((row - from) * width);
      if (!injectors) event.cycle += plan.hops_behind(row) * hop;
      full.events.push_back(event);
    }
  }
  sort_events(full.events);
}

}  // namespace

Cycle end_of(const WaferOutcome& run, std::size_t place, const Program& program) {
  const Cycle end = run.cores[place].end;
  return program.kernel.exchange.on() ? std::max(end, run.routers[place].end) : end;
}

WaferOutcome unfold(const WaferOutcome& folded, const FoldPlan& plan, const Program& program,
                    const RouterParams& params) {
  if (!plan.folds()) return folded;
  WaferOutcome full;
  const Cycle hop = QueueShapes(params).link().latency;
  const std::size_t columns = program.columns;
  for (std::size_t row = 0; row < program.rows; ++row) {
    for (std::size_t c = 0; c < columns; ++c) {
      const Cycle end = end_of(folded, plan.representative[row] * columns + c, program);
      const bool works = program.kernel.steps != 0;
      full.cycles = std::max(full.cycles, works ? end + Cycle{plan.hops_behind(row)} * hop : 0);
    }
  }
  for (std::size_t row = 0; row < program.rows; ++row) {
    const Cycle behind = Cycle{plan.hops_behind(row)} * hop;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t from = plan.representative[row] * columns + c;
      full.cores.push_back(
          shifted(folded.cores[from], behind, full.cycles, program.kernel.steps != 0));
      full.routers.push_back(folded.routers[from]);
    }
  }
  full.injectors = folded.injectors;
  for (InjectorCounters& injector : full.injectors) injector.done += full.cycles - folded.cycles;
  unfold_events(folded, plan, program, hop, full);
  return full;
}

}  // namespace lacuna::wse
