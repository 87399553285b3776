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
#include "sim/machines/summary_rows.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/done_again.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/row_program.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

using system::Held;
using system::MemoryAccount;

namespace {

/// A row of a trace, as far as a store of weights has to do with it.
struct StoreRow {
  bool streams = false;     // its weights come from the store
  bool gradient = false;    // it makes the gradients of a matrix of weights
  bool tied = false;        // of another layer's matrix, such as a head's that shares the table
  std::uint64_t kept = 0;   // weights that stream, or gradients, of all repeats
  std::uint64_t bytes = 0;  // of so many weights as the store has them
  system::Trained left;     // that an optimizer has and no row has sent: biases, factors of norms
};

std::uint64_t kept_weights(const LayerOp& op, double density) {
  const double each = density * static_cast<double>(masked_elements(op));
  return static_cast<std::uint64_t>(std::llround(each)) * op.repeat;
}

/// The gradient of a matrix of weights: of kept ones at the indices that stream in, or of all.
bool makes_gradients(const LayerOp& op) {
  const bool dense = op.op == "bmm" && system::is_weight_gradient(op);
  return op.batch <= 1 && (op.op == "sddmm" || dense);
}

bool streams_weights(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "spmm") && op.residency != Residency::resident &&
         op.mode != Mode::static_ && op.mode != Mode::dynamic;
}

/// Values of `kept` weights in their type, and the places of sparse ones, or of their blocks.
std::uint64_t bytes_of_weights(const system::WaferSystemParams& params, const LayerOp& op,
                               std::uint64_t kept) {
  const std::uint64_t values = kept * bytes_of(op.dtype);
  if (op.pattern.name == "dense") return values;
  const unsigned block = std::max(1U, op.pattern.block_rows * op.pattern.block_cols);
  return values + ceil_div(kept, block) * params.index_bytes;
}

/// The row whose weights the gradients of `op` are for, by its id.
std::string trained_row(const LayerOp& op) {
  const std::string* const of = find_value(op.pattern.args, "of");
  return of != nullptr ? *of : std::string(word(Phase::fwd)) + "." + op.layer;
}

/// The rows of a trace on wafers that share a store: what they hold, and their passes.
class StoreRows {
 public:
  StoreRows(const StoreSystem& system, const WorkloadTrace& workload,
            const std::vector<double>& densities)
      : system_(system), params_(system.own()), ops_(workload.ops), densities_(densities) {
    for (const LayerOp& op : ops_) {
      if (makes_gradients(op)) sent_.insert(op.layer);
      if (op.op == "optim") optimized_.insert(op.layer);
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const LayerOp& op = ops_[i];
      StoreRow row;
      row.streams = streams_weights(op);
      row.gradient = makes_gradients(op);
      row.tied =
          !optimized_.empty() && sent_.count(op.layer) != 0 && optimized_.count(op.layer) == 0;
      const bool all = row.gradient && op.op == "bmm";
      row.kept = all ? std::uint64_t{op.m} * op.n * op.repeat : kept_weights(op, densities[i]);
      row.bytes = bytes_of_weights(params_, op, row.kept);
      if (op.op == "optim" && sent_.count(op.layer) == 0) {
        LayerOp whole = op;
        whole.batch = std::max<std::uint32_t>(op.batch, 1);
        row.left = system::trained_numbers({whole}, workload, "sgd") * op.repeat;
      }
      rows_.push_back(row);
    }
  }

  /// The store and a wafer at their fullest; OutOfMemoryError with the bytes of each part if one of
  /// them has too little.
  std::vector<MemoryAccount> accounts() const {
    system::Program step;
    step.segments.resize(1);
    step.order.resize(1);
    hold_in_store(step.segments[0].memory);
    hold_on_chip(step.segments[0].memory);
    const system::ProgramMemory most = memory_of(step, 1, system_.chip_bytes(), {{1}});
    const auto capacity =
        static_cast<std::uint64_t>(std::llround(params_.memoryx.capacity_tb.value() * 1e12));
    const MemoryAccount store{0, 0, most.streaming, capacity, "store"};
    MemoryAccount wafer = most.chips[0];
    wafer.name = "wafer";
    if (!store.fits()) {
      throw OutOfMemoryError(
          fmt::format("the store of weights {} (memoryx.capacity_tb)", store.text()));
    }
    if (!wafer.fits()) {
      throw OutOfMemoryError(fmt::format(
          "each wafer of {} {} (chip.mem.kib of each core); fewer sequences at once need less, and "
          "activations = recomputed (trace make --recompute) keeps less",
          system_.name(), wafer.text()));
    }
    return {store, wafer};
  }

  /// The passes of all steps. A weight's next forward pass waits for its update.
  void add_passes(const RowCosts& costs, double clock_ghz, WaferSystemRun& run) {
    for (unsigned step = 0; step < params_.steps; ++step) {
      for (std::size_t i = 0; i < ops_.size(); ++i) {
        const LayerOp& op = ops_[i];
        if (op.op == "optim" && rows_[i].left.elements == 0) continue;
        if (system::is_between_chips(op)) {
          if (!is_summed_by_store(op)) add_collective(i, run);
          continue;
        }
        system::WaferPass pass = pass_of(i, costs[i], clock_ghz);
        const auto update = update_.find(op.id);
        if (rows_[i].streams && update != update_.end()) pass.waits_for = update->second;
        note_update(i, pass.parameters > 0, static_cast<std::uint32_t>(run.passes.size()));
        pass.use = system::use_of(op);
        run.passes.push_back(std::move(pass));
      }
    }
  }

 private:
  /// The sum over chips of what the store sums anyway, on its way up, for the update of a layer.
  bool is_summed_by_store(const LayerOp& op) const {
    return op.op == "allreduce" && op.phase == Phase::upd &&
           (sent_.count(op.layer) != 0 || optimized_.count(op.layer) != 0);
  }

  /// Every weight once, however often it is streamed and by whichever layers.
  void hold_in_store(std::vector<system::Holding>& entries) const {
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
    std::uint64_t updated = 0;
    std::uint64_t trained = 0;
    std::uint64_t made = 0;
    system::Trained others;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const StoreRow& row = rows_[i];
      others += row.left;
      if (is_done_again(ops_[i].id) || row.tied) continue;
      if (row.gradient) {
        trained += row.kept;
        made += row.kept * bytes_of(ops_[i].dtype);
        updated += row.bytes;
      } else if (row.streams) {
        (ops_[i].phase == Phase::fwd ? forward : backward) += row.bytes;
      }
    }
    const auto hold = [&](Held what, std::uint64_t bytes) {
      take(entries, 0, what, bytes, system::Holding::Space::streaming);
    };
    hold(Held::weights, std::max({forward, backward, updated}) + others.weights);
    hold(Held::gradients, made + others.gradients);
    hold(Held::state, (trained + others.elements) * params_.memoryx.state_bytes);
  }

  /// Weights that stay, what the backward pass needs of the forward pass, and the most that is
  /// there beside it. Streamed weights and gradients of weights pass through.
  void hold_on_chip(std::vector<system::Holding>& entries) const {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const LayerOp& op = ops_[i];
      const bool weights = (op.op == "gemm" || op.op == "spmm") && !rows_[i].streams;
      if (!weights || op.phase != Phase::fwd || is_done_again(op.id)) continue;
      take(entries, 0, Held::weights, rows_[i].bytes);
    }
    const system::LiveBytes live = system::live_bytes(ops_);
    take(entries, 0, Held::activations, live.kept);
    take(entries, 0, Held::working, std::max(live.forward, live.backward) - live.kept);
  }

  /// What an optimizer does, the store does: of the numbers whose gradients no row has sent it
  /// takes those in a pass without work. Gradients of a tied layer are added to those of the
  /// matrix, which is updated once. An update reads weights, gradients and state, and writes
  /// weights and state.
  system::WaferPass pass_of(std::size_t row, const system::ChipCost& cost, double clock_ghz) const {
    const LayerOp& op = ops_[row];
    const StoreRow& of = rows_[row];
    const auto made = [&](std::uint64_t down, std::uint64_t up, std::uint64_t ns,
                          const system::Trained& updated) {
      system::WaferPass pass = system::make_wafer_pass(params_, op.id, down, up, {ns});
      pass.parameters = updated.elements;
      pass.update_bytes = 2 * (updated.weights + updated.elements * params_.memoryx.state_bytes) +
                          updated.gradients;
      return pass;
    };
    if (op.op == "optim") return made(of.left.weights, of.left.gradients, 0, of.left);
    const auto ns =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(cost.cycles) / clock_ghz));
    // the link carries what the wafer takes in, in the form in which its edge takes it
    const bool indexed = of.streams || (of.gradient && op.op == "sddmm");
    const std::uint64_t up = of.gradient ? of.kept * bytes_of(op.dtype) : 0;
    const bool updates = of.gradient && !of.tied;
    return made(indexed ? std::max(of.bytes, cost.edge_bytes) : 0, up, ns,
                updates ? system::Trained{of.kept, of.bytes, up, 0} : system::Trained());
  }

  /// A collective of the trace, as often as it is repeated: the vectors of all wafers are added up
  /// on their way to the store, and the sum goes back to all. Where a wafer keeps a part of the
  /// sum, or one wafer keeps it, all take all of it; what is gathered or broadcast is the sum of
  /// vectors that are 0 but for the part of each, or of one. What all send to all others is
  /// gathered whole: the vector has what every wafer sends, and each of them sees all of it. Of a
  /// vector with a pattern the kept numbers are sent, as all know their places.
  void add_collective(std::size_t row, WaferSystemRun& run) const {
    const LayerOp& op = ops_[row];
    const std::uint64_t senders = op.op == "alltoall" ? params_.chips() : 1;
    const std::uint64_t bytes = system::bytes_moved(op, densities_[row]) * senders;
    for (std::uint32_t time = 0; time < op.repeat; ++time) {
      const auto up = static_cast<std::uint32_t>(run.passes.size());
      for (const bool sends : {true, false}) {
        run.passes.push_back(system::make_wafer_pass(params_, op.id + (sends ? " up" : " down"),
                                                     sends ? 0 : bytes, sends ? bytes : 0, {0}));
        run.passes.back().use = system::Use::exchange;
      }
      run.passes.back().waits_for = up;
    }
  }

  /// A pass that makes gradients of its own, or the optimizer's of a layer that shares its matrix.
  void note_update(std::size_t row, bool updates, std::uint32_t pass) {
    const LayerOp& op = ops_[row];
    if (rows_[row].gradient && updates) update_[trained_row(op)] = pass;
    if (rows_[row].gradient && rows_[row].tied) sharing_[op.id] = trained_row(op);
    if (op.op != "optim") return;
    for (const std::string& id : op.depends_on) {
      const auto shared = sharing_.find(id);
      if (shared != sharing_.end()) update_[shared->second] = pass;
    }
  }

  const StoreSystem& system_;
  const system::WaferSystemParams& params_;
  const std::vector<LayerOp>& ops_;
  std::vector<double> densities_;
  std::vector<StoreRow> rows_;
  std::set<std::string> sent_;                   // layers whose gradients a row of their own sends
  std::set<std::string> optimized_;              // and those that have a row of an optimizer
  std::map<std::string, std::uint32_t> update_;  // the last pass that changes a row's weights
  std::map<std::string, std::string> sharing_;   // rows of tied weights, by that of their gradient
};

}  // namespace

bool has_weight_store(const Machine& machine) { return as_store_system(machine) != nullptr; }

void check_wafer_accounts(const Machine& system, const WorkloadTrace& workload,
                          const std::vector<double>& densities) {
  StoreRows(*as_store_system(system), workload, densities).accounts();
}

WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const RowCosts& costs, const system::SystemExecution& execution,
                                const Pricing& pricing) {
  const StoreSystem& system = *as_store_system(machine);
  WaferSystemRun run;
  run.params = system.own();
  run.edge = system.edge();
  std::vector<double> densities;
  JouleRange operations;  // but for those of an optimizer, which the store does
  for (std::size_t i = 0; i < costs.size(); ++i) {
    densities.push_back(costs[i].density);
    if (workload.ops[i].op != "optim") operations.add(costs[i].joules, run.params.chips());
    if (is_done_again(workload.ops[i].id)) continue;
    run.flop += static_cast<double>(costs[i].flop) * run.params.chips();
  }
  StoreRows rows(system, workload, densities);
  run.memory = rows.accounts();
  rows.add_passes(costs, number_of(machine, "clock"), run);
  run.result = system::run_wafer_system(run.params, run.edge, run.passes, execution);
  run.energy = energy_of(run.params, run.result, operations, {idle_watts(machine, pricing), {}},
                         run.params.steps);
  return run;
}

std::optional<WaferSystemRun> complete_total(const Machine& machine, const WorkloadTrace& workload,
                                             const system::SystemExecution& execution,
                                             const Pricing& pricing, RunRecord& record) {
  SummaryRow& total = record.total;
  if (!has_weight_store(machine) || total.status != Status::ok || !total.time_s) {
    return std::nullopt;
  }
  std::optional<WaferSystemRun> made;
  try {
    made = run_wafer_system(machine, workload, costs_of(record), execution, pricing);
  } catch (const OutOfMemoryError& error) {
    std::vector<OpRecord> refused(1);
    refused[0].row = total;
    refused[0].row.status = Status::out_of_memory;
    refused[0].row.reason = error.what();
    total = total_of(refused);
    return std::nullopt;
  }
  const WaferSystemRun& run = *made;
  const double before = *total.time_s;
  const double seconds = run.seconds_per_step();
  const std::uint64_t chips = run.params.chips();
  total.cycles =
      static_cast<std::uint64_t>(std::llround(seconds * number_of(machine, "clock") * 1e9));
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
  return made;
}

}  // namespace lacuna
