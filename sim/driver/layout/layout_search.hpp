// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sim/driver/layout/layout.hpp"

namespace lacuna {

/// What a search for the layout of one operation found.
struct LayoutFound {
  Layout layout;
  Cycle cycles = 0;   // of one execution
  Cycle planned = 0;  // of one as the machine plans it; 0: it cannot be
  std::uint64_t simulated = 0;
  std::uint64_t pruned = 0;      // by their bounds
  std::uint64_t impossible = 0;  // refused, by memory or otherwise
  bool cut_off = false;          // the budget ended it

  /// Of that layout, simulated with nothing asked for; null if it is not from this process.
  std::shared_ptr<const OpResult> result;
};

/// True if nothing is asked of a simulation beside its result: it is that of any other such one.
bool asks_for_nothing(const Execution& execution);

/// A line that encodes it, and back; nothing if the text is none.
std::string encode_found(const LayoutFound& found);
std::optional<LayoutFound> decode_found(const std::string& text);

/// Of a layout: its operation as it is then, for the machine that `laid_out` made of it; its
/// operands may come from elsewhere.
using PlaceOperands = std::function<void(const Machine& machine, LayerOp& op)>;

/// Simulates layouts of `op` until none of the neighbours of the best is better, from several
/// starts (LocalSearch). `form` limits it to what the rows around the operation agree on. Nothing
/// if no layout can be, the machine's own among them.
std::optional<LayoutFound> find_layout(const Machine& machine, const LayerOp& op, const Mask* mask,
                                       std::uint64_t seed, const Execution& execution,
                                       const LayoutSpace& space, const SeenForm& form,
                                       const PlaceOperands& place_operands,
                                       const SearchEffort& effort);

}  // namespace lacuna
