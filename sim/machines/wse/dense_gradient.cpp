// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/dense_gradient.hpp"

#include <utility>

#include "sim/machines/result_sequence.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/streaming.hpp"

namespace lacuna {

OpResult run_dense_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                            std::uint64_t seed, const Execution& execution) {
  const bool by_x = op.x_pattern != "dense";
  OpResult result = run_kept(params, op, mask, seed, execution, by_x);
  result.mode = word(Mode::dense);
  if (by_x) {
    LayerOp whole = op;
    whole.x_pattern = "dense";
    add_filter_remark(
        params, run_streamed(params, whole, mask, seed, without_record(execution), true), result);
  }
  result.notes.emplace_back(
      "operands", by_x ? "X, made on the wafer, has left it before and is streamed in; W lies with "
                         "its k along columns"
                       : "W, made on the wafer, has left it before and is streamed in as weights "
                         "are; X lies with its k along columns");
  OpResult moved = run_moves(params, op, mask, seed, execution, by_x);
  if (moved.cycles != 0) put_before(std::move(moved), result);
  return result;
}

Cycle least_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op) {
  return wse::least_cycles(streaming_job(op, nullptr, false), streaming_setup(params));
}

Cycle expected_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op) {
  return wse::expected_cycles(streaming_job(op, nullptr, false), streaming_setup(params));
}

}  // namespace lacuna
