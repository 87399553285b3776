// SPDX-License-Identifier: Apache-2.0
#include "sim/report/answer/mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
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
  const boost::math::students_t distribution(static_cast<double>(freedom));
  return quantile(distribution, 0.975);
}

Mean mean_of(const std::vector<double>& values) {
  Mean result;
  result.count = values.size();
  if (values.empty()) return result;
  for (const double value : values) result.mean += value;
  result.mean /= static_cast<double>(values.size());
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  result.least = *least;
  result.most = *most;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const auto count = static_cast<double>(values.size());
  const double deviation = std::sqrt(squares / (count - 1));
  result.half = student_t95(values.size() - 1) * deviation / std::sqrt(count);
  return result;
}

std::vector<SeedGroup> seed_groups(const Runs& records) {
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
