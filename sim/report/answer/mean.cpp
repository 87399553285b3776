// SPDX-License-Identifier: Apache-2.0
#include "sim/report/answer/mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

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

std::string mean_text(const std::optional<Mean>& mean, double scale) {
  if (!mean) return "";
  const std::string text = four_digits(mean->mean * scale);
  return mean->half ? text + " +- " + four_digits(*mean->half * scale) : text;
}

}  // namespace lacuna
