// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// A quantity that is averaged over seeds.
struct Averaged {
  const char* column;  // of seeds.csv
  const char* title;
  const char* unit;
  std::optional<double> (*value)(const SummaryRow& row);
};

const std::array<Averaged, 5> kAveraged = {{
    {"cycles", "cycles", "",
     [](const SummaryRow& row) {
       return row.cycles ? std::optional<double>(static_cast<double>(*row.cycles)) : std::nullopt;
     }},
    {"time_s", "time", "s", [](const SummaryRow& row) { return row.time_s; }},
    {"useful_tflops", "useful", "TFLOP/s", [](const SummaryRow& row) { return row.useful_tflops; }},
    {"speedup_vs_dense", "speed-up", "vs dense",
     [](const SummaryRow& row) { return row.speedup_vs_dense; }},
    {"pj_per_useful_flop", "energy", "pJ/FLOP",
     [](const SummaryRow& row) { return row.pj_per_useful_flop; }},
}};

std::string group_key(const RunRecord& run) {
  std::string key = run.machine + '|' + run.workload + '|' + run.pattern + '|' + run.engine;
  for (const OpRecord& op : run.ops) {
    // the modes that were asked for: which was faster may differ from seed to seed
    key += fmt::format("|{} {} {}", op.row.op_id, op.row.dtype, op.row.pattern);
    for (const auto& [name, text] : op.request) {
      if (name != "row_seed") key += ' ' + text;
    }
  }
  for (const std::string& value : run.total.varying) key += '|' + value;
  for (const ParameterValue& parameter : run.parameters) key += ' ' + parameter.value;
  return key;
}

std::optional<Mean> mean_in(const SeedGroup& group, const Averaged& quantity) {
  std::vector<double> values;
  for (const RunRecord* const run : group) {
    const std::optional<double> value = quantity.value(run->total);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return mean_of(values);
}

std::string seeds_text(const SeedGroup& group) {
  std::string text;
  for (const RunRecord* const run : group) {
    text += (text.empty() ? "" : " ") + fmt::format("{}", run->seed);
  }
  return text;
}

}  // namespace

double student_t95(std::size_t freedom) {
  // quantile 0.975 of Student's t, as in any table of it
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom <= kTable.size()) return kTable.at(freedom - 1);
  return 1.960 + 2.46 / static_cast<double>(freedom);  // within 0.002 of it
}

Mean mean_of(const std::vector<double>& values) {
  Mean result;
  result.count = values.size();
  if (values.empty()) return result;
  for (const double value : values) result.mean += value;
  result.mean /= static_cast<double>(values.size());
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const auto count = static_cast<double>(values.size());
  const double deviation = std::sqrt(squares / (count - 1));
  result.half = student_t95(values.size() - 1) * deviation / std::sqrt(count);
  return result;
}

std::vector<SeedGroup> seed_groups(const std::vector<RunRecord>& records) {
  std::vector<SeedGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const RunRecord& run : records) {
    const auto [place, is_new] = places.emplace(group_key(run), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&run);
  }
  return groups;
}

bool has_several_seeds(const std::vector<RunRecord>& records) {
  const std::vector<SeedGroup> groups = seed_groups(records);
  return std::any_of(groups.begin(), groups.end(),
                     [](const SeedGroup& group) { return group.size() > 1; });
}

std::vector<RunRecord> first_seeds(const std::vector<RunRecord>& records) {
  std::vector<RunRecord> firsts;
  for (const SeedGroup& group : seed_groups(records)) firsts.push_back(*group.front());
  return firsts;
}

std::string seeds_table(const std::vector<RunRecord>& records) {
  TextTable table;
  table.column("machine", "", TextTable::Align::left);
  table.column("workload", "", TextTable::Align::left);
  table.column("pattern", "", TextTable::Align::left);
  table.column("mode, weights", "", TextTable::Align::left);
  if (!records.empty()) {
    for (const std::string& name : records[0].varying) table.column(name, "");
  }
  table.column("seeds", "");
  for (const Averaged& quantity : kAveraged) {
    table.column(quantity.title, quantity.unit);
    table.column("+-", "95 %");
  }
  for (const SeedGroup& group : seed_groups(records)) {
    const RunRecord& run = *group.front();
    std::vector<std::string> cells = {run.machine, run.workload,
                                      run.pattern.empty() ? run.total.pattern : run.pattern,
                                      kernel_text(run.total)};
    cells.insert(cells.end(), run.total.varying.begin(), run.total.varying.end());
    cells.push_back(fmt::format("{}", group.size()));
    for (const Averaged& quantity : kAveraged) {
      const std::optional<Mean> mean = mean_in(group, quantity);
      cells.push_back(mean ? four_digits(mean->mean) : "");
      cells.push_back(mean && mean->half ? four_digits(*mean->half) : "");
    }
    table.row(std::move(cells));
  }
  return table.text();
}

std::string seeds_csv(const std::vector<RunRecord>& records) {
  std::vector<std::string> head = {"machine", "workload", "pattern"};
  if (!records.empty()) {
    head.insert(head.end(), records[0].varying.begin(), records[0].varying.end());
  }
  head.emplace_back("seeds");
  for (const Averaged& quantity : kAveraged) {
    head.push_back(std::string(quantity.column) + "_mean");
    head.push_back(std::string(quantity.column) + "_half95");
  }
  std::string csv = csv_line(head);
  for (const SeedGroup& group : seed_groups(records)) {
    const RunRecord& run = *group.front();
    std::vector<std::string> cells = {run.machine, run.workload,
                                      run.pattern.empty() ? run.total.pattern : run.pattern};
    cells.insert(cells.end(), run.total.varying.begin(), run.total.varying.end());
    cells.push_back(seeds_text(group));
    for (const Averaged& quantity : kAveraged) {
      const std::optional<Mean> mean = mean_in(group, quantity);
      cells.push_back(mean ? fmt::format("{}", mean->mean) : "");
      cells.push_back(mean && mean->half ? fmt::format("{}", *mean->half) : "");
    }
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace lacuna
