// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/kv_moves.hpp"

#include <utility>

#include "workloads/mapping/wse/layers/code.hpp"

namespace lacuna::wse {

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
  CoreSpace space;
  const std::uint32_t passing = space.take(job.halves, 2);
  const std::uint32_t own = space.take(job.halves, 2);
  for (std::uint32_t i = 0; i < job.cores; ++i) {
    CoreCode code(costs, params, routines);
    const std::uint32_t beyond = job.cores - 1 - i;  // cores farther from the end
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
    for (std::uint32_t tensor = 0; tensor < job.tensors; ++tensor) {
      if (job.outwards && i > 0) send(i - 1, own);
      for (std::uint32_t piece = 0; piece < beyond; ++piece) {
        // the edge of the loop over pieces
        code.scalar(costs.scalar.loop);
        if (job.outwards) {
          take(i, passing);
          if (i > 0) send(i - 1, passing);
        } else {
          if (i > 0) take(i - 1, passing);
          send(i, passing);
        }
      }
      if (!job.outwards && i > 0) take(i - 1, own);
      code.test();
    }
    builder.core(i, builder.add(std::move(code).finish()));
  }
  return std::move(builder).finish();
}

}  // namespace lacuna::wse
