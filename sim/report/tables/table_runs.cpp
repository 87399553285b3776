// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report/layout_note.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

using Align = TextTable::Align;
using Need = TextTable::Need;

constexpr std::array<Layer, 6> kLayers = {Layer::compute, Layer::exchange,  Layer::sync,
                                          Layer::stall,   Layer::imbalance, Layer::idle};

std::string per_cent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string shape(const SummaryRow& row) {
  if (!row.m) return "";
  std::string text = fmt::format("{}", *row.m);
  for (const auto& side : {row.k, row.n}) {
    if (side) text += fmt::format("x{}", *side);
  }
  return text;
}

std::string pattern(const SummaryRow& row) {
  return row.block.empty() ? row.pattern : fmt::format("{} {}", row.pattern, row.block);
}

/// The columns of numbers, which a run and a comparison have in common.
void add_number_columns(TextTable& table) {
  table.column("density", "");
  table.column("cycles", "");
  table.column("time", "us");
  table.column("5 to 95 %", "us", Align::left, Need::told);
  table.column("useful", "TFLOP/s");
  table.column("per unit", "GFLOP/s", Align::right, Need::wide);
  table.column("of peak", "%");
  table.column("dense", "TFLOP/s", Align::right, Need::wide);
  table.column("speed-up", "vs dense");
  table.column("5 to 95 %", "vs dense", Align::left, Need::told);
  table.column("silicon", "mm2", Align::right, Need::wide);
  table.column("per area", "GFLOP/s/mm2", Align::right, Need::wide);
  table.column("energy", "uJ");
  table.column("low to high", "uJ", Align::left, Need::wide);
  table.column("status", "", Align::left);
}

void append_numbers(std::vector<std::string>& cells, const SummaryRow& row, std::uint64_t units) {
  cells.push_back(row.density ? fmt::format("{:.4g}", *row.density) : "");
  cells.push_back(row.cycles ? fmt::format("{}", *row.cycles) : "");
  cells.push_back(number_cell(row.time_s, 1e6));
  cells.push_back(range_cell(row.time_low_s, row.time_high_s, 1e6));
  cells.push_back(number_cell(row.useful_tflops));
  cells.push_back(units == 0 ? ""
                             : number_cell(row.useful_tflops, 1e3 / static_cast<double>(units)));
  cells.push_back(row.utilisation ? per_cent(*row.utilisation) : "");
  cells.push_back(number_cell(row.dense_tflops));
  cells.push_back(number_cell(row.speedup_vs_dense));
  cells.push_back(range_cell(row.speedup_low, row.speedup_high));
  cells.push_back(number_cell(row.silicon_mm2));
  cells.push_back(number_cell(row.gflops_per_mm2));
  cells.push_back(row.energy_j ? four_digits(row.energy_j->nominal * 1e6) : "");
  cells.push_back(row.energy_j ? fmt::format("{} to {}", four_digits(row.energy_j->low * 1e6),
                                             four_digits(row.energy_j->high * 1e6))
                               : "");
  cells.push_back(
      row.status == Status::ok ? "" : fmt::format("{}: {}", status_name(row.status), row.reason));
}

/// What is said of operations, a line each; of those of which it is the same one line together.
class Said {
 public:
  void add(const std::string& what, const std::string& id) {
    auto known = std::find_if(all_.begin(), all_.end(),
                              [&](const auto& each) { return each.first == what; });
    if (known == all_.end()) known = all_.insert(all_.end(), {what, {}});
    known->second.push_back(id);
  }

  std::string text(const std::string& before) const {
    std::string text;
    for (const auto& [what, ids] : all_) {
      const std::string more = ids.size() == 1 ? "" : fmt::format(" and {} more", ids.size() - 1);
      text += fmt::format("{}{}{}: {}\n", before, ids[0], more, what);
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> all_;  // and the ids
};

/// Why operations have no values, and what else is to be said of them beside their numbers.
std::string words_below(const RunRecord& record, const std::string& before = "") {
  Said reasons;
  Said remarks;
  for (const OpRecord& op : record.ops) {
    if (op.row.status != Status::ok) {
      reasons.add(fmt::format("{}: {}", status_name(op.row.status), op.row.reason), op.row.op_id);
    }
    for (const std::string& remark : op.result.remarks) remarks.add(remark, op.row.op_id);
  }
  return reasons.text(before) + remarks.text(before);
}

std::uint64_t layer_cycles(const std::vector<StackPart>& stack, Layer layer) {
  std::uint64_t sum = 0;
  for (const StackPart& part : stack) sum += part.layer == layer ? part.cycles : 0;
  return sum;
}

std::uint64_t all_cycles(const std::vector<StackPart>& stack) {
  std::uint64_t sum = 0;
  for (const StackPart& part : stack) sum += part.cycles;
  return sum;
}

/// The kind that took most of `layer`; empty if the layer is.
std::string largest_kind(const std::vector<StackPart>& stack, Layer layer) {
  const StackPart* largest = nullptr;
  for (const StackPart& part : stack) {
    const bool larger = largest == nullptr || part.cycles > largest->cycles;
    if (part.layer == layer && part.cycles > 0 && larger) largest = &part;
  }
  return largest == nullptr ? "" : largest->kind;
}

std::string what_was_run(const RunRecord& record) {
  std::string text = record.workload;
  if (!record.pattern.empty()) text += ", " + record.pattern;
  return fmt::format("{} ({}), {}, seed {}", record.machine, record.extent, text, record.seed);
}

}  // namespace

namespace {

/// True if a layout was chosen for any operation.
bool has_layouts(const RunRecord& record) {
  return std::any_of(record.ops.begin(), record.ops.end(),
                     [](const OpRecord& op) { return !note_of(op.result, kLayoutNote).empty(); });
}

/// How the operations of a run were laid out and who chose, a line for each that had a choice.
std::string layout_lines(const RunRecord& record, const std::string& before = "") {
  std::string text;
  for (const OpRecord& op : record.ops) {
    const std::string layout = note_of(op.result, kLayoutNote);
    if (layout.empty()) continue;
    text += fmt::format("{}{}: layout {} ({})\n", before, op.row.op_id, layout,
                        note_of(op.result, kLayoutSourceNote));
  }
  return text;
}

}  // namespace

std::string run_table(const RunRecord& record) {
  TextTable table;
  table.column("operation", "", Align::left);
  table.column("m x k x n", "", Align::left);
  table.column("type", "", Align::left, Need::wide);
  table.column("pattern", "", Align::left);
  table.column("mode", "", Align::left, Need::told);
  table.column("weights", "", Align::left, Need::told);
  const bool layouts = has_layouts(record);
  if (layouts) table.column("layout", "", Align::left);
  add_number_columns(table);
  const auto add = [&](const SummaryRow& row, const std::string& layout) {
    std::vector<std::string> cells = {row.op_id,    shape(row), row.dtype,
                                      pattern(row), row.mode,   row.residency};
    if (layouts) cells.push_back(layout);
    append_numbers(cells, row, record.units());
    table.row(std::move(cells));
  };
  for (const OpRecord& op : record.ops) add(op.row, note_of(op.result, kLayoutNote));
  if (&whole_row(record) == &record.total) {
    table.rule();
    add(record.total, "");
  }
  std::string reasons = words_below(record) + layout_lines(record);
  if (!reasons.empty()) reasons.insert(0, "\n");
  return what_was_run(record) + "\n\n" + table.text() + reasons;
}

const SummaryRow& whole_row(const RunRecord& record) {
  const bool alone = record.ops.size() == 1 && record.ops[0].row.time_s == record.total.time_s;
  return alone ? record.ops[0].row : record.total;
}

std::string compare_table(const std::vector<RunRecord>& records) {
  TextTable table;
  table.column("run", "");
  table.column("machine", "", Align::left);
  table.column("simulated", "", Align::left, Need::wide);
  table.column("pattern", "", Align::left);
  table.column("mode", "", Align::left, Need::told);
  table.column("weights", "", Align::left, Need::told);
  add_number_columns(table);
  std::string reasons;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RunRecord& record = records[i];
    const SummaryRow& row = whole_row(record);
    if (i > 0 && records[i - 1].machine != record.machine) table.rule();
    std::vector<std::string> cells = {fmt::format("{}", record.run),
                                      record.machine,
                                      record.extent,
                                      record.pattern.empty() ? pattern(row) : record.pattern,
                                      row.mode,
                                      row.residency};
    append_numbers(cells, row, record.units());
    table.row(std::move(cells));
    const std::string run = fmt::format("run {}, ", record.run);
    reasons += words_below(record, run) + layout_lines(record, run);
  }
  if (!reasons.empty()) reasons.insert(0, "\n");
  return table.text() + reasons;
}

namespace {

/// Whether hardware that no one has was asked for by a name that says so.
bool is_idealised(const RunRecord& record) {
  return std::any_of(record.ops.begin(), record.ops.end(),
                     [](const OpRecord& op) { return is_idealised(op.result); });
}

}  // namespace

std::string stack_table(const RunRecord& record) {
  const std::vector<StackPart> stack = record.stack();
  const std::uint64_t total = all_cycles(stack);
  if (total == 0) return "";
  Cycle cycles = 0;
  for (const OpRecord& op : record.ops) cycles += op.result.cycles;
  std::string text =
      fmt::format("{}: {} cycles on {} {}, engine {}, {}{}\n\n", what_was_run(record), cycles,
                  record.units(), record.extent.substr(record.extent.rfind(' ') + 1), record.engine,
                  record.total.exact ? "exact" : "not exact",
                  is_idealised(record) ? ", of an idealised machine" : "");
  std::size_t kind_width = 8;
  for (const StackPart& part : stack) kind_width = std::max(kind_width, part.kind.size());
  const std::size_t number_width = std::max<std::size_t>(10, fmt::format("{}", total).size());
  for (const Layer layer : kLayers) {
    std::string name = layer_name(layer);
    for (const StackPart& part : stack) {
      if (part.layer != layer || part.cycles == 0) continue;
      const double share = static_cast<double>(part.cycles) / static_cast<double>(total);
      text += fmt::format("  {:<10} {:<{}} {:>{}}  {:>5.1f} %\n", name, part.kind, kind_width,
                          part.cycles, number_width, 100 * share);
      name.clear();  // once for each layer
    }
  }
  return text + fmt::format("  {:<10} {:<{}} {:>{}}  100.0 %\n", "total", "", kind_width, total,
                            number_width);
}

std::string compare_stacks(const std::vector<RunRecord>& records) {
  TextTable table;
  table.column("run", "");
  table.column("machine", "", Align::left);
  table.column("pattern", "", Align::left);
  table.column("mode, weights", "", Align::left);
  for (const Layer layer : kLayers) table.column(layer_name(layer), "%");
  table.column("most cycles lost to", "", Align::left);
  for (const RunRecord& record : records) {
    const std::vector<StackPart> stack = record.stack();
    const std::uint64_t total = all_cycles(stack);
    if (total == 0) continue;
    const SummaryRow& row = whole_row(record);
    std::vector<std::string> cells = {fmt::format("{}", record.run), record.machine,
                                      record.pattern.empty() ? pattern(row) : record.pattern,
                                      kernel_text(row)};
    Layer largest = Layer::exchange;
    for (const Layer layer : kLayers) {
      const std::uint64_t cycles = layer_cycles(stack, layer);
      cells.push_back(per_cent(static_cast<double>(cycles) / static_cast<double>(total)));
      if (layer != Layer::compute && cycles > layer_cycles(stack, largest)) largest = layer;
    }
    cells.push_back(fmt::format("{}: {}", layer_name(largest), largest_kind(stack, largest)));
    table.row(std::move(cells));
  }
  return table.text();
}

}  // namespace lacuna
