// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/store_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/driver/system/chip_view.hpp"
#include "sim/driver/system/idle.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

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

Scaling scaling_of_shares(const std::string& workload) {
  return {"scaling", {workload, "the same share of a batch for each chip"}, "share", {}};
}

ScalingRow share_of(const Machine& machine, const SummaryRow& total) {
  const unsigned chips = as_store_system(machine)->own().chips();
  return {machine.name(), chips, *total.time_s, static_cast<double>(chips),
          total.energy_j->nominal};
}

namespace {

constexpr std::size_t kMostWafers = 16;  // in figures

NamedTable passes_table(const WaferSystemRun& run) {
  NamedTable table{"passes",
                   {"pass", "down_bytes", "up_bytes", "work_ns", "begin_ns", "end_ns", "updated_ns",
                    "least_alone_ns"},
                   {}};
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPass& pass = run.passes[i];
    const system::WaferPassTimes& times = run.result.passes[i];
    table.row(pass.name, pass.down_bytes, pass.up_bytes, pass.ns[0], times.begin, times.end,
              times.updated == kNever ? "" : fmt::format("{}", times.updated),
              least_ns(run.params, run.edge, pass));
  }
  return table;
}

/// A pass on the first wafer, and from its end there until it is in the store.
SystemSpans spans_of(const WaferSystemRun& run) {
  SystemSpans spans{"system", "passes of the first wafer, and on the way to the store", 1.4};
  spans.tracks = {"first wafer", "on the way to the store"};
  spans.kinds = coloured({0, static_cast<std::size_t>(system::Use::exchange) + 1});
  spans.kinds.back().second = "#d62728";
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const std::string& name = run.passes[i].name;
    const auto kind = static_cast<std::size_t>(run.passes[i].use);
    const auto& [begin, end] = run.result.first_wafer[i];
    const Cycle updated = run.result.passes[i].updated;
    spans.bars.push_back({name, 0, kind, begin, end});
    if (updated != kNever) spans.bars.push_back({name, 1, kind, end, updated});
  }
  spans.drawn = spans.bars;
  return spans;
}

std::string heading_of(const Machine& machine, const WaferSystemRun& run,
                       const SystemWishes& wishes, const system::TrainingParams* training) {
  std::string text;
  if (training != nullptr) {
    text = fmt::format(
        "{} ({}), {}: one weight update\n\n{} on {} chips, {} sequences of {} tokens on each\n\n",
        machine.name(), machine.extent(), wishes.name, training->model.value(),
        training->replicas.value(), training->micro_batch.value(), training->tokens.value());
  }
  return text + fmt::format("{} and a store of weights, {} of SwarmX between them, {}",
                            counted(run.params.chips(), "wafer"),
                            counted(run.params.levels(), "level"),
                            counted(run.params.steps, "step"));
}

std::vector<StandingPower> standing_of(const system::WaferSystemParams& params) {
  std::vector<StandingPower> all = {{"the store (memoryx.standing_w)", params.memoryx.standing_w},
                                    {"systems beside their wafers (machine_w)", params.machine_w}};
  if (params.nodes() > 0) {
    all.push_back({"nodes of the tree (swarmx.node_w)", params.swarmx.node_w});
  }
  return all;
}

StepCounts step_counts(const WaferSystemRun& run, const system::TrainingParams* training) {
  const double chips = run.params.chips();
  StepCounts counts;
  if (training != nullptr) counts = counts_of(*training, 0, 0);
  counts.seconds = run.seconds_per_step();
  counts.chips = counts.machines = chips;
  counts.flop = run.flop;
  return counts;
}

}  // namespace

SystemRecord record_of(const Machine& machine, const std::string& workload,
                       const WaferSystemRun& run, const SystemWishes& wishes,
                       const system::TrainingParams* training) {
  const auto ns = [](std::uint64_t value) { return static_cast<double>(value); };
  SystemRecord record = record_of_run(machine.name(), workload, step_counts(run, training),
                                      run.result, system::kUsesOfStores, run.energy,
                                      {{"link_busy", ns(run.result.link_busy_ns[0]), "ns"},
                                       {"store_updates", ns(run.result.update_ns), "ns"},
                                       {"store_waits", ns(run.result.wait_ns), "ns"}});
  record.heading = heading_of(machine, run, wishes, training);
  record.trust = "step_time: not validated here: no training of such a system is\n";
  record.drawn_chips = std::min(run.result.chips.size(), kMostWafers);
  record.memory = run.memory;
  record.standing = standing_of(run.params);
  record.tables = {{training == nullptr ? "Passes" : "", passes_table(run)}};
  record.spans = spans_of(run);
  if (wishes.viewed) record.series = wafer_series(run);
  if (training == nullptr) return record;
  record.scaling.replicas = training->replicas.value_text();
  record.scaling.accumulation = training->accumulation.value_text();
  record.idle = idle_words_on_tree(*training, run.params.memoryx.state_bytes);
  return record;
}

std::optional<SystemRecord> complete_record(const Point& point, const RunSettings& common,
                                            const Pricing& pricing, const SystemWishes& wishes,
                                            RunRecord& record) {
  system::SystemExecution execution;
  execution.engine = point.settings_or(common).execution.engine;
  execution.event_log = wishes.viewed;
  const auto run = complete_total(*point.machine, point.workload, execution, pricing, record);
  if (!run) return std::nullopt;
  return record_of(*point.machine, point.workload.name, *run, wishes);
}

}  // namespace lacuna
