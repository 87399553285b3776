// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/flop_convention.hpp"

#include <string>

#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/op_cost.hpp"

namespace lacuna {
namespace {

/// Products and vector operations, look-ups as products.
double flop_of(const LayerOp& op, double positions) {
  const double looked_up = 2.0 * op.m * op.n * op.batch * op.repeat;
  if (op.op == "embed") return looked_up * op.k;
  const OpCost cost = cost_of(op, masked_elements(op));
  double flop = 2 * static_cast<double>(cost.algorithmic_macs) + static_cast<double>(cost.scalar) +
                static_cast<double>(cost.special);
  constexpr double kTypes = 2;
  if (op.layer == "embed.positions") flop += looked_up * positions;
  if (op.layer == "embed.types") flop += looked_up * kTypes;
  return flop;
}

}  // namespace

ElectraFlop electra_flop(const WorkloadTrace& trace) {
  double sequences = 0;
  double columns = 0;
  double encoder = 0;
  double words = 0;
  double classifier = 0;  // of one token of each sequence
  bool dropout = false;
  for (const LayerOp& op : trace.ops) {
    if (op.phase == Phase::fwd && op.op == "embed") columns = op.n;
    if (op.phase == Phase::fwd && op.layer == "head.pooler") sequences = op.n;
    dropout = dropout || op.fn == "dropout";
  }
  if (columns == 0 || sequences == 0 || !dropout) {
    throw RequestError(
        "--flop: found a trace without the dropout, embedding or heads of a BERT; allowed: one "
        "made "
        "by lacuna trace make bert --part training --embedding --heads");
  }
  for (const LayerOp& op : trace.ops) {
    if (op.phase != Phase::fwd) continue;
    const bool classifies =
        starts_with(op.layer, "head.pooler") || starts_with(op.layer, "head.nsp");
    double& part = classifies ? classifier : starts_with(op.layer, "head.") ? words : encoder;
    part += flop_of(op, columns / sequences);
  }
  return {(encoder + classifier * columns / sequences) / sequences,
          2 * (encoder + words) / sequences};
}

}  // namespace lacuna
