// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna::test {

/// A machine as the figures see it.
struct MadeUpMachine {
  std::string name;
  std::string kind;
  std::string extent;
  std::uint64_t units;
  double clock_ghz;
  double peak_tflops;
  double dense_share;  // of peak that a dense product reaches
};

/// What a pattern makes of a machine's dense time, at density d: d / efficiency + floor.
struct MadeUpPattern {
  std::string pattern;
  std::string block;
  double efficiency;
};

inline SummaryRow made_up_row(const MadeUpMachine& machine, const MadeUpPattern& pattern,
                              double density, const std::string& op_id, std::uint64_t m,
                              std::uint64_t k, std::uint64_t n) {
  const double flop =
      2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  const double dense_s = flop / (machine.peak_tflops * 1e12 * machine.dense_share);
  const bool dense = pattern.pattern == "dense";
  const double seconds =
      dense ? dense_s : dense_s * (density / pattern.efficiency + 0.04 * (1 + density));
  SummaryRow row;
  row.machine = machine.name;
  row.engine = "event";
  row.op_id = op_id;
  row.op = "gemm";
  row.m = m;
  row.k = k;
  row.n = n;
  row.dtype = "fp16";
  row.pattern = pattern.pattern;
  row.density = density;
  row.block = pattern.block;
  row.mode = dense ? "dense" : "static";
  row.seed = 1;
  row.cycles = static_cast<std::uint64_t>(seconds * machine.clock_ghz * 1e9);
  row.time_s = seconds;
  row.useful_flop = static_cast<std::uint64_t>(flop * density);
  row.useful_tflops = flop * density / seconds * 1e-12;
  row.dense_tflops = flop / dense_s * 1e-12;
  row.speedup_vs_dense = dense_s / seconds;
  row.utilisation = *row.useful_tflops / machine.peak_tflops;
  row.sram_read_bytes = *row.useful_flop / 6;
  row.sram_write_bytes = *row.useful_flop / 20;
  row.sram_gbps =
      static_cast<double>(*row.sram_read_bytes + *row.sram_write_bytes) / seconds * 1e-9;
  row.fabric_gbps = *row.sram_gbps / 40;
  row.io_gbps = *row.sram_gbps / 900;
  const double joules = seconds * 150 * (0.5 + 0.5 * *row.utilisation);
  row.energy_j = JouleRange{joules * 0.45, joules, joules * 2.1};
  row.power_w = joules / seconds;
  row.pj_per_useful_flop = joules * 1e12 / static_cast<double>(*row.useful_flop);
  return row;
}

inline OpResult made_up_result(const MadeUpMachine& machine, const SummaryRow& row) {
  OpResult result;
  result.cycles = *row.cycles;
  result.clock_ghz = machine.clock_ghz;
  result.units = machine.units;
  const auto units = static_cast<double>(machine.units);
  result.peaks = {machine.peak_tflops * 1e3 / machine.clock_ghz, 24 * units, 4 * units, units / 4};
  const std::uint64_t all = result.cycles * machine.units;
  // a share of compute that follows the utilisation, and the rest divided among the others
  const auto compute = static_cast<std::uint64_t>(static_cast<double>(all) * *row.utilisation);
  const std::uint64_t rest = all - compute;
  result.stack = {{Layer::compute, "amp", compute},
                  {Layer::exchange, "exchange", rest / 3},
                  {Layer::sync, "sync", rest / 20},
                  {Layer::stall, "slot", rest / 5},
                  {Layer::imbalance, "imbalance", rest / 4},
                  {Layer::idle, "idle", rest - rest / 3 - rest / 20 - rest / 5 - rest / 4}};
  return result;
}

inline SummaryRow made_up_total(const std::vector<OpRecord>& ops) {
  SummaryRow total = ops.front().row;
  total.op_id = kTotal;
  if (ops.size() == 1) return total;
  total.m = total.k = total.n = std::nullopt;
  double seconds = 0;
  double dense = 0;
  double peak = 0;
  std::uint64_t flop = 0;
  std::uint64_t cycles = 0;
  JouleRange joules;
  for (const OpRecord& op : ops) {
    seconds += *op.row.time_s;
    dense += *op.row.time_s * *op.row.speedup_vs_dense;
    peak += *op.row.time_s * *op.row.useful_tflops / *op.row.utilisation;
    flop += *op.row.useful_flop;
    cycles += *op.row.cycles;
    for (const Corner corner : kCorners) joules.at(corner) += op.row.energy_j->at(corner);
  }
  total.cycles = cycles;
  total.time_s = seconds;
  total.useful_flop = flop;
  total.useful_tflops = static_cast<double>(flop) / seconds * 1e-12;
  total.utilisation = *total.useful_tflops * seconds / peak;
  total.speedup_vs_dense = dense / seconds;
  total.energy_j = joules;
  total.sram_read_bytes = flop / 6;
  total.sram_write_bytes = flop / 20;
  total.pj_per_useful_flop = joules.nominal * 1e12 / static_cast<double>(flop);
  return total;
}

/// The six weight products of an encoder layer, or the first of them.
inline std::vector<std::array<std::uint64_t, 3>> made_up_shapes(bool layer) {
  if (!layer) return {{{4096, 4096, 1024}}};
  return {{{768, 768, 2048}}, {{768, 768, 2048}},  {{768, 768, 2048}},
          {{768, 768, 2048}}, {{3072, 768, 2048}}, {{768, 3072, 2048}}};
}

inline RunRecord made_up_run(std::uint64_t index, const MadeUpMachine& machine,
                             const MadeUpPattern& pattern, double density, bool layer) {
  const std::vector<std::string> names{"query", "key", "value", "output", "ffn_1", "ffn_2"};
  RunRecord run;
  run.run = index;
  run.machine = machine.name;
  run.kind = machine.kind;
  run.extent = machine.extent;
  run.engine = "event";
  run.workload = layer ? "bert_base_layer" : "4096x4096x1024";
  for (const auto& [m, k, n] : made_up_shapes(layer)) {
    OpRecord op;
    op.row = made_up_row(machine, pattern, density, names.at(run.ops.size()), m, k, n);
    op.row.run = index;
    op.row.workload = run.workload;
    op.result = made_up_result(machine, op.row);
    op.request = {{"pattern", pattern.pattern + pattern.block + ":" + std::to_string(density)}};
    run.ops.push_back(op);
  }
  run.total = made_up_total(run.ops);
  return run;
}

/// Two machines, a dense run each and four patterns at `densities`.
inline std::vector<RunRecord> made_up_comparison(bool layer, const std::vector<double>& densities) {
  const std::vector<MadeUpMachine> machines{
      {"bow", "ipu", "1472 tiles", 1472, 1.85, 348.9, 0.62},
      {"wse2", "wse", "64 x 64 of 750 x 994 cores", 4096, 0.85, 27.9, 0.44}};
  const std::vector<MadeUpPattern> patterns{{"unstructured", "1", 0.18},
                                            {"block", "4", 0.4},
                                            {"block", "8", 0.62},
                                            {"block", "16", 0.85}};
  std::vector<RunRecord> runs;
  for (const MadeUpMachine& machine : machines) {
    runs.push_back(made_up_run(runs.size(), machine, {"dense", "", 1}, 1, layer));
    for (const MadeUpPattern& pattern : patterns) {
      // a wafer takes any pattern alike, because it streams single weights
      MadeUpPattern own = pattern;
      if (machine.kind == "wse") own.efficiency = 0.8 - 0.05 * pattern.efficiency;
      for (const double density : densities) {
        runs.push_back(made_up_run(runs.size(), machine, own, density, layer));
      }
    }
  }
  return runs;
}

}  // namespace lacuna::test
