// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/area_front.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/front.hpp"

namespace lacuna {

namespace {

/// What two runs must have in common for their times to be compared.
std::string label_of(const SummaryRow& row) {
  std::string label = row.machine + " " + row.workload;
  if (!row.pattern.empty() && row.pattern != "dense") {
    label += fmt::format(" {}{}", row.pattern, row.block);
    if (row.density) label += " at " + short_number(*row.density);
    if (!row.mode.empty()) label += " " + row.mode;
  } else if (!row.pattern.empty()) {
    label += " dense";
  }
  return row.dtype.empty() ? label : label + " " + row.dtype;
}

void find_front(AreaGroup& group) {
  group.front = front_of(group.rows, [](const SummaryRow* row) {
    return std::array{*row->time_s, *row->silicon_mm2};
  });
  sort_all(group.front, [](const SummaryRow* a, const SummaryRow* b) {
    return *a->silicon_mm2 < *b->silicon_mm2;
  });
}

bool has_several_areas(const AreaGroup& group) {
  std::set<double> areas;
  for (const SummaryRow* const row : group.rows) areas.insert(*row->silicon_mm2);
  return areas.size() > 1;
}

std::vector<AreaGroup> groups_of(const Runs& records) {
  std::vector<const SummaryRow*> totals;
  totals.reserve(records.size());
  for (const RunRecord& run : records) totals.push_back(&run.total);
  return area_groups(totals);
}

}  // namespace

std::vector<AreaGroup> area_groups(const std::vector<const SummaryRow*>& totals) {
  std::vector<AreaGroup> groups;
  for (const SummaryRow* const row : totals) {
    if (row->status != Status::ok || !row->time_s || !row->silicon_mm2) continue;
    if (!(*row->time_s > 0)) continue;
    const std::string label = label_of(*row);
    const auto same = [&](const AreaGroup& each) { return each.label == label; };
    find_or_add(groups, same, {label, {}, {}}).rows.push_back(row);
  }
  erase_where(groups, [](const AreaGroup& group) { return !has_several_areas(group); });
  for (AreaGroup& group : groups) find_front(group);
  return groups;
}

std::string area_front_csv(const Runs& records, const SweepAxes& axes) {
  const std::vector<AreaGroup> groups = groups_of(records);
  if (groups.empty()) return "";
  std::string csv = axes.head({"silicon_mm2", "time_s", "gflops_per_mm2"});
  for (const AreaGroup& group : groups) {
    for (const SummaryRow* const row : group.front) {
      csv += axes.line(row->run, row->machine,
                       as_cells(*row->silicon_mm2, *row->time_s, row->gflops_per_mm2));
    }
  }
  return csv;
}

}  // namespace lacuna
