// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/row_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/system/done_again.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/segment_work.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::system {

namespace {

struct NamedCollective {
  const char* name;
  Collective kind;
};
constexpr std::array<NamedCollective, 6> kCollectives = {
    {{"allreduce", Collective::all_reduce},
     {"reducescatter", Collective::reduce_scatter},
     {"allgather", Collective::all_gather},
     {"alltoall", Collective::all_to_all},
     {"broadcast", Collective::broadcast},
     {"reduce", Collective::reduce}}};

Collective collective_of(const LayerOp& op) {
  if (const NamedCollective* const found = find_named(kCollectives, op.op)) return found->kind;
  throw UnsupportedError(fmt::format(
      "{} '{}' between chips: the row does not say from which chip to which; a broadcast of so "
      "many bytes goes from the first chip to all",
      op.op, op.id));
}

}  // namespace

Use use_of(const LayerOp& op) {
  if (is_done_again(op.id)) return Use::recompute;
  if (op.phase == Phase::fwd) return Use::forward;
  return op.phase == Phase::bwd ? Use::backward : Use::optimizer;
}

bool is_between(const LayerOp& op) { return is_collective(op) || op.op == "io"; }

bool is_collective(const LayerOp& op) {
  return find_named(kCollectives, op.op) != nullptr || op.op == "p2p";
}

bool is_between_chips(const LayerOp& op) {
  const std::string* const between = find_value(op.args, "between");
  return is_collective(op) && between != nullptr && *between == "chips";
}

void check_ranks(const LayerOp& op, unsigned chips, const char* word) {
  for (const auto& [key, value] : op.args) {
    if (key == "between" && value != "chips") {
      throw UnsupportedError(fmt::format(
          "{} '{}': between={}, and a system exchanges between chips", op.op, op.id, value));
    }
    if (key != "ranks" || value == std::to_string(chips)) continue;
    throw UnsupportedError(fmt::format("{} '{}': ranks={}, and {} chips run these rows ({})", op.op,
                                       op.id, value, chips, word));
  }
}

// Of a row without columns those of a vector.
std::uint64_t bytes_moved(const LayerOp& op, double kept) {
  const std::uint64_t numbers = std::uint64_t{op.m} * std::max(1U, op.n) * op.batch;
  return static_cast<std::uint64_t>(std::llround(kept * static_cast<double>(numbers))) *
         bytes_of(op.dtype);
}

std::uint64_t index_bytes(const std::vector<LayerOp>& rows) {
  std::uint64_t indices = 0;
  for (const LayerOp& op : rows) {
    if (op.op == "embed" && op.phase == Phase::fwd) {
      indices += std::uint64_t{op.n} * op.batch * op.repeat;
    }
  }
  return 4 * indices;
}

namespace {

/// A collective of the chips of `group`, as often as the row is repeated.
void add_exchange(const SystemParams& params, const LayerOp& op, double kept, const Chips& group,
                  Segment& batch) {
  const Collective kind = collective_of(op);
  check_ranks(op, static_cast<unsigned>(group.size()), "training.replicas");
  if (group.size() < 2) return;
  const Use use = kind == Collective::all_to_all ? Use::links : Use::all_reduce;
  for (std::uint32_t time = 0; time < op.repeat; ++time) {
    add_collective(params, {kind, {group}, bytes_moved(op, kept), use, 0}, batch);
  }
}

/// The matrices of a trace, each once: those that have a row of an optimizer, and what other
/// forward rows read. A head that shares a table makes gradients for it, and updates none.
Trained matrices_of(const WorkloadTrace& trace) {
  std::set<std::string> updated;  // layers whose matrices optimizers have
  for (const LayerOp& op : trace.ops) {
    if (op.op == "optim") updated.insert(op.layer);
  }
  for (const LayerOp& op : trace.ops) {
    if (!updated.empty() && is_weight_gradient(op)) updated.insert(op.layer);
  }
  Trained all;
  for (const LayerOp& op : trace.ops) {
    if (op.op == "optim") {
      LayerOp whole = op;
      whole.batch = std::max<std::uint32_t>(op.batch, 1);
      all += trained_numbers({whole}, trace, op.fn) * op.repeat;
    } else if (updated.count(op.layer) == 0) {
      const bool gradient = is_weight_gradient(op);
      if (gradient) all.gradients += bytes_moved(op, kept_share(op, trace)) * op.repeat;
      if (op.phase == Phase::fwd) all.weights += stored_bytes(op, trace) * op.repeat;
    }
  }
  return all;
}

}  // namespace

Program row_entries(const std::vector<LayerOp>& rows, const RowLoop& loop) {
  WorkloadTrace trace;
  trace.ops = rows;
  const Trained matrices = matrices_of(trace);
  const LiveBytes live = live_bytes(rows);
  Segment batch;
  batch.name = "micro-batch";
  take(batch.memory, 0, Held::activations, live.kept);
  hold_while(batch.memory, 0, std::max(live.forward, live.backward) - live.kept);
  give(batch.memory, 0, Held::activations, live.kept);
  Program program;
  program.used = loop.chips;
  program.add(std::move(batch), loop.times);
  std::vector<Holding>& before = program.order.back().before;
  take(before, 0, Held::weights, matrices.weights);
  take(before, 0, Held::gradients, matrices.gradients);
  take(before, 0, Held::state, matrices.state);
  take(before, 0, Held::code, loop.code_bytes);
  take(before, 0, Held::buffers, loop.buffer_bytes);
  return program;
}

Program row_program(const SystemParams& params, const std::vector<LayerOp>& rows,
                    const std::vector<ChipCost>& costs, const RowLoop& loop) {
  Program program = row_entries(rows, loop);
  Segment& batch = program.segments[0];
  batch.chips.resize(params.chips());
  Chips group(loop.chips);
  std::iota(group.begin(), group.end(), 0U);
  move_all(batch, group, Way::from_host, index_bytes(rows), Use::host);
  WorkloadTrace trace;
  trace.ops = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LayerOp& op = rows[i];
    if (is_collective(op)) {
      add_exchange(params, op, kept_share(op, trace), group, batch);
      continue;
    }
    if (op.op == "io") {
      move_all(batch, group, op.fn == "d2h" ? Way::to_host : Way::from_host,
               bytes_moved(op) * op.repeat, Use::host);
      continue;
    }
    add_work(batch, group, use_of(op), costs[i], loop.clock_ghz);
  }
  Segment host;
  host.name = "host";
  host.chips.resize(params.chips());
  move_all(host, group, Way::to_host, 4 * loop.times, Use::host);
  program.add(std::move(host));
  return program;
}

}  // namespace lacuna::system
