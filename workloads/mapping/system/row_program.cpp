// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/row_program.hpp"

#include <algorithm>
#include <cmath>

#include "models/system/collectives.hpp"

namespace lacuna::system {

namespace {

Use use_of(const LayerOp& op) {
  if (op.phase == Phase::fwd) return Use::forward;
  return op.phase == Phase::bwd ? Use::backward : Use::optimizer;
}

}  // namespace

bool is_collective(const LayerOp& op) { return op.op == "alltoall" || op.op == "allreduce"; }

std::uint64_t index_bytes(const std::vector<LayerOp>& rows) {
  std::uint64_t indices = 0;
  for (const LayerOp& op : rows) {
    if (op.op == "embed" && op.phase == Phase::fwd) {
      indices += std::uint64_t{op.n} * op.batch * op.repeat;
    }
  }
  return 4 * indices;
}

Program row_program(const SystemParams& params, const std::vector<LayerOp>& rows,
                    const std::vector<ChipCost>& costs, unsigned chips, std::uint64_t times,
                    double clock_ghz) {
  const auto mhz = static_cast<std::uint64_t>(std::llround(clock_ghz * 1000));
  const auto ns = [&](Cycle cycles) { return (cycles * 1000 + mhz - 1) / mhz; };
  Segment batch;
  batch.name = "micro-batch";
  batch.chips.resize(params.chips());
  Chips group;
  for (std::uint32_t chip = 0; chip < chips; ++chip) group.push_back(chip);
  if (const std::uint64_t bytes = index_bytes(rows); bytes > 0) {
    for (const std::uint32_t chip : group) {
      batch.transfer_and_wait({chip, chip, bytes, Way::from_host}, Use::host);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LayerOp& op = rows[i];
    if (is_collective(op)) {
      if (chips < 2) continue;
      const std::uint64_t elements = std::uint64_t{op.m} * op.n * op.batch;
      const bool exchange = op.op == "alltoall";
      add_collective(params,
                     {exchange ? Collective::all_to_all : Collective::all_reduce,
                      {group},
                      elements * bytes_of(op.dtype),
                      exchange ? Use::links : Use::all_reduce,
                      0},
                     batch);
      continue;
    }
    const std::uint64_t all = ns(costs[i].cycles);
    const std::uint64_t exchange = std::min(all, ns(costs[i].exchange_cycles));
    for (const std::uint32_t chip : group) {
      batch.work(chip, use_of(op), all - exchange);
      batch.work(chip, Use::exchange, exchange);
    }
  }
  Program program;
  program.add(std::move(batch), times);
  Segment host;
  host.name = "host";
  host.chips.resize(params.chips());
  for (const std::uint32_t chip : group) {
    host.transfer_and_wait({chip, chip, 4 * times, Way::to_host}, Use::host);
  }
  program.add(std::move(host));
  return program;
}

}  // namespace lacuna::system
