// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/driver/layout/layout.hpp"
#include "sim/machines/product_runs.hpp"

namespace lacuna {

/// What a search for the layout of one operation found.
struct LayoutFound {
  Layout layout;
  Cycle cycles = 0;   // of one execution
  Cycle planned = 0;  // of one as the machine plans it; 0: it cannot be
  std::uint64_t simulated = 0;
  std::uint64_t pruned = 0;      // by their bounds
  std::uint64_t impossible = 0;  // refused, by memory or otherwise
  bool cut_off = false;          // the budget or its patience ended it
  double at_most = 1;            // times as fast as this is any layout that differs in one choice

  /// Of that layout, simulated with nothing asked for; null if it is not from this process.
  std::shared_ptr<const OpResult> result;

  /// Of a row among others, whose operands may move: what of it was simulated; null likewise.
  std::shared_ptr<ProductRuns> runs;
};

/// How many times as fast as the best that was found any layout is at most that differs from it in
/// one choice, by the bounds of those that were not simulated; infinite if one has none.
double at_most(LocalSearch& search);

/// The limit of a simulation that is of no use if it takes more cycles.
Cycle limit_below(double most);

/// True if nothing is asked of a simulation beside its result: it is that of any other such one.
bool asks_for_nothing(const Execution& execution);

/// A line that encodes it, and back; nothing if the text is none.
std::string encode_found(const LayoutFound& found);
std::optional<LayoutFound> decode_found(const std::string& text);

/// Of a machine that `laid_out` made for an operation: as its operands come from elsewhere, which
/// it also tells the operation.
using TakeOperands =
    std::function<std::unique_ptr<Machine>(std::unique_ptr<Machine> machine, LayerOp& op)>;

/// The simulation of a layout.
struct LayoutTrial {
  enum class Fate { simulated, impossible, slower, unknown };  // CycleLimitPassed says the latter
  Fate fate = Fate::simulated;
  std::shared_ptr<const OpResult> result;  // if it was simulated
  std::shared_ptr<ProductRuns> runs;       // of a machine that shares them
};

/// Simulates an operation in a layout, which is given up if it takes more cycles than `most`.
/// `fastest_only` as ProductRuns has it; `take_operands` may be empty.
LayoutTrial try_layout(const Machine& machine, const Layout& layout, const LayerOp& op,
                       const Mask* mask, std::uint64_t seed, const Execution& execution,
                       const TakeOperands& take_operands, Cycle most, bool fastest_only = false);

/// Climbs from the layouts of a machine's rule, step by step to the next that is faster. Nothing if
/// none of them can be.
std::optional<LayoutFound> climb(const Machine& machine, const std::vector<Layout>& planned,
                                 const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                 const Execution& execution, const TakeOperands& take_operands,
                                 const SearchEffort& effort);

/// Whether the simulation of a place was given up, which `search` is then told.
bool gave_up(const LayoutTrial& trial, const SpacePlace& place, LocalSearch& search);

/// An operation in each of its layouts.
class LayoutTrials {
 public:
  /// All that is handed over has to outlive it.
  LayoutTrials(const Machine& machine, const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution, const LayoutPoints& points,
               const TakeOperands& take_operands);

  /// Cycles that a place cannot be below; 0 if nothing is known, or it cannot be.
  double bound(const SpacePlace& place) const;

  /// Cycles that it is expected to take: infinite if it is known to be refused, and more than of
  /// any other if no one can say.
  double guess(const SpacePlace& place) const;

  /// With a limit it is given up if it takes more cycles, or if that is too much work to know.
  /// `fastest_only` as ProductRuns has it.
  LayoutTrial simulate(const SpacePlace& place, Cycle limit, bool fastest_only = false) const;

 private:
  mutable std::map<SpacePlace, double> bounds_;  // that are known
  mutable std::map<SpacePlace, double> guesses_;
  const Machine& machine_;
  const LayerOp& op_;
  const Mask* mask_;
  std::uint64_t seed_;
  Execution execution_;
  const LayoutPoints& points_;
  const TakeOperands& take_operands_;
};

/// Simulates layouts of `op` until none of the neighbours of the best is better, from several
/// starts (LocalSearch). Nothing if no layout can be, the machine's own among them.
std::optional<LayoutFound> find_layout(const Machine& machine, const LayerOp& op, const Mask* mask,
                                       std::uint64_t seed, const Execution& execution,
                                       const LayoutSpace& space, const TakeOperands& take_operands,
                                       const SearchEffort& effort);

}  // namespace lacuna
