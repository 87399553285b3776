// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/code_costs.hpp"

namespace lacuna::wse {

/// A star stencil in FP32 over tiles of width x height points, one in each of 3 x 3 cores, of which
/// the middle one is what is measured. The program is the published one (Jorineg/cerebras,
/// tiled-stencil). Two arrays of (height + 2 radius) rows of (width + 2 radius + 1) words, the sums
/// before what is exchanged. In each iteration four asynchronous sends and four receives of
/// `radius` rows or columns, two colors per direction by parity, each with a completion task that
/// counts.
/// Radius 1: a multiplication, four additions in place, a multiplication. Descriptors stay in
/// registers but for the memory sides of what is sent and received, loaded in each iteration.
/// Larger ones, the general program: 4 radius + 1 operations, the first a multiplication, the
/// others multiply-accumulates in place, the last into what is exchanged. All descriptors are
/// loaded for each operation and each start, a weight once for each distance.
struct TiledStencil {
  std::uint32_t radius = 1;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t iterations = 1;
  bool waits = true;  // for the neighbours before it computes
  /// The general program as its history has it, for any radius: all operations are in place, and
  /// the sums are copied at the head of the loop.
  bool first_version = false;
};
TaskProgram plan_tiled_stencil(const TiledStencil& job, const CodeCosts& costs);

/// Bytes of the two arrays of a core.
std::uint64_t tiled_stencil_bytes(const TiledStencil& job);

}  // namespace lacuna::wse
