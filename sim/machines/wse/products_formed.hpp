// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/wafer_stats.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {

/// Of `formed` products those outside the matrices: every word multiplies the elements that groups
/// with fewer are filled up with too, unless cores hold non-zeros alone, which such an element has
/// not; and of dense words those of rows that a group with fewer has not.
inline std::uint64_t products_outside(const StreamingPlan& plan, std::uint64_t formed,
                                      std::uint64_t all, bool holds_nonzeros) {
  std::uint64_t elements = 0;
  for (const std::uint32_t tokens : plan.program.kernel.tokens) elements += tokens;
  elements *= plan.element_shares;
  const bool filled = !holds_nonzeros && elements != 0;
  const std::uint64_t filling = filled ? formed / elements * plan.padding : 0;
  const std::uint64_t inside = formed - filling;
  return filling + (inside > all ? inside - all : 0);
}

/// Of cores that hold no zeros all products are useful, of whatever type they are; a sample has
/// about as many.
inline void know_products(std::uint64_t useful, CoreStats& stats) {
  for (Counter* const formed : {&stats.mac16, &stats.mac32, &stats.mac_fp32, &stats.mac_int8}) {
    if (formed->value() != 0) *formed += useful - formed->value();  // modulo 2^64: up or down
  }
}

}  // namespace lacuna::wse
