// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/summary_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/sparsity/mask.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/mapping/system/done_again.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

namespace {

std::optional<std::uint64_t> dimension(std::uint32_t size) {
  return size == 0 ? std::nullopt : std::optional<std::uint64_t>(size);
}

using Rows = std::vector<const SummaryRow*>;

Rows rows_of(const std::vector<OpRecord>& ops) {
  Rows rows;
  rows.reserve(ops.size());
  for (const OpRecord& op : ops) rows.push_back(&op.row);
  return rows;
}

/// The word that all rows have, or nothing.
std::string common(const Rows& rows, std::string SummaryRow::*member) {
  const std::string& first = rows.front()->*member;
  const bool same = all_of(rows, [&](const SummaryRow* row) { return row->*member == first; });
  return same ? first : "";
}

/// The sum over all rows, or nothing if a row has none.
template <class T>
std::optional<T> sum(const std::vector<OpRecord>& ops, std::optional<T> SummaryRow::*member) {
  T all{};
  for (const OpRecord& op : ops) {
    if (!(op.row.*member)) return std::nullopt;
    all += *(op.row.*member);
  }
  return all;
}

/// Of all operations that have any; what is done again is no more of use than the first time.
SummaryRow::Count useful_flop(const std::vector<OpRecord>& ops) {
  SummaryRow::Count all;
  for (const OpRecord& op : ops) {
    if (!op.row.useful_flop) continue;
    all = all.value_or(0) + (is_done_again(op.row.op_id) ? 0 : *op.row.useful_flop);
  }
  return all;
}

/// Kept elements over all elements of the weights.
std::optional<double> common_density(const Rows& rows) {
  double kept = 0;
  double all = 0;
  for (const SummaryRow* row : rows) {
    if (!row->density || !row->m || !row->k) return std::nullopt;
    const double size = static_cast<double>(*row->m) * static_cast<double>(*row->k);
    kept += *row->density * size;
    all += size;
  }
  return kept / all;
}

std::optional<JouleRange> common_energy(const std::vector<OpRecord>& ops) {
  JouleRange all;
  for (const OpRecord& op : ops) {
    if (!op.row.energy_j) return std::nullopt;
    all.low += op.row.energy_j->low;
    all.nominal += op.row.energy_j->nominal;
    all.high += op.row.energy_j->high;
  }
  return all;
}

/// Operations follow each other on the same silicon.
std::optional<double> largest_silicon(const std::vector<OpRecord>& ops) {
  std::optional<double> largest;
  for (const OpRecord& op : ops) {
    if (op.row.silicon_mm2) largest = std::max(largest.value_or(0), *op.row.silicon_mm2);
  }
  return largest;
}

void add_sums(SummaryRow& total, const std::vector<OpRecord>& ops) {
  total.cycles = sum(ops, &SummaryRow::cycles);
  total.time_s = sum(ops, &SummaryRow::time_s);
  total.useful_flop = useful_flop(ops);
  total.sram_read_bytes = sum(ops, &SummaryRow::sram_read_bytes);
  total.sram_write_bytes = sum(ops, &SummaryRow::sram_write_bytes);
  total.fabric_bytes = sum(ops, &SummaryRow::fabric_bytes);
  total.io_bytes = sum(ops, &SummaryRow::io_bytes);
  add_rates(total);
  double possible = 0;
  for (const OpRecord& op : ops) {
    possible += op.result.peaks.flop_per_cycle * static_cast<double>(op.result.cycles);
  }
  if (possible > 0 && total.useful_flop) {
    total.utilisation = static_cast<double>(*total.useful_flop) / possible;
  }
  if (const std::optional<JouleRange> joules = common_energy(ops)) add_energy(total, *joules);
  if (const std::optional<double> area = largest_silicon(ops)) add_silicon(total, *area);
}

}  // namespace

void add_rates(SummaryRow& row) {
  const double seconds = *row.time_s;
  if (!(seconds > 0)) return;  // an empty operation has no rate
  if (row.useful_flop) {
    row.useful_tflops = static_cast<double>(*row.useful_flop) / seconds * 1e-12;
  }
  const auto sram = static_cast<double>(*row.sram_read_bytes + *row.sram_write_bytes);
  row.sram_gbps = sram / seconds * 1e-9;
  row.fabric_gbps = static_cast<double>(*row.fabric_bytes) / seconds * 1e-9;
  row.io_gbps = static_cast<double>(*row.io_bytes) / seconds * 1e-9;
}

OpResult repeated(OpResult result, std::uint64_t repeat) {
  if (repeat == 1) return result;
  result.cycles *= repeat;
  for (std::uint64_t* const count :
       {&result.mac_algorithmic, &result.mac_useful, &result.sram_read_bytes,
        &result.sram_write_bytes, &result.fabric_bytes, &result.io_bytes}) {
    *count *= repeat;
  }
  for (StatEntry& entry : result.statistics) entry.value *= repeat;
  for (StackPart& part : result.stack) part.cycles *= repeat;
  result.notes.emplace_back("repeat",
                            fmt::format("simulated once; counts and energy are x {}", repeat));
  return result;
}

SummaryRow describe_op(const LayerOp& op, const Mask* mask, Mode default_mode) {
  SummaryRow row;
  row.op_id = op.id;
  row.op = op.op;
  row.m = dimension(op.m);
  row.k = dimension(op.k);
  row.n = dimension(op.n);
  row.dtype = word(op.dtype);
  row.pattern = op.pattern.name;
  row.density = mask == nullptr ? 1.0 : mask->density();
  if (op.residency != Residency::automatic) row.residency = word(op.residency);
  if (has_weights(op)) row.mode = word(op.mode == Mode::automatic ? Mode::dense : op.mode);
  if (mask == nullptr) return row;  // dense: no blocks
  const PatternSpec& pattern = op.pattern;
  if (pattern.block_rows != pattern.block_cols) {
    row.block = fmt::format("{}x{}", pattern.block_rows, pattern.block_cols);
  } else if (pattern.block_rows != 1) {
    row.block = fmt::format("{}", pattern.block_rows);
  }
  row.mode = word(op.mode == Mode::automatic ? default_mode : op.mode);
  return row;
}

void add_result(SummaryRow& row, const OpResult& result) {
  row.exact = result.exact;
  row.status = result.status;
  row.reason = result.reason;
  if (result.status != Status::ok) return;
  if (!result.mode.empty()) row.mode = result.mode;
  if (!result.residency.empty()) row.residency = result.residency;
  row.x_density = result.x_density;
  row.cycles = result.cycles;
  row.time_s = static_cast<double>(result.cycles) / (result.clock_ghz * 1e9);
  // Operations that are no products have none, rather than zero of them.
  if (result.mac_algorithmic > 0) row.useful_flop = 2 * result.mac_useful;
  row.sram_read_bytes = result.sram_read_bytes;
  row.sram_write_bytes = result.sram_write_bytes;
  row.fabric_bytes = result.fabric_bytes;
  row.io_bytes = result.io_bytes;
  add_rates(row);
  const double possible = result.peaks.flop_per_cycle * static_cast<double>(result.cycles);
  if (possible > 0 && row.useful_flop) {
    row.utilisation = static_cast<double>(*row.useful_flop) / possible;
  }
}

void add_energy(SummaryRow& row, const JouleRange& joules) {
  row.energy_j = joules;
  if (row.time_s && *row.time_s > 0) row.power_w = joules.nominal / *row.time_s;
  if (row.useful_flop && *row.useful_flop > 0) {
    row.pj_per_useful_flop = joules.nominal * 1e12 / static_cast<double>(*row.useful_flop);
  }
}

void add_silicon(SummaryRow& row, double mm2) {
  if (!(mm2 > 0)) return;
  row.silicon_mm2 = mm2;
  if (row.useful_tflops) row.gflops_per_mm2 = *row.useful_tflops * 1e3 / mm2;
}

SummaryRow total_of(const std::vector<OpRecord>& ops) {
  SummaryRow total;
  total.op_id = kTotal;
  if (ops.empty()) return total;
  const SummaryRow& first = ops.front().row;
  total.run = first.run;
  total.machine = first.machine;
  total.engine = first.engine;
  total.workload = first.workload;
  total.seed = first.seed;
  total.varying = first.varying;
  total.dtype = common(rows_of(ops), &SummaryRow::dtype);
  const Rows weights = rows_of_weights(rows_of(ops));
  total.pattern = common(weights, &SummaryRow::pattern);
  total.block = common(weights, &SummaryRow::block);
  total.mode = common(weights, &SummaryRow::mode);
  total.residency = common(weights, &SummaryRow::residency);
  total.density = common_density(weights);
  for (const OpRecord& op : ops) {
    total.exact = total.exact && op.row.exact;
    if (op.row.status == Status::ok || total.status == Status::failed) continue;
    total.status = op.row.status;
    total.reason = fmt::format("{}: {}", op.row.op_id, op.row.reason);
  }
  if (total.status == Status::ok) add_sums(total, ops);
  return total;
}

}  // namespace lacuna
