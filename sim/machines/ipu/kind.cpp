// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/machines/machine_kind.hpp"

namespace lacuna {
namespace {

std::optional<TrustPlace> trust_place(const RunRecord& run, const OpRecord& op) {
  const SummaryRow& row = op.row;
  const bool product = row.op == "gemm" || row.op == "spmm";
  if (!product) return std::nullopt;
  if (row.pattern == "dense") {
    const std::string partials = asked(op, "partials");
    const bool own = partials == "auto" || partials == row.dtype;
    const bool plain = own && (row.dtype != "fp16" || value_of(run, "planner.partials") == "fp16");
    return TrustPlace{"bow", "dense product", plain ? row.dtype : "other types"};
  }
  if (row.mode != "static") return std::nullopt;
  return TrustPlace{
      "bow", "static sparse over dense product",
      row.dtype == "fp16" ? "block " + (row.block.empty() ? "1" : row.block) : "other types"};
}

std::vector<WhatIf> what_ifs() {
  return {{"ideal exchange",
           {"exchange", "imbalance.exchange_tail", "stall.exchange_gap", "stall.port_wait"},
           {},
           false,
           "the exchange between tiles"},
          {"perfect balance", {"imbalance", "idle"}},
          {"no sync", {"sync"}, {}, false, "barriers"},
          {"compute alone", {"exchange", "sync", "stall", "imbalance", "idle"}}};
}

/// Phases follow each other: what exchange, barriers and waiting take adds up. What worker code
/// takes hides behind arithmetic, and behind the slowest worker.
std::vector<DeclaredCause> causes() {
  using Kind = DeclaredCause::Kind;
  using Law = DeclaredCause::Law;
  return {{"partial sums on few tiles and workers",
           Kind::layout,
           {"planner.sums=spread", "planner.few_workers=false"}},
          {"the exchange between tiles",
           Kind::cost,
           {"without.exchange=true"},
           Law::adds,
           {"exchange.exchange", "stall.exchange_gap", "imbalance.exchange_tail"}},
          {"barriers", Kind::cost, {"sync.cycles=2"}, Law::adds, {"sync.sync"}},
          {"waiting for the slowest tile",
           Kind::cost,
           {"without.slowest=true"},
           Law::adds,
           {"imbalance.barrier"}},
          {"code around the arithmetic",
           Kind::cost,
           {"without.overhead=true"},
           Law::hides,
           {"compute.worker", "compute.supervisor"}},
          {"arithmetic", Kind::cost, {"without.arithmetic=true"}, Law::hides, {"compute.worker"}}};
}

}  // namespace

MachineKind ipu_kind() {
  return {"ipu",
          "a bulk-synchronous chip of tiles, after the Graphcore IPU",
          make_ipu_machine,
          what_ifs,
          trust_place,
          {},
          causes};
}

}  // namespace lacuna
