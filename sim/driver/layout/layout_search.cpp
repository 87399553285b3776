// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layout_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/moves_operands.hpp"
#include "sim/machines/plans_layouts.hpp"

namespace lacuna {
namespace {

/// Bounds are within half of what is simulated in most layouts: one that takes more than so many
/// times its bound is not simulated to its end, as it takes long and few of them are fast. Of
/// sparse rows some of the fastest take more than twice theirs.
constexpr double kWorthOfBound = 3;

}  // namespace

namespace {

struct Laid {
  std::unique_ptr<Machine> machine;
  LayerOp op;
};

/// What a layout cannot do is no result of it; false then.
bool attempt_layout(const Machine& machine, const Layout& layout, const LayerOp& op,
                    const TakeOperands& take_operands,
                    const std::function<void(const Laid&)>& action) {
  try {
    Laid laid;
    laid.op = op;
    laid.machine = laid_out(machine, layout, laid.op, "layout");
    if (take_operands) laid.machine = take_operands(std::move(laid.machine), laid.op);
    action(laid);
    return true;
  } catch (const RequestError&) {  // parameters that do not go together
    return false;
  } catch (const SimulationError&) {  // no room, no such kernel
    return false;
  }
}

}  // namespace

LayoutTrials::LayoutTrials(const Machine& machine, const LayerOp& op, const Mask* mask,
                           std::uint64_t seed, const Execution& execution,
                           const LayoutPoints& points, const TakeOperands& take_operands)
    : machine_(machine),
      op_(op),
      mask_(mask),
      seed_(seed),
      points_(points),
      take_operands_(take_operands) {
  execution_.engine = execution.engine;
  execution_.fold = execution.fold;
}

double LayoutTrials::bound(const SpacePlace& place) const {
  const auto [at, is_new] = bounds_.try_emplace(place, 0);
  double& cycles = at->second;
  if (!is_new) return cycles;
  attempt_layout(machine_, points_.layout(place), op_, take_operands_, [&](const Laid& laid) {
    cycles = static_cast<double>(laid.machine->least_cycles(laid.op, mask_).value_or(0));
  });
  return cycles;
}

double LayoutTrials::guess(const SpacePlace& place) const {
  const auto [at, is_new] = guesses_.try_emplace(place, std::numeric_limits<double>::infinity());
  double& cycles = at->second;
  if (!is_new) return cycles;
  attempt_layout(machine_, points_.layout(place), op_, take_operands_, [&](const Laid& laid) {
    const std::optional<Cycle> found = laid.machine->expected_cycles(laid.op, mask_);
    cycles = found ? static_cast<double>(*found) : std::numeric_limits<double>::max();
  });
  return cycles;
}

LayoutTrial try_layout(const Machine& machine, const Layout& layout, const LayerOp& op,
                       const Mask* mask, std::uint64_t seed, const Execution& execution,
                       const TakeOperands& take_operands, Cycle most, bool fastest_only) {
  LayoutTrial trial;
  try {
    const bool can_be = attempt_layout(machine, layout, op, take_operands, [&](const Laid& laid) {
      if (auto* const sharing = dynamic_cast<MovesOperands*>(laid.machine.get())) {
        trial.runs = std::make_shared<ProductRuns>();
        trial.runs->limit = most;
        trial.runs->fastest_only = fastest_only;
        sharing->share_runs(trial.runs);
      }
      trial.result = std::make_shared<OpResult>(laid.machine->run(laid.op, mask, seed, execution));
    });
    if (!can_be) trial.fate = LayoutTrial::Fate::impossible;
  } catch (const CycleLimitPassed& passed) {
    trial.fate = passed.unknown ? LayoutTrial::Fate::unknown : LayoutTrial::Fate::slower;
  }
  if (trial.runs) {
    trial.runs->limit = kNever;
    trial.runs->fastest_only = false;
  }
  return trial;
}

LayoutTrial LayoutTrials::simulate(const SpacePlace& place, Cycle limit, bool fastest_only) const {
  const double least = bound(place);
  const Cycle worth = least == 0 ? kNever : limit_below(kWorthOfBound * least);
  const Cycle most = limit == kNever ? kNever : std::min(limit, worth);
  LayoutTrial trial = try_layout(machine_, points_.layout(place), op_, mask_, seed_, execution_,
                                 take_operands_, most, fastest_only);
  const bool given_up = trial.fate == LayoutTrial::Fate::slower;
  if (given_up && most < limit) trial.fate = LayoutTrial::Fate::unknown;
  return trial;
}

Cycle limit_below(double most) {
  constexpr double kLargest = 1e18;  // more cycles than anyone simulates
  return most < kLargest ? static_cast<Cycle>(std::max(0.0, most)) : kNever;
}

bool gave_up(const LayoutTrial& trial, const SpacePlace& place, LocalSearch& search) {
  const bool unknown = trial.fate == LayoutTrial::Fate::unknown;
  if (!unknown && trial.fate != LayoutTrial::Fate::slower) return false;
  search.give_up(place, unknown);
  return true;
}

double at_most(LocalSearch& search) {
  const double least = search.least_left();
  if (least <= 0) return std::numeric_limits<double>::infinity();
  return std::max(1.0, search.best_value() / least);
}

bool asks_for_nothing(const Execution& execution) {
  return !execution.values && execution.sigma == 0 && !execution.event_log && !execution.explain &&
         execution.interval == 0 && execution.view == 0 && execution.shuffle == 0 &&
         execution.jitter == 0;
}

std::optional<LayoutFound> find_layout(const Machine& machine, const LayerOp& op, const Mask* mask,
                                       std::uint64_t seed, const Execution& execution,
                                       const LayoutSpace& space, const TakeOperands& take_operands,
                                       const SearchEffort& effort) {
  const LayoutPoints points(machine, op, mask, space);
  const LayoutTrials one(machine, op, mask, seed, execution, points, take_operands);
  const SpacePlace own(points.values().size(), 0);
  LocalSearch search({points.values(), [&](const SpacePlace& at) { return points.settle(at); },
                      [&](const SpacePlace& at) { return one.bound(at); },
                      [&](const SpacePlace& at) { return one.guess(at); }},
                     own, effort);
  LayoutFound found;
  for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
    for (const SpacePlace& place : batch) {
      const LayoutTrial trial = one.simulate(place, limit_below(search.best_value()));
      if (gave_up(trial, place, search)) continue;
      const std::shared_ptr<const OpResult>& result = trial.result;
      if (place == own && result) found.planned = result->cycles;
      search.take(place,
                  result ? std::optional(static_cast<double>(result->cycles)) : std::nullopt);
      if (search.best() == place) found.result = result;
    }
  }
  if (!search.best()) return std::nullopt;
  found.layout = points.layout(*search.best());
  found.cycles = static_cast<Cycle>(search.best_value());
  found.simulated = search.simulated();
  found.pruned = search.pruned();
  found.impossible = search.impossible();
  found.cut_off = search.cut_off();
  found.at_most = at_most(search);
  return found;
}

namespace {

class Climb {
 public:
  Climb(const Machine& machine, const LayerOp& op, const Mask* mask, std::uint64_t seed,
        const Execution& execution, const TakeOperands& take_operands, std::size_t budget)
      : machine_(machine),
        op_(op),
        mask_(mask),
        seed_(seed),
        take_operands_(take_operands),
        budget_(budget) {
    execution_.engine = execution.engine;
    execution_.fold = execution.fold;
  }

  std::optional<LayoutFound> from(const std::vector<Layout>& planned) {
    for (const Layout& each : planned) attempt(each);
    found_.planned = found_.cycles;
    const auto& rule = dynamic_cast<const PlansLayouts&>(machine_);
    for (bool moved = found_.cycles != 0; moved;) {
      const std::vector<Layout> steps = rule.around(op_, mask_, found_.layout);
      moved = std::any_of(steps.begin(), steps.end(),
                          [&](const Layout& each) { return attempt(each); });
    }
    if (found_.cycles == 0) return std::nullopt;
    if (found_.cut_off) found_.at_most = std::numeric_limits<double>::infinity();
    return found_;
  }

 private:
  /// Whether a layout that is new is the fastest so far.
  bool attempt(const Layout& layout) {
    if (tried_.count(layout_text(layout)) != 0) return false;
    if (found_.simulated >= budget_) {
      found_.cut_off = true;
      return false;
    }
    tried_.insert(layout_text(layout));
    const Cycle most = found_.cycles == 0 ? kNever : found_.cycles;
    const LayoutTrial trial =
        try_layout(machine_, layout, op_, mask_, seed_, execution_, take_operands_, most);
    ++(trial.fate == LayoutTrial::Fate::impossible ? found_.impossible : found_.simulated);
    if (!trial.result || trial.result->cycles >= most) return false;
    found_.layout = layout;
    found_.cycles = trial.result->cycles;
    found_.result = trial.result;
    return true;
  }

  const Machine& machine_;
  const LayerOp& op_;
  const Mask* mask_;
  std::uint64_t seed_;
  Execution execution_;
  const TakeOperands& take_operands_;
  std::size_t budget_;
  std::set<std::string> tried_;
  LayoutFound found_;
};

}  // namespace

std::optional<LayoutFound> climb(const Machine& machine, const std::vector<Layout>& planned,
                                 const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                 const Execution& execution, const TakeOperands& take_operands,
                                 const SearchEffort& effort) {
  return Climb(machine, op, mask, seed, execution, take_operands, effort.budget).from(planned);
}

std::string encode_found(const LayoutFound& found) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {}", found.cycles, found.planned, found.simulated,
                  found.pruned, found.impossible, found.cut_off ? 1 : 0, found.at_most);
  for (const auto& [key, value] : found.layout) text += fmt::format(" {}={}", key, value);
  return text;
}

std::optional<LayoutFound> decode_found(const std::string& text) {
  std::istringstream in(text);
  LayoutFound found;
  std::string at_most;
  if (!(in >> found.cycles >> found.planned >> found.simulated >> found.pruned >>
        found.impossible >> found.cut_off >> at_most)) {
    return std::nullopt;
  }
  found.at_most = std::strtod(at_most.c_str(), nullptr);  // "inf" among them
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    found.layout.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return found;
}

}  // namespace lacuna
