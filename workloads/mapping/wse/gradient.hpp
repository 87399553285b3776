// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"
#include "workloads/mapping/wse/layers/feature_layout.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::wse {

/// Y = mask of A B: only the kept elements of a product of activations. In a weight gradient A is
/// dY (m outputs x tokens) and B the transposed X (tokens x n inputs).
struct GradientJob {
  std::uint32_t m = 0;
  std::uint32_t tokens = 0;
  std::uint32_t n = 0;
  const Mask* mask = nullptr;  // m x n; null: all are kept
  DType dtype = DType::fp16;
  Partials partials = Partials::automatic;
  bool values = false;
  std::uint64_t seed = 0;
};

/// A gradient, lowered.
struct GradientPlan : StreamPlan {
  std::uint64_t positions = 0;                         // kept elements
  std::uint32_t outputs = 0;                           // rows of Y
  std::vector<std::vector<std::uint32_t>> feature_of;  // by column and index
};

/// Where it takes dY and X. Of groups that share rows each takes those of dY that it makes.
GradientLayouts gradient_layouts(const GradientJob& job, const StreamingSetup& setup);

/// Cycles that no run of all its parts can be below.
Cycle least_gradient_cycles(const GradientJob& job, const StreamingSetup& setup);

/// Lowers a job to programs: columns own outputs and inputs, rows tokens. The kept positions are
/// streamed row by row, dY of a row runs along the rows of cores, and the sums over tokens leave
/// in the south. Groups of columns share the rows of Y, or the tokens, each with a ring of its own.
/// If tokens, each makes all kept elements over its own, and what leaves for one is added outside.
/// OutOfMemoryError, with the bytes, if a core cannot hold its part; UnsupportedError if there are
/// too few colors or rows.
/// Each program makes some rows of Y, as many as have room for the dot products that are kept. It
/// begins when the last sum of the one before has left.
void plan_gradient_parts(const GradientJob& job, const StreamingSetup& setup,
                         const std::function<void(const GradientPlan&)>& visit);

/// The kept elements in the arithmetic and order of additions of the machine, by column, in the
/// order in which they leave.
std::vector<std::vector<float>> gradient_reference(const Program& program);

/// The kept elements in exact integers, by column, in that order: sums over all tokens, of which
/// the columns of a place have a part each if groups share them.
std::vector<std::vector<std::int64_t>> exact_gradient(const GradientJob& job,
                                                      const GradientPlan& plan);

}  // namespace lacuna::wse
