// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/wafer_system_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/error.hpp"
#include "sim/report/csv_files.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr const char* kGroup = "sys.";

system::WaferSystemParams params_of(const Machine& machine, bool& half_duplex) {
  system::WaferSystemParams params;
  machine.parameters().for_each([&](const std::string& path, const ParamBase& parameter) {
    if (path.rfind(kGroup, 0) == 0) {
      params.set(path.substr(std::string(kGroup).size()), parameter.value_text(), machine.name());
    }
    if (path == "io.duplex") half_duplex = parameter.value_text() == "half";
  });
  return params;
}

/// Weights that an operation streams in, or whose gradients it makes.
std::uint64_t kept_weights(const LayerOp& op, const OpRecord& record) {
  const std::uint64_t batch = std::max<std::uint32_t>(op.batch, 1);
  const std::uint64_t times = record.repeat * batch;
  const bool product = op.op == "gemm" || op.op == "spmm";
  const std::uint64_t each = product ? op.n : op.k;
  return each == 0 ? 0 : record.result.mac_useful / (each * times) * record.repeat;
}

bool streams_weights(const LayerOp& op) {
  return (op.op == "gemm" || op.op == "spmm") &&
         (op.mode == Mode::streamed || op.mode == Mode::automatic);
}

std::uint64_t nanoseconds(const OpResult& result) {
  return static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(result.cycles) / result.clock_ghz));
}

}  // namespace

bool has_weight_store(const Machine& machine) {
  bool on = false;
  machine.parameters().for_each([&](const std::string& path, const ParamBase& parameter) {
    if (path == "sys.memoryx.on") on = parameter.value_text() == "true";
  });
  return on;
}

WaferSystemRun run_wafer_system(const Machine& machine, const WorkloadTrace& workload,
                                const RunRecord& record, Engine engine) {
  WaferSystemRun run;
  run.params = params_of(machine, run.edge.half_duplex);
  run.edge.latency_ns =
      static_cast<std::uint64_t>(std::llround(run.params.io_latency_us.value() * 1000));
  std::map<std::string, std::uint32_t> updates;  // by the row of a weight: the pass of its gradient
  for (unsigned step = 0; step < run.params.steps; ++step) {
    for (std::size_t i = 0; i < record.ops.size(); ++i) {
      const LayerOp& op = workload.ops[i];
      const OpRecord& done = record.ops[i];
      if (done.result.status != Status::ok) {
        throw UnsupportedError(fmt::format("{}: not simulated, so the system is not", op.id));
      }
      const bool gradient = op.op == "sddmm" && op.batch <= 1;
      const std::uint64_t weights = gradient || streams_weights(op) ? kept_weights(op, done) : 0;
      run.passes.push_back(system::make_wafer_pass(
          run.params, op.id, weights * run.params.weight_bytes,
          gradient ? weights * run.params.grad_bytes : 0, {nanoseconds(done.result)}));
      system::WaferPass& pass = run.passes.back();
      const auto update = updates.find(op.id);
      if (update != updates.end() && !gradient) pass.waits_for = update->second;
      if (!gradient || weights == 0) continue;
      pass.parameters = weights;
      const std::string* const of = find_value(op.pattern.args, "of");
      updates[of != nullptr ? *of : op.id] = static_cast<std::uint32_t>(run.passes.size() - 1);
    }
  }
  system::WaferSystemExecution execution;
  execution.engine = engine;
  run.result = system::run_wafer_system(run.params, run.edge, run.passes, execution);
  return run;
}

std::string wafer_system_text(const WaferSystemRun& run) {
  const system::WaferSystemResult& result = run.result;
  std::string text = fmt::format(
      "{} wafer{} and a store of weights, {} level{} of SwarmX between them, {} step{}\n\n",
      run.params.wafers.value(), run.params.wafers == 1 ? "" : "s", run.params.levels(),
      run.params.levels() == 1 ? "" : "s", run.params.steps.value(),
      run.params.steps == 1 ? "" : "s");
  TextTable passes;
  passes.column("pass", "", TextTable::Align::left);
  for (const char* const title : {"down", "up"}) passes.column(title, "MB");
  for (const char* const title : {"work", "begins", "ends", "updated", "least alone"}) {
    passes.column(title, "us");
  }
  const auto us = [](std::uint64_t ns) { return four_digits(static_cast<double>(ns) / 1000); };
  const auto mb = [](std::uint64_t bytes) { return four_digits(static_cast<double>(bytes) / 1e6); };
  std::uint64_t work = 0;
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPass& pass = run.passes[i];
    const system::WaferPassTimes& times = result.passes[i];
    work += pass.ns[0];
    passes.row({pass.name, mb(pass.down_bytes), pass.up_bytes == 0 ? "" : mb(pass.up_bytes),
                us(pass.ns[0]), us(times.begin), us(times.end),
                times.updated == kNever ? "" : us(times.updated),
                us(least_ns(run.params, run.edge, pass))});
  }
  text += passes.text();
  const system::WaferTimes& wafer = result.wafers[0];
  constexpr std::array<const char*, system::kWaferUses> kUses = {
      "work", "waits for weights", "waits for room for gradients", "nothing left to do"};
  TextTable stack;
  stack.column("time of the first wafer", "", TextTable::Align::left);
  stack.column("us", "");
  stack.column("part", "%");
  for (std::size_t i = 0; i < wafer.size(); ++i) {
    stack.row({kUses.at(i), us(wafer.at(i)),
               fmt::format("{:.1f}", 100.0 * static_cast<double>(wafer.at(i)) /
                                         static_cast<double>(result.ns))});
  }
  stack.rule();
  stack.row({"all", us(result.ns), "100.0"});
  text += "\n" + stack.text();
  text += fmt::format(
      "\nThe wafers' own work takes {} us; the store's link was busy for {} us, updates took {} "
      "us, "
      "and the store waited {} us for one.\n",
      us(work), us(result.link_busy_ns[0]), us(result.update_ns), us(result.wait_ns));
  return text;
}

std::vector<std::pair<std::string, std::string>> wafer_system_files(const WaferSystemRun& run) {
  std::string passes = csv_line({"pass", "down_bytes", "up_bytes", "work_ns", "begin_ns", "end_ns",
                                 "updated_ns", "least_alone_ns"});
  const auto number = [](std::uint64_t value) { return fmt::format("{}", value); };
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    const system::WaferPass& pass = run.passes[i];
    const system::WaferPassTimes& times = run.result.passes[i];
    passes += csv_line({pass.name, number(pass.down_bytes), number(pass.up_bytes),
                        number(pass.ns[0]), number(times.begin), number(times.end),
                        times.updated == kNever ? "" : number(times.updated),
                        number(least_ns(run.params, run.edge, pass))});
  }
  constexpr std::array<const char*, system::kWaferUses> kNames = {"work", "weights", "gradients",
                                                                  "idle"};
  std::string times = csv_line({"wafer", "use", "ns"});
  for (std::size_t wafer = 0; wafer < run.result.wafers.size(); ++wafer) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      times += csv_line({number(wafer), kNames.at(i), number(run.result.wafers[wafer].at(i))});
    }
  }
  return {{"system_passes.csv", passes}, {"system_times.csv", times}};
}

}  // namespace lacuna
