// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/wafer_system_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/driver/system/tables.hpp"
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
      "work", "waits for weights", "waits for room for gradients", "waits for sums of all wafers",
      "nothing left to do"};
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
  return time_stack_table("time_stack", {"work", "weights", "gradients", "sums", "idle"}, ns);
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
