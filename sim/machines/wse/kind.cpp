// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
          {"infinite I/O", waits, {"wafer.limits.busiest_core"}, true},
          {"compute alone", all, {"wafer.limits.busiest_core_multiplies"}}};
}

}  // namespace

MachineKind wse_kind() {
  return {"wse",
          "a dataflow wafer of small cores, after the Cerebras WSE",
          make_wse_machine,
          what_ifs,
          trust_place,
          {"wafer.columns", "wafer.rows", "wafer.modules", "kernel.", "map."}};
}

}  // namespace lacuna
