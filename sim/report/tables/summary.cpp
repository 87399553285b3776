// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna {

namespace {

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

const OpResult* first_ok(const std::vector<OpRecord>& ops) {
  const auto found = std::find_if(ops.begin(), ops.end(), [](const OpRecord& op) {
    return op.result.status == Status::ok && op.result.units != 0;
  });
  return found == ops.end() ? nullptr : &found->result;
}

}  // namespace

std::vector<const SummaryRow*> rows_of_weights(std::vector<const SummaryRow*> rows) {
  const auto holds_none = [](const SummaryRow* row) {
    return row->op != "gemm" && row->op != "spmm";
  };
  if (!std::all_of(rows.begin(), rows.end(), holds_none)) {
    rows.erase(std::remove_if(rows.begin(), rows.end(), holds_none), rows.end());
  }
  return rows;
}

const std::vector<std::string>& summary_columns() {
  static const std::vector<std::string> columns = {"run",
                                                   "machine",
                                                   "engine",
                                                   "exact",
                                                   "workload",
                                                   "op_id",
                                                   "op",
                                                   "m",
                                                   "k",
                                                   "n",
                                                   "dtype",
                                                   "pattern",
                                                   "density",
                                                   "block",
                                                   "mode",
                                                   "residency",
                                                   "x_kept",
                                                   "seed",
                                                   "cycles",
                                                   "time_s",
                                                   "useful_flop",
                                                   "useful_tflops",
                                                   "dense_tflops",
                                                   "speedup_vs_dense",
                                                   "utilisation",
                                                   "sram_read_bytes",
                                                   "sram_write_bytes",
                                                   "fabric_bytes",
                                                   "io_bytes",
                                                   "sram_gbps",
                                                   "fabric_gbps",
                                                   "io_gbps",
                                                   "energy_j",
                                                   "energy_low_j",
                                                   "energy_high_j",
                                                   "power_w",
                                                   "pj_per_useful_flop",
                                                   "silicon_mm2",
                                                   "gflops_per_mm2",
                                                   "time_low_s",
                                                   "time_high_s",
                                                   "speedup_low",
                                                   "speedup_high",
                                                   "energy_vs_dense",
                                                   "energy_vs_dense_low",
                                                   "energy_vs_dense_high",
                                                   "trust",
                                                   "status",
                                                   "reason"};
  return columns;
}

namespace {

std::vector<std::string> cells_of_request(const SummaryRow& row) {
  return {fmt::format("{}", row.run),
          row.machine,
          row.engine,
          row.exact ? "true" : "false",
          row.workload,
          row.op_id,
          row.op,
          cell(row.m),
          cell(row.k),
          cell(row.n),
          row.dtype,
          row.pattern,
          cell(row.density),
          row.block,
          row.mode,
          row.residency,
          cell(row.x_density),
          cell(row.seed)};
}

}  // namespace

std::vector<std::string> summary_cells(const SummaryRow& row) {
  const auto corner_of = [](const std::optional<JouleRange>& range, double JouleRange::*corner) {
    return range ? fmt::format("{}", (*range).*corner) : std::string();
  };
  const auto energy = [&](double JouleRange::*corner) { return corner_of(row.energy_j, corner); };
  const auto ratio = [&](double JouleRange::*corner) {
    return corner_of(row.energy_vs_dense, corner);
  };
  const std::vector<std::string> outcome = {cell(row.cycles),
                                            cell(row.time_s),
                                            cell(row.useful_flop),
                                            cell(row.useful_tflops),
                                            cell(row.dense_tflops),
                                            cell(row.speedup_vs_dense),
                                            cell(row.utilisation),
                                            cell(row.sram_read_bytes),
                                            cell(row.sram_write_bytes),
                                            cell(row.fabric_bytes),
                                            cell(row.io_bytes),
                                            cell(row.sram_gbps),
                                            cell(row.fabric_gbps),
                                            cell(row.io_gbps),
                                            energy(&JouleRange::nominal),
                                            energy(&JouleRange::low),
                                            energy(&JouleRange::high),
                                            cell(row.power_w),
                                            cell(row.pj_per_useful_flop),
                                            cell(row.silicon_mm2),
                                            cell(row.gflops_per_mm2),
                                            cell(row.time_low_s),
                                            cell(row.time_high_s),
                                            cell(row.speedup_low),
                                            cell(row.speedup_high),
                                            ratio(&JouleRange::nominal),
                                            ratio(&JouleRange::low),
                                            ratio(&JouleRange::high),
                                            row.trust,
                                            status_name(row.status),
                                            row.reason};
  std::vector<std::string> cells = cells_of_request(row);
  cells.insert(cells.end(), outcome.begin(), outcome.end());
  cells.insert(cells.end(), row.varying.begin(), row.varying.end());
  return cells;
}

std::string kernel_text(const SummaryRow& row) {
  const bool both = !row.mode.empty() && !row.residency.empty();
  return row.mode + (both ? ", " : "") + row.residency;
}

std::vector<StackPart> RunRecord::stack() const {
  std::vector<StackPart> sum;
  for (const OpRecord& op : ops) {
    for (const StackPart& part : op.result.stack) {
      const auto same = std::find_if(sum.begin(), sum.end(), [&](const StackPart& other) {
        return other.layer == part.layer && other.kind == part.kind;
      });
      if (same == sum.end()) {
        sum.push_back(part);
      } else {
        same->cycles += part.cycles;
      }
    }
  }
  std::stable_sort(sum.begin(), sum.end(),
                   [](const StackPart& a, const StackPart& b) { return a.layer < b.layer; });
  return sum;
}

double RunRecord::peak_tflops() const {
  const OpResult* const result = first_ok(ops);
  return result == nullptr ? 0 : result->peaks.flop_per_cycle * result->clock_ghz * 1e-3;
}

std::uint64_t RunRecord::units() const {
  const OpResult* const result = first_ok(ops);
  return result == nullptr ? 0 : result->units + result->idle_units;
}

bool is_interrupted(const std::vector<RunRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const RunRecord& record) {
    return record.total.status == Status::interrupted;
  });
}

}  // namespace lacuna
