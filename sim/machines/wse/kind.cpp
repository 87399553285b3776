// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "sim/machines/machine_kind.hpp"

namespace lacuna {
namespace {

std::optional<TrustPlace> trust_place(const RunRecord& run, const OpRecord& op) {
  const SummaryRow& row = op.row;
  if (op.result.units == 0) return std::nullopt;  // between chips
  const bool product = row.op == "gemm" || row.op == "spmm";
  if (product && asked(op, "mode") == "dynamic") {
    const std::string format = value_of(run, "kernel.spmm_format");
    const bool as_measured = row.dtype == "fp32" && value_of(run, "kernel.spmm_phases") == "local";
    return TrustPlace{"wse2", "SpMM in software (vendor simulator)",
                      !as_measured        ? "other types or phases"
                      : format == "dense" ? "gemm"
                                          : format};
  }
  const std::string fn = asked(op, "fn");
  if (row.op == "broadcast") return TrustPlace{"wse2", "collective (published model)", "broadcast"};
  if (row.op == "allreduce" || row.op == "reduce") {
    std::string way = fn;
    std::replace(way.begin(), way.end(), '_', '-');
    return TrustPlace{"wse2", "collective (published model)",
                      (row.op == "reduce" ? "reduce; " : "all-reduce; ") + way};
  }
  return std::nullopt;
}

std::vector<WhatIf> what_ifs() {
  // cores wait for each other, so that no wait need remain without the cost
  const std::vector<std::string> waits{"stall", "imbalance", "idle"};
  const std::vector<std::string> all{"stall", "imbalance", "idle", "exchange"};
  return {{"ideal exchange", all, {"wafer.limits.busiest_core_multiplies", "wafer.limits.edge"}},
          {"perfect balance", waits, {"wafer.limits.mean_core", "wafer.limits.edge"}},
          {"infinite I/O", waits, {"wafer.limits.busiest_core"}, true, "the edge"},
          {"compute alone", all, {"wafer.limits.busiest_core_multiplies"}}};
}

using Settings = std::vector<std::string>;

const Settings kFreeArithmetic = {"core.slots=2",  "simd.fma16=64",      "simd.fma16_32=64",
                                  "simd.fma32=64", "mem.read_bits=1024", "mem.write_bits=1024"};
const Settings kFreeCode = {
    "scalar.loop=0",          "scalar.load=0",       "scalar.imul=0",
    "scalar.dsr_write=0",     "scalar.outer=0",      "scalar.dependent=1",
    "scalar.branch_taken=1",  "scalar.branch_not=1", "simd.special_cycles=1",
    "vec.setup_descriptor=0", "vec.setup_use=0",     "vec.setup_first=0",
    "vec.setup_next=0",       "vec.setup_scalar=0",  "task.overhead=0"};

/// Cores wait for each other, so that a cost may hide behind any other.
std::vector<DeclaredCause> causes() {
  using Kind = DeclaredCause::Kind;
  using Law = DeclaredCause::Law;
  return {{"the layout", Kind::layout, {}},
          {"results between groups", Kind::cost, {"ws.exchange=idealised"}},
          {"the sums of rows", Kind::cost, {"ws.reduce=idealised"}},
          {"the issue slot of a core", Kind::cost, kFreeArithmetic, Law::hides, {"compute.fma"}},
          {"the edge", Kind::cost, {"io.gbit=10000000"}},
          {"the start of a wavelet's task",
           Kind::cost,
           {"core.dispatch=0", "core.cmd_cycles=0"},
           Law::hides,
           {"stall.dispatch"}},
          {"code around the arithmetic",
           Kind::cost,
           kFreeCode,
           Law::hides,
           {"compute.scalar", "compute.special"}}};
}

/// The phases of a layer follow each other, so that most of what costs gain adds up.
std::vector<DeclaredCause> model_causes() {
  Settings code = kFreeCode;
  code.insert(code.end(), {"llm.sum_step=0", "llm.route_write=0"});
  constexpr auto kCost = DeclaredCause::Kind::cost;
  return {{"choosing a token from the logits", kCost, {"llm.select_logit=1"}},
          {"code around the arithmetic", kCost, std::move(code)},
          {"lists of weights", kCost, {"llm.list_free=true"}},
          {"arithmetic", kCost, kFreeArithmetic}};
}

}  // namespace

MachineKind wse_kind() {
  return {"wse",
          "a dataflow wafer of small cores, after the Cerebras WSE",
          make_wse_machine,
          what_ifs,
          trust_place,
          {"wafer.columns", "wafer.rows", "wafer.modules", "blocks.", "kernel.", "map."},
          causes,
          model_causes};
}

}  // namespace lacuna
