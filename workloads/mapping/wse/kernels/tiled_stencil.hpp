// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "workloads/mapping/wse/kernels/probe_kernels.hpp"

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

/// One point in each of columns x rows cores: it multiplies its value into an output queue, which
/// its router copies to all neighbours, and adds the words of the neighbours. The cores of the
/// frame (the corners apart, which nobody needs) have boundary values: they send, and drop what
/// they get. `pairs`: an instruction may take two words of the fabric; without, the additions
/// follow each other, each waiting for the last. The loop counts and tests in the cycles in which
/// an addition waits for another; its branch follows the last one.
struct PointStencil {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  std::uint32_t iterations = 1;
  bool pairs = false;
  std::uint32_t send = 1;  // cycles from the multiplication to the next instruction
  /// In which the neighbours' words are taken: 0 up, 1 down, 2 left, 3 right.
  std::array<std::uint8_t, 4> order = {0, 1, 2, 3};
  bool counts_within = true;  // false: all of the loop comes last
};
TaskProgram plan_point_stencil(const PointStencil& job, const CodeCosts& costs);

}  // namespace lacuna::wse
