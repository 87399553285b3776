// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna::wse {

/// Sums over a line of cores, the root first: for each core its children, in the order in which
/// their vectors are added; the last is added while it streams on.
using ReduceTree = std::vector<std::vector<std::uint32_t>>;
ReduceTree chain_tree(std::uint32_t cores);
ReduceTree star_tree(std::uint32_t cores);
ReduceTree binomial_tree(std::uint32_t cores);
ReduceTree two_phase_tree(std::uint32_t cores, std::uint32_t words, unsigned ramp);
ReduceTree generated_tree(std::uint32_t cores, std::uint32_t words, unsigned ramp);

/// Cycles of a reduction in two phases over a line by the published model, groups of sqrt(P) whole
/// or not: Luczynski et al., HPDC 2024.
double two_phase_cycles(std::uint32_t cores, std::uint32_t words, unsigned ramp);

}  // namespace lacuna::wse
