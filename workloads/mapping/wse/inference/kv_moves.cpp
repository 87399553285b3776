// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/kv_moves.hpp"

#include <algorithm>
#include <utility>

#include "workloads/mapping/wse/core_space.hpp"

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

namespace {

/// The link from a core to the one before it.
Color row_color(std::uint32_t link) { return static_cast<Color>(link % 2); }

/// What one core of the row does. Core 0 is the one at the end of the row that the host's words
/// come to, or leave from.
class RowFillCore {
 public:
  RowFillCore(const RowFill& job, const RowFillSpace& space, std::uint32_t core, CoreCode& code)
      : job_(job), space_(space), core_(core), code_(code) {}

  void write() {
    const bool keeps = job_.keeps(core_) && core_ > 0;
    const std::uint32_t behind = job_.passes(core_);
    for (std::uint32_t tensor = 0; tensor < job_.tensors; ++tensor) {
      if (job_.outwards && keeps) send(core_ - 1, space_.at(tensor, 0));
      for (std::uint32_t piece = 0; piece < behind; ++piece) {
        // the edge of the loop over pieces
        code_.scalar(code_.costs().scalar.loop);
        // those for the cores far away come first on the way in, and last on the way out
        pass(tensor, job_.outwards ? piece : behind - 1 - piece);
      }
      if (!job_.outwards && keeps) take(core_ - 1, space_.at(tensor, 0));
      code_.test();
    }
  }

 private:
  void take(std::uint32_t link, std::uint32_t to) {
    code_.take(row_color(link), 0);
    code_.move(Element::fp16, in_memory(to), on_fabric(row_color(link)), job_.halves);
  }
  void send(std::uint32_t link, std::uint32_t from) {
    code_.send(row_color(link), 0);
    code_.move(Element::fp16, on_fabric(row_color(link)), in_memory(from), job_.halves);
  }
  /// A piece for, or from, one of the cores behind.
  void pass(std::uint32_t tensor, std::uint32_t piece) {
    const std::uint32_t at = core_ > 0 ? space_.passing : space_.at(tensor, piece);
    if (job_.outwards) {
      take(core_, at);
      if (core_ > 0) send(core_ - 1, at);
    } else {
      if (core_ > 0) take(core_ - 1, at);
      send(core_, at);
    }
  }

  const RowFill& job_;
  const RowFillSpace& space_;
  const std::uint32_t core_;
  CoreCode& code_;
};

}  // namespace

TaskProgram plan_row_fill(const RowFill& job, const CodeCosts& costs,
                          const InferenceParams& params) {
  TaskBuilder builder(job.cores, 1);
  SharedRoutines routines(builder);
  for (std::uint32_t i = 0; i + 1 < job.cores; ++i) {
    builder.path({i + (job.outwards ? std::size_t{1} : 0), i + (job.outwards ? 0 : std::size_t{1})},
                 row_color(i));
  }
  const RowFillSpace space(job);
  for (std::uint32_t i = 0; i < job.cores; ++i) {
    CoreCode code(costs, params, routines);
    RowFillCore(job, space, i, code).write();
    builder.core(i, std::move(code).finish());
  }
  return std::move(builder).finish();
}

}  // namespace lacuna::wse
