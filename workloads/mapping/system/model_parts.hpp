// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna::system {

/// The parts of a model that are laid out over chips.
enum class Part : std::uint8_t { embedding, attention, ffn, head };
inline constexpr std::size_t kParts = 4;
const char* part_name(Part part);

/// The rows of a part for one micro-batch on one chip, by phase of training.
struct PartRows {
  std::vector<LayerOp> forward;
  std::vector<LayerOp> backward;  // with the additions to the gradients that are accumulated
  std::vector<LayerOp> update;
};

/// A model as one layer, its embedding and its head, cut over the chips that share each matrix.
struct ModelParts {
  std::array<PartRows, kParts> parts;
  WorkloadTrace trace;  // that the rows refer to
  unsigned layers = 0;
  std::uint64_t boundary_bytes = 0;  // of a micro-batch between two blocks

  const PartRows& of(Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

/// Sorts the rows of `trace`, a training trace with one layer, embedding and heads, into parts, and
/// cuts them over `tensor` chips: projections to more heads or wider layers by rows, those back by
/// columns, attention by heads, tables by tokens. Norms and residuals stay whole. Where gradients
/// of several micro-batches are accumulated each matrix has a row that adds. RequestError if heads
/// or widths cannot be cut.
/// With `attention_parts` more than 1, heads are worked on in so many parts, one after the other,
/// and their rows are those of a part, repeated.
ModelParts model_parts(const WorkloadTrace& trace, unsigned layers, unsigned tensor,
                       bool accumulate, unsigned attention_parts = 1);

/// Elements of the trained matrices and vectors of a part, on one chip; kept ones of sparse ones.
std::uint64_t parameters(const PartRows& rows, const WorkloadTrace& trace);

/// Bytes of the results of forward rows that are there together; sums, scales, dropout and softmax
/// overwrite what they read.
std::uint64_t activation_bytes(const PartRows& rows);

}  // namespace lacuna::system
