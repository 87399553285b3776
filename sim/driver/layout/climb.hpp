// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/layout/layout.hpp"
#include "sim/machines/product_runs.hpp"

namespace lacuna {

/// How long a climb may take.
struct ClimbEffort {
  std::size_t budget = 48;   // layouts that are simulated at most; all starts are in any case
  std::size_t patience = 0;  // it ends when so many in turn were not faster; 0: it goes on
};

/// The outcome of a search for the layout of one operation.
struct LayoutFound {
  Layout layout;
  Cycle cycles = 0;   // of one execution; 0: no layout can be
  Cycle planned = 0;  // of one as the machine plans it; 0: it cannot be
  std::uint64_t simulated = 0;
  std::uint64_t pruned = 0;      // by their bounds
  std::uint64_t impossible = 0;  // refused, by memory or otherwise
  bool cut_off = false;          // the budget or its patience ended it
  bool kept = false;             // by an earlier run

  /// Of that layout, simulated with nothing asked for; null if it is not from this process.
  std::shared_ptr<const OpResult> result;

  /// Of a row among others, whose operands may move: what of it was simulated; null likewise.
  std::shared_ptr<ProductRuns> runs;
};

/// The outcome of one layout that was tried.
struct Tried {
  enum class Fate { simulated, pruned, impossible };
  Fate fate = Fate::simulated;
  double cycles = std::numeric_limits<double>::infinity();  // of what was given up, too
};

/// Climbs from the best of `starts`. Each step goes to the first faster layout that `around` names.
/// `attempt` tries a layout; it may give up one that is no better than `best`. Each layout is tried
/// once.
LayoutFound climb(const std::vector<Layout>& starts,
                  const std::function<std::vector<Layout>(const Layout&)>& around,
                  const std::function<Tried(const Layout&, double best)>& attempt,
                  const ClimbEffort& effort);

/// The limit of a simulation that is of no use if it takes more cycles.
Cycle limit_below(double most);

/// A line that encodes it, and back; nothing if the text is none.
std::string encode_found(const LayoutFound& found);
std::optional<LayoutFound> decode_found(const std::string& text);

/// The simulation of a layout.
struct LayoutTrial {
  Tried::Fate fate = Tried::Fate::simulated;
  std::shared_ptr<const OpResult> result;  // null if it takes more cycles than were of use
  std::shared_ptr<ProductRuns> runs;
};

/// Simulates an operation in a layout, which is given up if it takes more cycles than `most`. How
/// it is run is no part of its layout.
LayoutTrial try_layout(const Machine& machine, const Layout& layout, const LayerOp& op,
                       const Mask* mask, std::uint64_t seed, Cycle most);

/// The climb of an operation by itself from the layouts that are planned. Nothing if no layout can
/// be.
std::optional<LayoutFound> climb_alone(const Machine& machine, const LayerOp& op, const Mask* mask,
                                       std::uint64_t seed, const ClimbEffort& effort);

}  // namespace lacuna
