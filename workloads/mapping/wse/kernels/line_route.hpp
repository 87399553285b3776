// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/mapping/wse/kernels/line_move.hpp"

namespace lacuna::wse {

/// The program that moves one way along a line (`ahead`: to higher numbers) the vectors that go
/// that way, if they all come from one core or all go to one, and some go farther than to the
/// next; none otherwise. Words stay in the routers between, which pass them at the rate of links:
/// - from one core, the farthest first: every core that is meant lets the stream pass and keeps
///   its own by the counter filter of its ramp;
/// - to one core: each sends its own and then, with the last word, switches its router over to
///   what comes from behind, so that the nearest arrives first.
std::optional<TaskProgram> route_along(const std::vector<LineVector>& vectors, std::uint32_t cores,
                                       Direction direction, bool ahead, Element element,
                                       const LayerSetup& setup);

}  // namespace lacuna::wse
