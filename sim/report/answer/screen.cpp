// SPDX-License-Identifier: Apache-2.0
#include "sim/report/answer/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/layout_note.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

using Align = TextTable::Align;
using Need = TextTable::Need;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A column of numbers: of a quantity, or of its range.
struct NumberColumn {
  Quantity quantity;
  Need need;
};

constexpr std::array<NumberColumn, kQuantities> kNumbers{{
    {Quantity::cycles, Need::spare},
    {Quantity::time, Need::always},
    {Quantity::useful, Need::spare},
    {Quantity::of_peak, Need::spare},
    {Quantity::speedup, Need::always},
    {Quantity::energy_vs_dense, Need::always},
    {Quantity::energy, Need::spare},
    {Quantity::energy_per_flop, Need::wide},
    {Quantity::per_area, Need::wide},
    {Quantity::per_watt, Need::wide},
}};

void add_number_columns(TextTable& table) {
  table.column("density", "", Align::right, Need::wide);
  for (const NumberColumn& each : kNumbers) {
    const QuantityWords& words = words_of(each.quantity);
    table.column(words.title, words.unit, Align::right, each.need);
  }
  table.column("5 to 95 %", "us", Align::left, Need::wide);
  table.column("5 to 95 %", "vs dense", Align::left, Need::wide);
  table.column("low to high", "uJ", Align::left, Need::wide);
  table.column("dense", "TFLOP/s", Align::right, Need::wide);
  table.column("silicon", "mm2", Align::right, Need::wide);
  table.column("status", "", Align::left);
}

/// The cells under add_number_columns(): `mean_in` gives a quantity, `row` all that has no mean.
template <class MeanIn>
void append_numbers(std::vector<std::string>& cells, const SummaryRow& row,
                    const std::optional<EnergyRange>& joules, const MeanIn& mean_in) {
  cells.push_back(row.density ? fmt::format("{:.4g}", *row.density) : "");
  for (const NumberColumn& each : kNumbers) {
    cells.push_back(quantity_text(each.quantity, mean_in(each.quantity)));
  }
  cells.push_back(range_cell(row.time_low_s, row.time_high_s, 1e6));
  cells.push_back(range_cell(row.speedup_low, row.speedup_high));
  cells.push_back(joules ? range_cell(joules->low, joules->high, 1e6) : "");
  cells.push_back(number_cell(row.dense_tflops));
  cells.push_back(number_cell(row.silicon_mm2));
  cells.emplace_back(row.status == Status::ok ? "" : status_name(row.status));
}

void append_numbers(std::vector<std::string>& cells, const SummaryRow& row) {
  append_numbers(cells, row, row.energy_j, [&](Quantity which) {
    const std::optional<double> value = words_of(which).value(row);
    return value ? std::optional<Mean>(mean_of({*value})) : std::nullopt;
  });
}

/// What is said of operations, a line each; of those of which it is the same, one together.
class Said {
 public:
  void add(const std::string& what, const std::string& id) {
    const auto same = [&](const auto& each) { return each.first == what; };
    find_or_add(all_, same, {what, {}}).second.push_back(id);
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
  std::vector<std::pair<std::string, std::vector<std::string>>> all_;  // and the operations
};

/// Why operations have no values.
std::string reasons_text(const RunRecord& record, const std::string& before = "") {
  Said reasons;
  for (const OpRecord& op : record.ops) {
    if (op.row.status == Status::ok) continue;
    reasons.add(fmt::format("{}: {}", status_name(op.row.status), op.row.reason), op.row.op_id);
  }
  return reasons.text(before);
}

/// The six layers of a stack, a line each that is not 0, with the kinds that they are made of.
std::string layers_text(const Waits& waits, std::size_t columns) {
  if (waits.parts.empty()) return "";
  std::string text = "where cores waited, % of all cycles\n";
  for (const Layer layer : kLayers) {
    if (waits.share(layer) < 0.0005) continue;
    std::string line =
        fmt::format("  {:<10}{:>5}  ", layer_name(layer), percent_text(waits.share(layer)));
    std::string kinds;
    for (const StackShare& part : waits.parts) {
      if (part.layer != layer || part.share < 0.0005) continue;
      const std::string kind =
          fmt::format("{}{} {}", kinds.empty() ? "" : ", ", part.kind, percent_text(part.share));
      if (columns > 0 && line.size() + kinds.size() + kind.size() > columns) break;
      kinds += kind;
    }
    text += line + kinds + '\n';
  }
  return text;
}

/// The same of several points, a row each.
std::string waits_table(const Answer& answer, const std::vector<std::size_t>& points) {
  TextTable table({"run", "where cores waited, %<"});
  for (const Layer layer : kLayers) table.column(layer_name(layer), "");
  table.column("largest wait", "", Align::left);
  for (const std::size_t which : points) {
    const AnswerPoint& point = answer.points[which];
    const StackShare* const wait = point.waits.largest_wait();
    if (point.waits.parts.empty()) continue;
    std::vector<std::string> cells = {fmt::format("{}", point.run().run), point.name};
    for (const Layer layer : kLayers) cells.push_back(percent_text(point.waits.share(layer)));
    cells.push_back(wait == nullptr ? "" : wait->kind);
    table.row(std::move(cells));
  }
  return table.empty() ? "" : table.text();
}

std::string wrapped_sentences(const Answer& answer) {
  std::string text;
  for (const std::string& sentence : sentences(answer)) text += wrapped(sentence);
  return text;
}

/// The screen of an answer.
template <class Table>
std::string screen(const Answer& answer, const ScreenWords& words, std::size_t rows,
                   const Table& table_of, const std::string& what, const std::string& waits) {
  return fitted_screen(wrapped(words.title) + wrapped_sentences(answer) + '\n', rows, table_of,
                       what, words.below + (waits.empty() ? "" : "\n" + waits) + words.more,
                       words.whole);
}

bool has_layouts(const RunRecord& record) {
  return any_of(record.ops,
                [](const OpRecord& op) { return !note_of(op.result, kLayoutNote).empty(); });
}

/// Whether hardware that no one has was asked for by a name that says so.
bool of_idealised_machine(const RunRecord& record) {
  return any_of(record.ops, [](const OpRecord& op) { return is_idealised(op.result); });
}

std::string ops_table(const RunRecord& record, std::size_t count) {
  TextTable table({"operation<", "m x k x n<"});
  table.column("type", "", Align::left, Need::wide);
  table.column("pattern", "", Align::left);
  table.column("mode, weights", "", Align::left, Need::wide);
  if (has_layouts(record)) table.column("layout", "", Align::left);
  add_number_columns(table);
  const auto add = [&](const SummaryRow& row, const std::string& layout) {
    std::vector<std::string> cells = {row.op_id, shape_text(row), row.dtype,
                                      row.pattern + (row.block.empty() ? "" : " " + row.block),
                                      kernel_text(row)};
    if (has_layouts(record)) cells.push_back(layout);
    append_numbers(cells, row);
    table.row(std::move(cells));
  };
  const auto longer = [&](std::size_t a, std::size_t b) {
    return record.ops[a].row.cycles.value_or(0) > record.ops[b].row.cycles.value_or(0);
  };
  for (const std::size_t op : first_by(record.ops.size(), count, longer)) {
    add(record.ops[op].row, note_of(record.ops[op].result, kLayoutNote));
  }
  // the total of a system has the time of all its chips, even of one operation
  if (record.ops.size() != 1 || record.ops[0].row.time_s != record.total.time_s) {
    table.rule();
    add(record.total, "");
  }
  return table.text(false);
}

std::string points_table(const Answer& answer, const SweepAxes* axes, std::size_t count) {
  TextTable table({"run"});
  if (axes == nullptr) {
    table.column("machine", "", Align::left);
    table.column("pattern", "", Align::left);
  } else {
    for (const std::string& name : axes->names) table.column(name, "", Align::left);
  }
  const bool layouts = any_of(answer.points, [](const AnswerPoint& point) {
    return point.run().ops.size() == 1 && has_layouts(point.run());
  });
  if (layouts) table.column("layout", "", Align::left);
  table.column("simulated", "", Align::left, Need::wide);
  table.column("mode, weights", "", Align::left, Need::wide);
  if (answer.has_seeds()) table.column("seeds", "", Align::right, Need::spare);
  add_number_columns(table);
  const auto faster = [&](std::size_t a, std::size_t b) {
    const auto time = [&](std::size_t which) {
      const std::optional<Mean>& mean = answer.points[which].mean(Quantity::time);
      return mean ? mean->mean : HUGE_VAL;
    };
    return time(a) < time(b);
  };
  for (const std::size_t which : first_by(answer.points.size(), count, faster)) {
    const AnswerPoint& point = answer.points[which];
    const RunRecord& run = point.run();
    std::vector<std::string> cells = {fmt::format("{}", run.run)};
    if (axes == nullptr) {
      cells.insert(cells.end(), {run.machine, point.pattern});
    } else {
      append(cells, axes->places.at(run.run));
    }
    if (layouts) {
      cells.push_back(run.ops.size() == 1 ? note_of(run.ops[0].result, kLayoutNote) : "");
    }
    cells.insert(cells.end(), {run.extent, kernel_text(run.total)});
    if (answer.has_seeds()) cells.push_back(fmt::format("{}", point.runs.size()));
    append_numbers(cells, run.total, point.energy, [&](Quantity q) { return point.mean(q); });
    table.row(std::move(cells));
  }
  return table.text(false);
}

/// Where the units of a study were: of all points if there is room for it, else of those that the
/// answer names.
std::string waits_of_study(const Answer& answer, const ScreenWords& words) {
  constexpr std::size_t kFewPoints = 4;
  std::set<std::size_t> chosen;
  if (words.whole || answer.points.size() <= kFewPoints) {
    for (std::size_t i = 0; i < answer.points.size(); ++i) chosen.insert(i);
  } else if (answer.most_from_zeros || answer.fastest) {
    chosen.insert(answer.most_from_zeros.value_or(answer.fastest.value_or(0)));
  }
  return waits_table(answer, {chosen.begin(), chosen.end()});
}

}  // namespace

std::string fitted_screen(const std::string& head, std::size_t rows,
                          const std::function<std::string(std::size_t n)>& table_of,
                          const std::string& what, const std::string& foot, bool whole) {
  const std::size_t used = lines_of(head) + lines_of(foot) + lines_of(table_of(rows));
  std::size_t shown = rows;
  if (!whole && used > kScreenLines) {
    const std::size_t over = used - kScreenLines + 1;  // and the line that says it
    constexpr std::size_t kLeast = 2;
    shown = rows > over + kLeast ? rows - over : std::min(rows, kLeast);
  }
  const std::string cut =
      shown == rows ? "" : fmt::format("(the {} {} of {}; --wide has all)\n", shown, what, rows);
  return head + table_of(shown) + cut + foot;
}

std::string first_lines(const std::string& text, bool whole) {
  const auto first = [&](std::size_t lines) {
    std::size_t end = 0;
    while (lines-- != 0) end = text.find('\n', end) + 1;
    return text.substr(0, end);
  };
  return fitted_screen("", lines_of(text), first, "first lines", "", whole);
}

std::string run_screen(const Answer& answer, const ScreenWords& words) {
  const RunRecord& record = answer.points.at(0).run();
  ScreenWords own = words;
  own.below = reasons_text(record) + words.below;
  return screen(
      answer, own, record.ops.size(), [&](std::size_t n) { return ops_table(record, n); },
      "longest operations", layers_text(answer.points[0].waits, TextTable::width()));
}

std::string points_screen(const Answer& answer, const ScreenWords& words, const SweepAxes* axes) {
  std::string reasons;
  for (const AnswerPoint& point : answer.points) {
    for (const RunRecord* const run : point.runs) {
      reasons += reasons_text(*run, fmt::format("run {}, ", run->run));
    }
  }
  ScreenWords own = words;
  const std::string energy = energy_rank_text(answer);
  own.below = reasons + (energy.empty() ? "" : wrapped(energy)) + words.below;
  return screen(
      answer, own, answer.points.size(),
      [&](std::size_t n) { return points_table(answer, axes, n); }, "fastest points",
      axes == nullptr ? waits_of_study(answer, words) : "");
}

std::string screen_title(const Runs& records) {
  std::vector<std::string> workloads;
  std::vector<std::string> machines;
  std::set<std::uint64_t> seeds;
  bool exact = true;
  for (const RunRecord& run : records) {
    place_or_add(workloads, run.workload);
    place_or_add(machines, run.extent.empty() ? run.machine
                                              : fmt::format("{} ({})", run.machine, run.extent));
    seeds.insert(run.seed);
    exact = exact && run.total.exact;
  }
  constexpr std::size_t kFew = 3;
  if (machines.size() > kFew) machines = {fmt::format("{} machines", machines.size())};
  if (workloads.size() > kFew) workloads = {fmt::format("{} workloads", workloads.size())};
  const std::string pattern =
      records.size() == 1 && !records[0].pattern.empty() ? ", " + records[0].pattern : "";
  return fmt::format("{}{} on {}; {}, {}", fmt::join(workloads, ", "), pattern,
                     fmt::join(machines, " and "),
                     seeds.size() == 1
                         ? fmt::format("seed {}", *seeds.begin())
                         : fmt::format("seeds {} to {}", *seeds.begin(), *seeds.rbegin()),
                     exact ? "exact" : "not exact") +
         (any_of(records, of_idealised_machine) ? ", idealised machine" : "");
}

std::string note_lines(const Answer& answer) {
  std::string text;
  for (const NoteCount& note : answer.notes) {
    text += note.operations == 1
                ? fmt::format("lacuna: note: {}\n", note.first)
                : fmt::format("lacuna: note: {}: {} operations of {} run{}; --explain has each\n",
                              note.kind, note.operations, note.runs, note.runs == 1 ? "" : "s");
  }
  return text;
}

std::string remarks_text(const RunRecord& record, const std::string& before) {
  Said said;
  for (const OpRecord& op : record.ops) {
    for (const std::string& remark : op.result.remarks) said.add(remark, op.row.op_id);
  }
  std::string text = said.text(before);
  for (const OpRecord& op : record.ops) {
    const std::string layout = note_of(op.result, kLayoutNote);
    if (layout.empty()) continue;
    text += fmt::format("{}{}: layout {} ({})\n", before, op.row.op_id, layout,
                        note_of(op.result, kLayoutSourceNote));
  }
  return text;
}

}  // namespace lacuna
