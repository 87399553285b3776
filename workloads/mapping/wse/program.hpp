// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"
#include "workloads/mapping/wse/reduction.hpp"
#include "workloads/mapping/wse/ring_line.hpp"

namespace lacuna::wse {

/// Of a ring: two each way.
constexpr unsigned kRingColors = 4;

/// The ring of a kernel of `columns` columns and its colors, and what the router of each column
/// does for it.
std::vector<RouterProgram> ring_routes(StreamingKernel& kernel, std::uint32_t columns);

/// The same of each group of kernel.groups, which may be one. Of interleaved groups each has colors
/// of its own (StreamingKernel::sum_color()).
std::vector<RouterProgram> group_ring_routes(StreamingKernel& kernel);

/// The ring of `columns` columns as a plan: what each does for each that keeps.
Reduction ring_reduction(std::uint32_t columns);

/// Completes a program whose kernel says what is to be computed (steps, tokens, final_column,
/// counts): the way of partial sums, its colors, and the routes of a mesh of kernel.tokens.size()
/// rows and `columns` columns. Weights run along the columns, from
/// row program.entry to both ends, on color 0; the ring uses colors 1 to 4,
/// `reduction`, if it is one, as many as it needs from 1 on. Several groups (kernel.groups) take a
/// `reduction` of the columns of one, a ring too, and kernel.exchange, if there is one.
void route_streaming(Program& program, std::uint32_t columns, Reduction reduction = {});

/// The zeros of each column travel, and filters at the ramps of its cores drop them. After
/// route_streaming().
void filter_at_receivers(std::vector<std::vector<std::uint32_t>> zeros, Program& program);

}  // namespace lacuna::wse
