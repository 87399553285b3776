// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/wafer_system_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "sim/base/error.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/driver/system/times.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/mapping/system/live_memory.hpp"
#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/row_program.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
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

/// Numbers that the store updates for an optimizer's row whose gradients no other row has sent:
/// biases, factors of norms, tables.
std::uint64_t left_to_update(const LayerOp& op, const Sent& sent) {
  if (op.op != "optim" || sent.count(op.layer) != 0) return 0;
  return std::uint64_t{op.m} * op.k * std::max<std::uint32_t>(op.batch, 1) * op.repeat;
}

bool streams_weights(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "spmm") && op.residency != Residency::resident &&
         op.mode != Mode::static_ && op.mode != Mode::dynamic;
}

/// What the store has to hold for one step's rows: every weight once, however often it is streamed
/// and by whichever layers.
/// `densities` has one for each row, of the mask it has.
system::StoreAccount account_of(const system::WaferSystemParams& params,
                                const WorkloadTrace& workload,
                                const std::vector<double>& densities) {
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t trained = 0;
  std::uint64_t others = 0;
  const Sent sent = sent_layers(workload);
  const std::set<std::string> tied = tied_layers(workload);
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const LayerOp& op = workload.ops[i];
    others += left_to_update(op, sent);
    if (system::is_done_again(op) || tied.count(op.layer) != 0) continue;
    if (makes_gradients(op)) {
      trained += gradients(op, densities[i]);
    } else if (streams_weights(op)) {
      (op.phase == Phase::fwd ? forward : backward) += kept_weights(op, densities[i]);
    }
  }
  return system::store_account(params, std::max({forward, backward, trained}) + others,
                               trained + others);
}

/// What a wafer has to hold of one step's rows: weights that stay, what the backward pass needs of
/// the forward pass, and the most that is there beside it. Streamed weights and gradients of
/// weights pass through. OutOfMemoryError with the bytes of each if that is more than it has.
WaferAccount account_of_chip(const StoreSystem& system, const WorkloadTrace& workload,
                             const std::vector<double>& densities) {
  WaferAccount account;
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const LayerOp& op = workload.ops[i];
    const bool weights = (op.op == "gemm" || op.op == "spmm") && !streams_weights(op);
    if (!weights || op.phase != Phase::fwd || system::is_done_again(op)) continue;
    account.weights += kept_weights(op, densities[i]) / op.repeat * bytes_of(op.dtype);
  }
  const system::LiveBytes live = system::live_bytes(workload.ops);
  account.activations = live.kept;
  account.working = std::max(live.forward, live.backward) - live.kept;
  account.capacity = system.chip_bytes();
  if (account.total() > account.capacity) {
    throw OutOfMemoryError(fmt::format(
        "each wafer of {} needs {} B and has {} B (chip.mem.kib of each core): weights {}, kept "
        "for the backward pass {}, at work {}; fewer sequences at once need less, and "
        "activations = recomputed (trace make --recompute) keeps less",
        system.name(), account.total(), account.capacity, account.weights, account.activations,
        account.working));
  }
  return account;
}

std::vector<double> densities_of(const WaferWork& work) {
  std::vector<double> densities;
  for (const WaferRow& row : work.rows) densities.push_back(row.density);
  return densities;
}

EnergyAccount energy_of(const WaferSystemRun& run, const Machine& machine,
                        const WorkloadTrace& workload, const WaferWork& work,
                        const Pricing& pricing) {
  EnergyAccount energy;
  const double times = static_cast<double>(run.params.chips()) * run.params.steps;
  for (std::size_t i = 0; i < work.rows.size(); ++i) {
    if (workload.ops[i].op == "optim") continue;
    energy.range.low += work.rows[i].joules.low * times;
    energy.range.nominal += work.rows[i].joules.nominal * times;
    energy.range.high += work.rows[i].joules.high * times;
  }
  energy.work = {"work", "operations on wafers", energy.range};
  if (work.units == 0) {
    throw UnsupportedError("no row of the trace runs on a chip, so that nothing is known of one");
  }
  std::vector<std::uint64_t> waits;
  for (const system::WaferTimes& wafer : run.result.wafers) {
    waits.push_back(run.result.ns - wafer[0]);
  }
  const JouleRange waiting =
      joules_of_waiting(waits, idle_watts(machine, pricing, work.units, work.clock_ghz));
  std::uint64_t carried = 0;
  for (const std::uint64_t bytes : run.result.down_bytes) carried += bytes;
  for (const std::uint64_t bytes : run.result.up_bytes) carried += bytes;
  const double seconds = static_cast<double>(run.result.ns) * 1e-9;
  const system::WaferSystemParams& params = run.params;
  energy.beside = {
      {"waiting", "wafers that wait", waiting},
      {"store", "traffic of the store",
       without_range(8e-12 * static_cast<double>(run.result.store_bytes) * params.memory_pj_bit)},
      {"tree", "links of the tree",
       without_range(8e-12 * static_cast<double>(carried) * params.link_pj_bit)},
      {"standing", "standing power beside wafers",
       without_range(params.standing_watts() * seconds)}};
  return energy;
}

std::uint64_t nanoseconds(const OpResult& result) {
  return static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(result.cycles) / result.clock_ghz));
}

}  // namespace

bool has_weight_store(const Machine& machine) { return as_store_system(machine) != nullptr; }

namespace {

/// The pass of a row of the trace. What an optimizer does, the store does: of the numbers whose
/// gradients no row has sent, biases and the like, it takes those in a pass without work. Gradients
/// of a tied layer are added to those of the matrix, which is updated once.
system::WaferPass pass_of(const WaferSystemRun& run, const LayerOp& op, const WaferRow& done,
                          const Sent& sent, const std::set<std::string>& tied) {
  const system::WaferSystemParams& params = run.params;
  if (op.op == "optim") {
    const std::uint64_t numbers = left_to_update(op, sent);
    system::WaferPass pass = system::make_wafer_pass(params, op.id, numbers * params.weight_bytes,
                                                     numbers * params.grad_bytes, {0});
    pass.parameters = numbers;
    return pass;
  }
  const double density = done.density;
  const bool gradient = makes_gradients(op);
  const bool indexed = streams_weights(op) || (gradient && op.op == "sddmm");
  const std::uint64_t made = gradient ? gradients(op, density) : 0;
  system::WaferPass pass = system::make_wafer_pass(
      params, op.id, indexed ? kept_weights(op, density) * params.weight_bytes : 0,
      made * params.grad_bytes, {done.ns});
  pass.parameters = tied.count(op.layer) != 0 ? 0 : made;
  return pass;
}

/// A collective of the trace, as often as it is repeated: the vectors of all wafers are added up on
/// their way to the store, and the sum goes back to all. Where a wafer keeps a part of the sum, or
/// one wafer keeps it, all take all of it; what is gathered or broadcast is the sum of vectors that
/// are 0 but for the part of each, or of one. What all send to all others is gathered whole: the
/// vector has what every wafer sends, and each of them sees all of it.
void add_collective(WaferSystemRun& run, const LayerOp& op) {
  const std::uint64_t senders = op.op == "alltoall" ? run.params.chips() : 1;
  const std::uint64_t bytes = system::bytes_moved(op) * senders;
  for (std::uint32_t time = 0; time < op.repeat; ++time) {
    const auto up = static_cast<std::uint32_t>(run.passes.size());
    run.passes.push_back(system::make_wafer_pass(run.params, op.id + " up", 0, bytes, {0}));
    run.passes.push_back(system::make_wafer_pass(run.params, op.id + " down", bytes, 0, {0}));
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
      if (op.op == "optim" && left_to_update(op, sent) == 0) continue;
      if (system::is_between_chips(op)) {
        add_collective(run, op);
        continue;
      }
      system::WaferPass pass = pass_of(run, op, work.rows[i], sent, tied);
      const std::optional<std::uint32_t> update = updates.of(op);
      if (update && streams_weights(op)) pass.waits_for = *update;
      updates.add(op, pass.parameters, static_cast<std::uint32_t>(run.passes.size()));
      run.passes.push_back(std::move(pass));
      run.kinds.push_back(pass_kind(op));
    }
  }
}

}  // namespace

void check_weight_store(const Point& point, const RunSettings& common, MaskStore& masks) {
  const Machine& machine = *point.machine;
  const StoreSystem* const system = as_store_system(machine);
  if (system == nullptr) return;
  std::vector<double> densities;
  for (const LayerOp& op : point.workload.ops) {
    if (!machine.no_room(op).empty()) return;  // which is said with the operation
    const Mask* const mask = masks.mask(op, point.workload, point.settings_or(common).seed);
    densities.push_back(mask == nullptr ? 1 : mask->density());
  }
  check_wafer_accounts(machine, point.workload, densities);
}

void check_wafer_accounts(const Machine& system, const WorkloadTrace& workload,
                          const std::vector<double>& densities) {
  const StoreSystem& store = *as_store_system(system);
  account_of(store.own(), workload, densities);
  account_of_chip(store, workload, densities);
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
    if (op.row.energy_j) row.joules = *op.row.energy_j;
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
  run.store = account_of(run.params, workload, densities_of(work));
  run.wafer = account_of_chip(system, workload, densities_of(work));
  add_passes(run, workload, work);
  run.result = system::run_wafer_system(run.params, run.edge, run.passes, execution);
  run.energy = energy_of(run, machine, workload, work, pricing);
  return run;
}

Scaling scaling_of_shares(const std::string& workload) {
  return {"scaling", {workload, "the same share of a batch for each chip"}, "share", {}};
}

ScalingRow scaling_row(const std::string& name, const WaferSystemRun& run) {
  ScalingRow row;
  row.system = name;
  row.chips = run.params.chips();
  row.seconds = run.seconds_per_step();
  row.each = static_cast<double>(row.chips);
  row.joules = run.energy.total().nominal / run.params.steps;
  return row;
}

namespace {

std::string standing_text(const system::WaferSystemParams& params) {
  std::vector<StandingPower> all = {{"the store (memoryx.standing_w)", params.memoryx.standing_w},
                                    {"systems beside their wafers (machine_w)", params.machine_w}};
  if (params.nodes() > 0) {
    all.push_back({"nodes of the tree (swarmx.node_w)", params.swarmx.node_w});
  }
  return not_counted(all);
}

std::string store_text(const system::StoreAccount& store) {
  return fmt::format(
      "The store holds {} MB of weights, {} of gradients and {} of the optimizer's state: {:.3g} % "
      "of its {} TB.\n",
      four_digits(static_cast<double>(store.weights) / 1e6),
      four_digits(static_cast<double>(store.gradients) / 1e6),
      four_digits(static_cast<double>(store.state) / 1e6),
      100 * static_cast<double>(store.total()) / static_cast<double>(store.capacity),
      four_digits(static_cast<double>(store.capacity) / 1e12));
}

std::string in_us(std::uint64_t ns) { return four_digits(static_cast<double>(ns) / 1000); }

std::string chip_text(const WaferAccount& wafer) {
  const auto mb = [](std::uint64_t bytes) { return four_digits(static_cast<double>(bytes) / 1e6); };
  return fmt::format(
      "Each wafer holds {} MB of weights, {} that the backward pass needs and {} at work: {:.3g} % "
      "of its {} GB.\n",
      mb(wafer.weights), mb(wafer.activations), mb(wafer.working),
      100 * static_cast<double>(wafer.total()) / static_cast<double>(wafer.capacity),
      four_digits(static_cast<double>(wafer.capacity) / 1e9));
}

}  // namespace

namespace {

std::string passes_text(const WaferSystemRun& run) {
  TextTable passes;
  passes.column("pass", "", TextTable::Align::left);
  for (const char* const title : {"down", "up"}) passes.column(title, "MB");
  for (const char* const title : {"work", "begins", "ends", "updated", "least alone"}) {
    passes.column(title, "us");
  }
  const auto mb = [](std::uint64_t bytes) { return four_digits(static_cast<double>(bytes) / 1e6); };
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPass& pass = run.passes[i];
    const system::WaferPassTimes& times = run.result.passes[i];
    passes.row({pass.name, mb(pass.down_bytes), pass.up_bytes == 0 ? "" : mb(pass.up_bytes),
                in_us(pass.ns[0]), in_us(times.begin), in_us(times.end),
                times.updated == kNever ? "" : in_us(times.updated),
                in_us(least_ns(run.params, run.edge, pass))});
  }
  return passes.text();
}

}  // namespace

std::string wafer_system_text(const WaferSystemRun& run, bool with_passes) {
  const system::WaferSystemResult& result = run.result;
  std::string text = fmt::format(
      "{} wafer{} and a store of weights, {} level{} of SwarmX between them, {} step{}\n\n",
      run.params.chips(), run.params.chips() == 1 ? "" : "s", run.params.levels(),
      run.params.levels() == 1 ? "" : "s", run.params.steps.value(),
      run.params.steps == 1 ? "" : "s");
  if (with_passes) text += passes_text(run) + "\n";
  std::uint64_t work = 0;
  for (const system::WaferPass& pass : run.passes) work += pass.ns[0];
  const system::WaferTimes& wafer = result.wafers[0];
  constexpr std::array<const char*, system::kWaferUses> kUseNames = {
      "work", "waits for weights", "waits for room for gradients", "nothing left to do"};
  TextTable stack;
  stack.column("time of the first wafer", "", TextTable::Align::left);
  stack.column("us", "");
  stack.column("part", "%");
  for (std::size_t i = 0; i < wafer.size(); ++i) {
    stack.row({kUseNames.at(i), in_us(wafer.at(i)),
               fmt::format("{:.1f}", 100.0 * static_cast<double>(wafer.at(i)) /
                                         static_cast<double>(result.ns))});
  }
  stack.rule();
  stack.row({"all", in_us(result.ns), "100.0"});
  text += stack.text();
  text += fmt::format(
      "\nThe wafers' own work takes {} us; the store's link was busy for {} us, updates took {} "
      "us, "
      "and the store waited {} us for one.\n",
      in_us(work), in_us(result.link_busy_ns[0]), in_us(result.update_ns), in_us(result.wait_ns));
  return text + "\n" + energy_text("energy of the system", run.energy) + standing_text(run.params) +
         "\n" + store_text(run.store) + chip_text(run.wafer);
}

namespace {

NamedTable passes_table(const WaferSystemRun& run) {
  NamedTable table{"passes",
                   {"pass", "down_bytes", "up_bytes", "work_ns", "begin_ns", "end_ns", "updated_ns",
                    "least_alone_ns"},
                   {}};
  const auto number = [](std::uint64_t value) { return fmt::format("{}", value); };
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPass& pass = run.passes[i];
    const system::WaferPassTimes& times = run.result.passes[i];
    table.rows.push_back({pass.name, number(pass.down_bytes), number(pass.up_bytes),
                          number(pass.ns[0]), number(times.begin), number(times.end),
                          times.updated == kNever ? "" : number(times.updated),
                          number(least_ns(run.params, run.edge, pass))});
  }
  return table;
}

NamedTable times_table(const WaferSystemRun& run) {
  std::vector<std::vector<std::uint64_t>> ns;
  for (const system::WaferTimes& wafer : run.result.wafers) {
    ns.emplace_back(wafer.begin(), wafer.end());
  }
  return time_stack_table("time_stack", {"work", "weights", "gradients", "idle"}, ns);
}

}  // namespace

std::vector<MemoryOfPlace> memory_places(const WaferSystemRun& run) {
  const system::StoreAccount& store = run.store;
  const WaferAccount& wafer = run.wafer;
  return {{"0",
           "store",
           {{"weights", store.weights},
            {"gradients", store.gradients},
            {"state", store.state},
            {"activations", 0},
            {"working", 0}},
           store.capacity},
          {"0",
           "wafer",
           {{"weights", wafer.weights},
            {"gradients", 0},
            {"state", 0},
            {"activations", wafer.activations},
            {"working", wafer.working}},
           wafer.capacity}};
}

std::vector<PassBar> pass_bars(const WaferSystemRun& run) {
  std::vector<PassBar> bars;
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPassTimes& times = run.result.passes[i];
    const auto& [begin, end] = run.result.first_wafer[i];
    bars.push_back({i, 0, begin, end});
    if (times.updated != kNever) bars.push_back({i, 1, end, times.updated});
  }
  return bars;
}

namespace {

std::string timeline_of(const WaferSystemRun& run) {
  std::vector<TimelineBar> bars;
  for (const PassBar& bar : pass_bars(run)) {
    bars.push_back({run.passes[bar.pass].name, bar.track, bar.from, bar.to});
  }
  return timeline_json("system", kPassTracks, bars);
}

}  // namespace

std::vector<SystemMetric> wafer_system_metrics(const WaferSystemRun& run) {
  const double steps = run.params.steps;
  std::vector<SystemMetric> metrics = {{"step_time", run.seconds_per_step(), "s"},
                                       {"chips", static_cast<double>(run.params.chips()), ""}};
  const auto append = [&](const std::vector<SystemMetric>& more) {
    metrics.insert(metrics.end(), more.begin(), more.end());
  };
  append(energy_metrics(run.energy, steps, static_cast<double>(run.result.ns) * 1e-9));
  append(part_metrics(run.energy, steps));
  metrics.push_back({"link_busy", static_cast<double>(run.result.link_busy_ns[0]), "ns"});
  return metrics;
}

std::vector<NamedTable> wafer_system_tables(const WaferSystemRun& run,
                                            const std::vector<SystemMetric>& metrics) {
  return {passes_table(run), times_table(run), metrics_table("metrics", metrics),
          memory_table("memory", memory_places(run))};
}

std::vector<std::pair<std::string, std::string>> wafer_system_files(
    const WaferSystemRun& run, const std::vector<SystemMetric>& metrics) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const NamedTable& table : wafer_system_tables(run, metrics)) {
    files.emplace_back(table.name + ".csv", csv_of(table));
  }
  files.emplace_back("timeline.json", timeline_of(run));
  return files;
}

}  // namespace lacuna
