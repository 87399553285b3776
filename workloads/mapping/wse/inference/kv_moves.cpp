// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/kv_moves.hpp"

#include <algorithm>
#include <utility>

#include "workloads/mapping/wse/layers/code.hpp"

namespace lacuna::wse {

std::uint32_t RowFill::passes(std::uint32_t core) const {
  std::uint32_t behind = 0;
  for (std::uint32_t i = core + 1; i < cores; ++i) behind += keeps(i) ? 1 : 0;
  return behind;
}

RowFillSpace::RowFillSpace(const RowFill& job) {
  const std::uint32_t pieces = job.whole ? std::max(job.passes(0), 1U) : 1;
  CoreSpace space;
  passing = space.take(job.halves, 2);
  first_ = space.take(std::uint64_t{job.whole ? job.tensors : 1} * pieces * job.halves, 2);
  bytes = static_cast<std::uint32_t>(space.bytes());
  if (!job.whole) return;
  of_piece_ = 2 * job.halves;
  of_tensor_ = pieces * of_piece_;
}

std::uint32_t RowFillSpace::at(std::uint32_t tensor, std::uint32_t piece) const {
  return first_ + tensor * of_tensor_ + piece * of_piece_;
}

// Core 0 is the one at the end of the row that the host's words come to, or leave from.
TaskProgram plan_row_fill(const RowFill& job, const CodeCosts& costs,
                          const InferenceParams& params) {
  TaskBuilder builder(job.cores, 1);
  SharedRoutines routines(builder);
  const auto color = [](std::uint32_t link) { return static_cast<Color>(link % 2); };
  for (std::uint32_t i = 0; i + 1 < job.cores; ++i) {
    builder.path({i + (job.outwards ? std::size_t{1} : 0), i + (job.outwards ? 0 : std::size_t{1})},
                 color(i));
  }
  const RowFillSpace space(job);
  for (std::uint32_t i = 0; i < job.cores; ++i) {
    CoreCode code(costs, params, routines);
    const std::uint32_t behind = job.passes(i);
    const auto take = [&](std::uint32_t link, std::uint32_t to) {
      code.take(color(link), 0);
      code.vector(VectorOp::move, Element::fp16, in_memory(to), on_fabric(color(link)), Operand(),
                  job.halves);
    };
    const auto send = [&](std::uint32_t link, std::uint32_t from) {
      code.send(color(link), 0);
      code.vector(VectorOp::move, Element::fp16, on_fabric(color(link)), in_memory(from), Operand(),
                  job.halves);
    };
    const bool keeps = job.keeps(i) && i > 0;
    for (std::uint32_t tensor = 0; tensor < job.tensors; ++tensor) {
      if (job.outwards && keeps) send(i - 1, space.at(tensor, 0));
      for (std::uint32_t piece = 0; piece < behind; ++piece) {
        // the edge of the loop over pieces
        code.scalar(costs.scalar.loop);
        // those for the cores far away come first on the way in, and last on the way out
        const std::uint32_t which = job.outwards ? piece : behind - 1 - piece;
        const std::uint32_t at = i > 0 ? space.passing : space.at(tensor, which);
        if (job.outwards) {
          take(i, at);
          if (i > 0) send(i - 1, at);
        } else {
          if (i > 0) take(i - 1, at);
          send(i, at);
        }
      }
      if (!job.outwards && keeps) take(i - 1, space.at(tensor, 0));
      code.test();
    }
    builder.core(i, builder.add(std::move(code).finish()));
  }
  return std::move(builder).finish();
}

}  // namespace lacuna::wse
