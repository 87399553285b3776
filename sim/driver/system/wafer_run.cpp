// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/wafer_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "sim/base/error.hpp"
#include "sim/machines/measure.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/row_program.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

using system::Held;
using system::MemoryAccount;

namespace {

/// Weights that an operation streams in, or whose gradients it makes: of all repeats, with the
/// density of the mask that was used.
std::uint64_t kept_weights(const LayerOp& op, double density) {
  const double each = density * static_cast<double>(masked_elements(op));
  return static_cast<std::uint64_t>(std::llround(each)) * op.repeat;
}

/// The gradient of a matrix of weights: of kept ones at the indices that stream in, or of all.
bool makes_gradients(const LayerOp& op) {
  const bool dense = op.op == "bmm" && system::is_weight_gradient(op);
  return op.batch <= 1 && (op.op == "sddmm" || dense);
}

/// Gradients that leave a wafer in all executions of a row that makes them.
std::uint64_t gradients(const LayerOp& op, double density) {
  if (op.op == "bmm") return std::uint64_t{op.m} * op.n * op.repeat;
  return kept_weights(op, density);
}

/// The row whose weights the gradients of `op` are for, by its id.
std::string trained_row(const LayerOp& op) {
  const std::string* const of = find_value(op.pattern.args, "of");
  return of != nullptr ? *of : std::string(word(Phase::fwd)) + "." + op.layer;
}

/// The rows of an optimizer whose gradients a row of their own has sent, by layer.
using Sent = std::set<std::string>;
Sent sent_layers(const WorkloadTrace& workload) {
  Sent layers;
  for (const LayerOp& op : workload.ops) {
    if (makes_gradients(op)) layers.insert(op.layer);
  }
  return layers;
}

/// Layers whose gradients are those of another layer's matrix, such as of a head that shares the
/// table of tokens: they have no row of an optimizer where others have one.
std::set<std::string> tied_layers(const WorkloadTrace& workload) {
  std::set<std::string> tied = sent_layers(workload);
  std::size_t optimizers = 0;
  for (const LayerOp& op : workload.ops) {
    if (op.op != "optim") continue;
    ++optimizers;
    tied.erase(op.layer);
  }
  return optimizers == 0 ? std::set<std::string>() : tied;
}

/// What the store updates for an optimizer's row whose gradients no other row has sent: biases,
/// factors of norms, tables.
system::Trained left_to_update(const LayerOp& op, const WorkloadTrace& workload, const Sent& sent) {
  if (op.op != "optim" || sent.count(op.layer) != 0) return {};
  LayerOp all = op;
  all.batch = std::max<std::uint32_t>(op.batch, 1);
  return system::trained_numbers({all}, workload, "sgd") * op.repeat;
}

/// The sum over chips of what the store sums anyway, on its way up, for the update of a layer.
bool is_summed_by_store(const LayerOp& op, const WorkloadTrace& workload, const Sent& sent) {
  if (op.op != "allreduce" || op.phase != Phase::upd) return false;
  return sent.count(op.layer) != 0 ||
         std::any_of(workload.ops.begin(), workload.ops.end(), [&](const LayerOp& each) {
           return each.op == "optim" && each.layer == op.layer;
         });
}

/// Bytes of `kept` weights of a row as the store has them: values in their type, and the places of
/// sparse ones, or of their blocks.
std::uint64_t bytes_of_weights(const system::WaferSystemParams& params, const LayerOp& op,
                               std::uint64_t kept) {
  const std::uint64_t values = kept * bytes_of(op.dtype);
  if (op.pattern.name == "dense") return values;
  const std::uint64_t block = std::max(1U, op.pattern.block_rows * op.pattern.block_cols);
  return values + (kept + block - 1) / block * params.index_bytes;
}

bool streams_weights(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "spmm") && op.residency != Residency::resident &&
         op.mode != Mode::static_ && op.mode != Mode::dynamic;
}

/// What the store has to hold for one step's rows: every weight once, however often it is streamed
/// and by whichever layers.
/// `densities` has one for each row, of the mask it has.
void hold_in_store(const system::WaferSystemParams& params, const WorkloadTrace& workload,
                   const std::vector<double>& densities, std::vector<system::Holding>& entries) {
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t updated = 0;
  std::uint64_t trained = 0;
  std::uint64_t made = 0;
  system::Trained others;
  const Sent sent = sent_layers(workload);
  const std::set<std::string> tied = tied_layers(workload);
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const LayerOp& op = workload.ops[i];
    others += left_to_update(op, workload, sent);
    if (system::is_done_again(op) || tied.count(op.layer) != 0) continue;
    if (makes_gradients(op)) {
      const std::uint64_t numbers = gradients(op, densities[i]);
      trained += numbers;
      made += numbers * bytes_of(op.dtype);
      updated += bytes_of_weights(params, op, numbers);
    } else if (streams_weights(op)) {
      (op.phase == Phase::fwd ? forward : backward) +=
          bytes_of_weights(params, op, kept_weights(op, densities[i]));
    }
  }
  const auto hold = [&](Held what, std::uint64_t bytes) {
    take(entries, 0, what, bytes, system::Holding::Space::streaming);
  };
  hold(Held::weights, std::max({forward, backward, updated}) + others.weights);
  hold(Held::gradients, made + others.gradients);
  hold(Held::state, (trained + others.elements) * params.memoryx.state_bytes);
}

/// What a wafer has to hold of one step's rows: weights that stay, what the backward pass needs of
/// the forward pass, and the most that is there beside it. Streamed weights and gradients of
/// weights pass through.
void hold_on_chip(const WorkloadTrace& workload, const std::vector<double>& densities,
                  std::vector<system::Holding>& entries) {
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const LayerOp& op = workload.ops[i];
    const bool weights = (op.op == "gemm" || op.op == "spmm") && !streams_weights(op);
    if (!weights || op.phase != Phase::fwd || system::is_done_again(op)) continue;
    take(entries, 0, Held::weights,
         kept_weights(op, densities[i]) / op.repeat * bytes_of(op.dtype));
  }
  const system::LiveBytes live = system::live_bytes(workload.ops);
  take(entries, 0, Held::activations, live.kept);
  take(entries, 0, Held::working, std::max(live.forward, live.backward) - live.kept);
}

/// The store and a wafer at their fullest; OutOfMemoryError with the bytes of each part if one of
/// them has too little.
std::vector<MemoryAccount> accounts_of(const StoreSystem& system, const WorkloadTrace& workload,
                                       const std::vector<double>& densities) {
  const system::WaferSystemParams& params = system.own();
  system::Program step;
  step.segments.resize(1);
  step.order.resize(1);
  hold_in_store(params, workload, densities, step.segments[0].memory);
  hold_on_chip(workload, densities, step.segments[0].memory);
  const system::ProgramMemory most = memory_of(step, 1);
  const auto capacity =
      static_cast<std::uint64_t>(std::llround(params.memoryx.capacity_tb.value() * 1e12));
  const MemoryAccount store{0, 0, most.streaming, capacity, "store"};
  const MemoryAccount wafer{0, 0, most.chips[0][0], system.chip_bytes(), "wafer"};
  if (!store.fits()) {
    throw OutOfMemoryError(fmt::format(
        "the store of weights needs {} B and has {} B (memoryx.capacity_tb): weights {}, "
        "gradients {}, state {}",
        store.use.total(), capacity, store.use.of(Held::weights), store.use.of(Held::gradients),
        store.use.of(Held::state)));
  }
  if (!wafer.fits()) {
    throw OutOfMemoryError(fmt::format(
        "each wafer of {} needs {} B and has {} B (chip.mem.kib of each core): weights {}, kept "
        "for the backward pass {}, at work {}; fewer sequences at once need less, and "
        "activations = recomputed (trace make --recompute) keeps less",
        system.name(), wafer.use.total(), wafer.capacity, wafer.use.of(Held::weights),
        wafer.use.of(Held::activations), wafer.use.of(Held::working)));
  }
  return {store, wafer};
}

std::vector<double> densities_of(const WaferWork& work) {
  std::vector<double> densities;
  for (const WaferRow& row : work.rows) densities.push_back(row.density);
  return densities;
}

/// Of a step: what rows of an optimizer take, the store takes.
EnergyAccount energy_of(const WaferSystemRun& run, const Machine& machine,
                        const WorkloadTrace& workload, const WaferWork& work,
                        const Pricing& pricing) {
  if (work.units == 0) {
    throw UnsupportedError("no row of the trace runs on a chip, so that nothing is known of one");
  }
  JouleRange operations;
  for (std::size_t i = 0; i < work.rows.size(); ++i) {
    if (workload.ops[i].op != "optim") operations.add(work.rows[i].joules, run.params.chips());
  }
  const system::WaferSystemResult& result = run.result;
  system::Carried carried;
  carried.streaming = static_cast<double>(result.store_bytes);
  for (const auto* const way : {&result.down_bytes, &result.up_bytes}) {
    carried.links += std::accumulate(way->begin(), way->end(), 0.0);
  }
  const JouleRange waiting = idle_watts(machine, pricing, work.units, work.clock_ghz);
  const system::DrawnBeside beside = drawn_beside(
      run.params, result.chips, static_cast<double>(result.ns), carried, {waiting, {}});
  return energy_account(operations, beside, run.params.steps);
}

std::uint64_t nanoseconds(const OpResult& result) {
  return static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(result.cycles) / result.clock_ghz));
}

}  // namespace

bool has_weight_store(const Machine& machine) { return as_store_system(machine) != nullptr; }

namespace {

/// An update reads weights, gradients and state, and writes weights and state.
std::uint64_t update_bytes(const system::WaferSystemParams& params, std::uint64_t numbers,
                           std::uint64_t weights, std::uint64_t gradients) {
  return 2 * (weights + numbers * params.memoryx.state_bytes) + gradients;
}

/// The pass of a row of the trace. What an optimizer does, the store does: of the numbers whose
/// gradients no row has sent, biases and the like, it takes those in a pass without work. Gradients
/// of a tied layer are added to those of the matrix, which is updated once.
system::WaferPass pass_of(const WaferSystemRun& run, const WorkloadTrace& workload,
                          const LayerOp& op, const WaferRow& done, const Sent& sent,
                          const std::set<std::string>& tied) {
  const system::WaferSystemParams& params = run.params;
  if (op.op == "optim") {
    const system::Trained left = left_to_update(op, workload, sent);
    system::WaferPass pass =
        system::make_wafer_pass(params, op.id, left.weights, left.gradients, {0});
    pass.parameters = left.elements;
    pass.update_bytes = update_bytes(params, left.elements, left.weights, left.gradients);
    return pass;
  }
  const bool gradient = makes_gradients(op);
  const bool indexed = streams_weights(op) || (gradient && op.op == "sddmm");
  const std::uint64_t kept = kept_weights(op, done.density);
  const std::uint64_t made = gradient ? gradients(op, done.density) : 0;
  // the link carries what the wafer takes in, in the form in which its edge takes it
  const std::uint64_t down = indexed ? bytes_of_weights(params, op, kept) : 0;
  system::WaferPass pass =
      system::make_wafer_pass(params, op.id, indexed ? std::max(down, done.edge_bytes) : 0,
                              made * bytes_of(op.dtype), {done.ns});
  pass.parameters = tied.count(op.layer) != 0 ? 0 : made;
  pass.update_bytes =
      update_bytes(params, pass.parameters, bytes_of_weights(params, op, pass.parameters),
                   pass.parameters * bytes_of(op.dtype));
  return pass;
}

/// A collective of the trace, as often as it is repeated: the vectors of all wafers are added up on
/// their way to the store, and the sum goes back to all. Where a wafer keeps a part of the sum, or
/// one wafer keeps it, all take all of it; what is gathered or broadcast is the sum of vectors that
/// are 0 but for the part of each, or of one. What all send to all others is gathered whole: the
/// vector has what every wafer sends, and each of them sees all of it.
/// Of a vector with a pattern the kept numbers are sent, as all know their places.
void add_collective(WaferSystemRun& run, const LayerOp& op, double density) {
  const std::uint64_t senders = op.op == "alltoall" ? run.params.chips() : 1;
  const std::uint64_t bytes = system::bytes_moved(op, density) * senders;
  for (std::uint32_t time = 0; time < op.repeat; ++time) {
    const auto up = static_cast<std::uint32_t>(run.passes.size());
    for (const bool sends : {true, false}) {
      run.passes.push_back(system::make_wafer_pass(run.params, op.id + (sends ? " up" : " down"),
                                                   sends ? 0 : bytes, sends ? bytes : 0, {0}));
      run.passes.back().sums = true;
    }
    run.passes.back().waits_for = up;
  }
  run.kinds.resize(run.passes.size(), PassKind::exchange);
}

PassKind pass_kind(const LayerOp& op) {
  if (system::is_done_again(op)) return PassKind::recompute;
  if (op.phase == Phase::fwd) return PassKind::forward;
  return op.phase == Phase::bwd ? PassKind::backward : PassKind::optimizer;
}

/// The last passes that change weights.
class Updates {
 public:
  explicit Updates(const std::set<std::string>& tied) : tied_(tied) {}

  /// Of the weights of a row.
  std::optional<std::uint32_t> of(const LayerOp& op) const {
    const auto found = passes_.find(op.id);
    return found == passes_.end() ? std::nullopt : std::make_optional(found->second);
  }

  /// A pass of a row that makes `parameters` gradients of its own.
  void add(const LayerOp& op, std::uint64_t parameters, std::uint32_t pass) {
    if (makes_gradients(op) && parameters > 0) passes_[trained_row(op)] = pass;
    if (makes_gradients(op) && tied_.count(op.layer) != 0) sharing_[op.id] = trained_row(op);
    if (op.op != "optim") return;
    for (const std::string& id : op.depends_on) {
      const auto shared = sharing_.find(id);
      if (shared != sharing_.end()) passes_[shared->second] = pass;
    }
  }

 private:
  const std::set<std::string>& tied_;
  std::map<std::string, std::uint32_t> passes_;  // by the row of a weight: that of its gradient
  std::map<std::string, std::string> sharing_;   // rows of tied weights, by that of their gradient
};

/// The passes of all steps. A weight's next forward pass waits for its update.
void add_passes(WaferSystemRun& run, const WorkloadTrace& workload, const WaferWork& work) {
  const Sent sent = sent_layers(workload);
  const std::set<std::string> tied = tied_layers(workload);
  Updates updates(tied);
  for (unsigned step = 0; step < run.params.steps; ++step) {
    for (std::size_t i = 0; i < work.rows.size(); ++i) {
      const LayerOp& op = workload.ops[i];
      if (op.op == "optim" && left_to_update(op, workload, sent).elements == 0) continue;
      if (system::is_between_chips(op)) {
        if (is_summed_by_store(op, workload, sent)) continue;
        add_collective(run, op, work.rows[i].density);
        continue;
      }
      system::WaferPass pass = pass_of(run, workload, op, work.rows[i], sent, tied);
      const std::optional<std::uint32_t> update = updates.of(op);
      if (update && streams_weights(op)) pass.waits_for = *update;
      updates.add(op, pass.parameters, static_cast<std::uint32_t>(run.passes.size()));
      run.passes.push_back(std::move(pass));
      run.kinds.push_back(pass_kind(op));
    }
  }
}

}  // namespace

void check_wafer_accounts(const Machine& system, const WorkloadTrace& workload,
                          const std::vector<double>& densities) {
  accounts_of(*as_store_system(system), workload, densities);
}

WaferWork work_of(const RunRecord& record) {
  WaferWork work;
  for (const OpRecord& op : record.ops) {
    const OpResult& result = op.result;
    if (result.status != Status::ok) {
      throw UnsupportedError(fmt::format("{}: not simulated, so the system is not", op.row.op_id));
    }
    WaferRow row;
    row.ns = nanoseconds(result);
    row.density = op.row.density.value_or(1);
    row.edge_bytes = edge_bytes(result);
    if (op.row.energy_j) row.joules = *op.row.energy_j;
    work.flop += static_cast<double>(op.row.useful_flop.value_or(0));
    work.rows.push_back(row);
    if (work.units != 0 || result.cycles == 0) continue;
    work.units = result.units;
    work.clock_ghz = result.clock_ghz;
  }
  return work;
}

WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const WaferWork& work, const system::SystemExecution& execution,
                                const Pricing& pricing) {
  const StoreSystem& system = *as_store_system(machine);
  WaferSystemRun run;
  run.params = system.own();
  run.edge = system.edge();
  run.memory = accounts_of(system, workload, densities_of(work));
  run.flop = work.flop * run.params.chips();
  add_passes(run, workload, work);
  run.result = system::run_wafer_system(run.params, run.edge, run.passes, execution);
  run.energy = energy_of(run, machine, workload, work, pricing);
  return run;
}

void complete_total(const Machine& machine, const WorkloadTrace& workload, const Pricing& pricing,
                    RunRecord& record) {
  SummaryRow& total = record.total;
  if (!has_weight_store(machine) || total.status != Status::ok || !total.time_s) return;
  const WaferWork work = work_of(record);
  if (work.units == 0) return;
  std::optional<WaferSystemRun> made;
  try {
    made = run_wafer_system(machine, workload, work, {}, pricing);
  } catch (const OutOfMemoryError& error) {
    std::vector<OpRecord> refused(1);
    refused[0].row = total;
    refused[0].row.status = Status::out_of_memory;
    refused[0].row.reason = error.what();
    total = total_of(refused);
    return;
  }
  const WaferSystemRun& run = *made;
  const double before = *total.time_s;
  const double seconds = run.seconds_per_step();
  const std::uint64_t chips = run.params.chips();
  total.cycles = static_cast<std::uint64_t>(std::llround(seconds * work.clock_ghz * 1e9));
  total.time_s = seconds;
  for (std::optional<std::uint64_t>* const count :
       {&total.useful_flop, &total.sram_read_bytes, &total.sram_write_bytes, &total.fabric_bytes,
        &total.io_bytes}) {
    if (*count) **count *= chips;
  }
  add_rates(total);
  if (total.utilisation) *total.utilisation *= before / seconds;
  add_energy(total, run.energy.total());
  if (total.silicon_mm2) add_silicon(total, *total.silicon_mm2 * static_cast<double>(chips));
}

}  // namespace lacuna
