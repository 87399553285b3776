// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/tables/text_table.hpp"
#include "sim/report/why.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostRows = 30;  // of a table of changes

/// A run of each result that are compared.
struct Pair {
  const RunRecord* before;
  const RunRecord* after;
};

/// A quantity that two runs have, or one of them.
struct Change {
  std::string name;
  std::optional<double> before;
  std::optional<double> after;

  double by() const { return after.value_or(0) - before.value_or(0); }
};

std::string run_key(const RunRecord& run) {
  std::string key = run.machine + '|' + run.workload + '|' + run.pattern;
  for (const std::string& value : run.total.varying) key += '|' + value;
  return key;
}

std::string run_name(const RunRecord& run) {
  std::string name = fmt::format("run {}: {}, {}", run.run, run.machine, run.workload);
  if (!run.pattern.empty()) name += ", " + run.pattern;
  for (std::size_t i = 0; i < run.varying.size(); ++i) {
    name += fmt::format(", {} = {}", run.varying[i], run.total.varying[i]);
  }
  return name;
}

std::vector<Pair> pairs_of(const NamedRuns& before, const NamedRuns& after, std::string& alone) {
  std::vector<Pair> pairs;
  if (before.runs.size() == after.runs.size()) {
    for (std::size_t i = 0; i < before.runs.size(); ++i) {
      pairs.push_back({&before.runs[i], &after.runs[i]});
    }
    return pairs;
  }
  std::vector<bool> taken(after.runs.size(), false);
  for (const RunRecord& run : before.runs) {
    bool found = false;
    for (std::size_t i = 0; i < after.runs.size() && !found; ++i) {
      found = !taken[i] && run_key(run) == run_key(after.runs[i]);
      if (!found) continue;
      taken[i] = true;
      pairs.push_back({&run, &after.runs[i]});
    }
    if (!found) alone += fmt::format("only in {}: {}\n", before.name, run_name(run));
  }
  for (std::size_t i = 0; i < after.runs.size(); ++i) {
    if (taken[i]) continue;
    alone += fmt::format("only in {}: {}\n", after.name, run_name(after.runs[i]));
  }
  return pairs;
}

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  return *value == std::round(*value) && std::abs(*value) < 1e15 ? fmt::format("{:.0f}", *value)
                                                                 : four_digits(*value);
}

std::string per_cent(const Change& change) {
  if (!change.before || !change.after || *change.before == 0) return "";
  return fmt::format("{:+.2f}", 100 * change.by() / *change.before);
}

/// A setting of two runs, "-" in one without: what a run is, a parameter, or how an operation was
/// laid out.
struct PairSetting {
  std::string name, unit, op;
  std::array<std::string, 2> values = {"-", "-"};
};

void add_settings(const RunRecord& run, std::size_t side, std::vector<PairSetting>& settings) {
  const auto add = [&](const std::string& name, const std::string& unit, const std::string& value,
                       const std::string& op = "") {
    const auto same = [&](const PairSetting& each) { return each.name == name && each.op == op; };
    find_or_add(settings, same, {name, unit, op}).values.at(side) = value;
  };
  add("machine", "", run.machine);
  add("simulated", "", run.extent);
  add("workload", "", run.workload);
  add("pattern", "", run.pattern);
  add("seed", "", fmt::format("{}", run.seed));
  for (const ParameterValue& each : run.parameters) add(each.path, each.unit, each.value);
  for (const OpRecord& op : run.ops) {
    for (const std::string& word : laid_out_by(op.result)) {
      const std::size_t equals = word.find('=');
      add("layout: " + word.substr(0, equals), "", word.substr(equals + 1), op.row.op_id);
    }
  }
}

/// Those that differ, as cells; what several operations share once.
std::vector<std::vector<std::string>> settings_of(const Pair& pair) {
  std::vector<PairSetting> settings;
  add_settings(*pair.before, 0, settings);
  add_settings(*pair.after, 1, settings);
  std::vector<std::vector<std::string>> rows;
  for (const PairSetting& each : settings) {
    const auto& [before, after] = each.values;
    const std::vector<std::string> row = {each.name, each.unit, before, after};
    if (before != after && !contains(rows, row)) rows.push_back(row);
  }
  return rows;
}

std::string settings_text(const std::vector<Pair>& pairs) {
  TextTable table({"setting<", "unit<", "before", "after", "of runs<"});
  std::vector<std::pair<std::vector<std::string>, std::vector<std::uint64_t>>> found;
  for (const Pair& pair : pairs) {
    for (const std::vector<std::string>& row : settings_of(pair)) {
      const auto same = [&](const auto& each) { return each.first == row; };
      find_or_add(found, same, {row, {}}).second.push_back(pair.before->run);
    }
  }
  if (found.empty()) return "No setting differs.\n";
  for (const auto& [cells, runs] : found) {
    std::vector<std::string> row = cells;
    const bool all = runs.size() == pairs.size();
    row.push_back(all && pairs.size() > 1 ? "all" : fmt::format("{}", fmt::join(runs, ", ")));
    table.row(std::move(row));
  }
  return "Settings that differ\n\n" + table.text();
}

enum class Order { as_given, largest_first };

/// A row for each change that is one.
std::string changes_text(const std::string& title, const std::string& unit,
                         std::vector<Change> changes, Order order = Order::largest_first) {
  erase_where(changes, [](const Change& each) { return each.by() == 0; });
  if (changes.empty()) return fmt::format("{}: no change\n", title);
  if (order == Order::largest_first) {
    sort_all(changes,
             [](const Change& a, const Change& b) { return std::abs(a.by()) > std::abs(b.by()); });
  }
  TextTable table({title + "<", "before|" + unit, "after|" + unit, "change|" + unit, "change|%"});
  for (std::size_t i = 0; i < std::min(changes.size(), kMostRows); ++i) {
    const Change& change = changes[i];
    const std::string by = number(change.by());
    table.row({change.name, number(change.before), number(change.after),
               change.by() > 0 ? "+" + by : by, per_cent(change)});
  }
  std::string text = table.text();
  if (changes.size() > kMostRows) {
    text += fmt::format("and {} smaller changes\n", changes.size() - kMostRows);
  }
  return text;
}

Change& place(std::vector<Change>& changes, const std::string& name) {
  return find_or_add(changes, [&](const Change& each) { return each.name == name; },
                     {name, std::nullopt, std::nullopt});
}

/// The cycles of operations and of parts of the cycle stack in both runs.
struct CycleChanges {
  std::vector<Change> operations;
  std::vector<Change> parts;

  void add(const RunRecord& run, std::optional<double> Change::*side) {
    for (const OpRecord& op : run.ops) {
      Change& own = place(operations, op.row.op_id);
      if (op.row.cycles) own.*side = static_cast<double>(*op.row.cycles);
      for (const StackPart& part : op.result.stack) {
        if (part.cycles == 0) continue;
        Change& change = place(parts, fmt::format("{}.{}", layer_name(part.layer), part.kind));
        change.*side = (change.*side).value_or(0) +
                       static_cast<double>(part.cycles) / static_cast<double>(op.result.units);
      }
    }
  }
};

std::vector<Change> totals_of(const Pair& pair) {
  std::vector<Change> changes;
  const auto add = [&](const char* name, const auto& cell, double scale = 1) {
    const auto value = [&](const RunRecord& run) {
      const auto known = std::invoke(cell, run.total);
      return known ? std::optional(static_cast<double>(*known) * scale) : std::nullopt;
    };
    const Change change{name, value(*pair.before), value(*pair.after)};
    if (change.before || change.after) changes.push_back(change);
  };
  using Row = SummaryRow;
  add("cycles", &Row::cycles);
  add("time, us", &Row::time_s, 1e6);
  add("useful TFLOP/s", &Row::useful_tflops);
  add("energy, uJ (nominal)", words_of(Quantity::energy).value, 1e6);
  add("memory read, bytes", &Row::sram_read_bytes);
  add("memory written, bytes", &Row::sram_write_bytes);
  add("fabric, bytes", &Row::fabric_bytes);
  add("edge, bytes", &Row::io_bytes);
  return changes;
}

std::string pair_text(const Pair& pair) {
  std::string text = run_name(*pair.before) + "\n\n";
  if (pair.before->total.status != pair.after->total.status) {
    text += fmt::format("status: before {}, after {}\n\n", status_name(pair.before->total.status),
                        status_name(pair.after->total.status));
  }
  text += changes_text("total", "", totals_of(pair), Order::as_given) + '\n';
  CycleChanges of;
  of.add(*pair.before, &Change::before);
  of.add(*pair.after, &Change::after);
  if (of.operations.size() > 1) text += changes_text("operation", "cycles", of.operations) + '\n';
  return text + changes_text("part of the cycle stack", "cycles", of.parts);
}

bool same_totals(const Pair& pair) {
  const std::vector<Change> totals = totals_of(pair);
  return pair.before->total.status == pair.after->total.status &&
         all_of(totals, [](const Change& each) { return each.by() == 0; });
}

}  // namespace

std::string difference_text(const NamedRuns& before, const NamedRuns& after) {
  std::string alone;
  const std::vector<Pair> pairs = pairs_of(before, after, alone);
  std::string text = fmt::format("before: {}\nafter:  {}\n\n", before.name, after.name);
  if (!alone.empty()) text += alone + '\n';
  if (pairs.empty()) return text + "No run of the one is also in the other.\n";
  text += settings_text(pairs) + '\n';
  std::size_t same = 0;
  for (const Pair& pair : pairs) {
    if (same_totals(pair)) {
      ++same;
    } else {
      text += pair_text(pair) + '\n';
    }
  }
  if (same > 0) text += fmt::format("{} of {} runs are the same in both\n", same, pairs.size());
  return text;
}

}  // namespace lacuna
