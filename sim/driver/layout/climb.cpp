// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/climb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {

LayoutFound climb(const std::vector<Layout>& starts,
                  const std::function<std::vector<Layout>(const Layout&)>& around,
                  const std::function<Tried(const Layout&, double best)>& attempt,
                  const ClimbEffort& effort) {
  LayoutFound found;
  std::set<std::string> known;
  std::size_t in_vain = 0;
  const auto try_out = [&](const Layout& layout) {
    if (!known.insert(layout_text(layout)).second) return false;
    const double best = found.cycles == 0 ? std::numeric_limits<double>::infinity()
                                          : static_cast<double>(found.cycles);
    const Tried tried = attempt(layout, best);
    ++(tried.fate == Tried::Fate::impossible ? found.impossible
       : tried.fate == Tried::Fate::pruned   ? found.pruned
                                             : found.simulated);
    in_vain += tried.fate == Tried::Fate::simulated ? 1 : 0;
    if (tried.fate != Tried::Fate::simulated || tried.cycles >= best) return false;
    found.layout = layout;
    found.cycles = static_cast<Cycle>(tried.cycles);
    in_vain = 0;
    return true;
  };
  const auto gains = [&](const Layout& layout) {
    if (known.count(layout_text(layout)) != 0) return false;
    const bool patient = effort.patience == 0 || in_vain < effort.patience;
    found.cut_off = found.cut_off || found.simulated >= effort.budget || !patient;
    return !found.cut_off && try_out(layout);
  };
  for (const Layout& each : starts) try_out(each);
  in_vain = 0;
  found.planned = found.cycles;
  for (bool moved = !starts.empty(); moved;) {
    const std::vector<Layout> steps = around(found.cycles == 0 ? starts[0] : found.layout);
    moved = any_of(steps, gains);
  }
  return found;
}

LayoutTrial try_layout(const Machine& machine, const Layout& layout, const LayerOp& op,
                       const Mask* mask, std::uint64_t seed, Cycle most) {
  LayoutTrial trial;
  try {
    LayerOp laid = op;
    const std::unique_ptr<Machine> made = laid_out(machine, layout, laid, "layout");
    if (most != kNever && made->least_cycles(laid, mask).value_or(0) >= most) {
      trial.fate = Tried::Fate::pruned;
      return trial;
    }
    trial.runs = std::make_shared<ProductRuns>();
    trial.runs->limit = most;
    dynamic_cast<PlansLayouts&>(*made).share_runs(trial.runs);
    trial.result = std::make_shared<OpResult>(made->run(laid, mask, seed, {}));
  } catch (const CycleLimitPassed&) {
  } catch (const RequestError&) {  // parameters that do not go together
    trial.fate = Tried::Fate::impossible;
  } catch (const SimulationError&) {  // no room, no such kernel
    trial.fate = Tried::Fate::impossible;
  }
  if (trial.runs) trial.runs->limit = kNever;
  return trial;
}

Cycle limit_below(double most) {
  constexpr double kLargest = 1e18;  // more cycles than anyone simulates
  return most < kLargest ? static_cast<Cycle>(std::max(0.0, most)) : kNever;
}

std::optional<LayoutFound> climb_alone(const Machine& machine, const LayerOp& op, const Mask* mask,
                                       std::uint64_t seed, const ClimbEffort& effort) {
  const auto& rule = dynamic_cast<const PlansLayouts&>(machine);
  std::shared_ptr<const OpResult> result;  // of the fastest
  const auto attempt = [&](const Layout& layout, double best) {
    const LayoutTrial trial = try_layout(machine, layout, op, mask, seed, limit_below(best));
    Tried tried{trial.fate};
    if (trial.result) tried.cycles = static_cast<double>(trial.result->cycles);
    if (tried.cycles < best) result = trial.result;
    return tried;
  };
  const auto around = [&](const Layout& layout) { return rule.around(op, mask, layout); };
  LayoutFound found = climb(rule.planned(op, mask, {}), around, attempt, effort);
  if (found.cycles == 0) return std::nullopt;
  found.result = result;
  return found;
}

std::string encode_found(const LayoutFound& found) {
  return fmt::format("{} {} {} {} {} {} {}", found.cycles, found.planned, found.simulated,
                     found.pruned, found.impossible, found.cut_off ? 1 : 0,
                     layout_text(found.layout));
}

std::optional<LayoutFound> decode_found(const std::string& text) {
  std::istringstream in(text);
  LayoutFound found;
  if (!(in >> found.cycles >> found.planned >> found.simulated >> found.pruned >>
        found.impossible >> found.cut_off)) {
    return std::nullopt;
  }
  found.kept = true;
  found.layout = read_layout(in);
  return found;
}

}  // namespace lacuna
