// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sweep_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/base/ranges.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/front.hpp"

namespace lacuna {

namespace {

/// Runs that are alike but for one axis, with their values of it.
using StudyGroup = std::vector<std::pair<std::string, const SummaryRow*>>;

std::map<std::string, StudyGroup> groups_of(const Runs& records, const SweepAxes& axes,
                                            std::size_t axis) {
  std::map<std::string, StudyGroup> groups;
  for (const RunRecord& run : records) {
    const std::vector<std::string>& place = axes.places.at(run.run);
    if (!run.total.time_s || !(*run.total.time_s > 0) || place[axis].empty()) continue;
    std::string others;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (i != axis) others += place[i] + '|';
    }
    groups[others].emplace_back(place[axis], &run.total);
  }
  return groups;
}

/// Largest over smallest; 1 if there is none.
template <class Value>
double span(const StudyGroup& group, Value value) {
  double least = HUGE_VAL;
  double most = 0;
  for (const auto& [text, row] : group) {
    least = std::min(least, value(*row));
    most = std::max(most, value(*row));
  }
  return least > 0 && std::isfinite(least) ? most / least : 1;
}

Sensitivity sensitivity_of(const Runs& records, const SweepAxes& axes, std::size_t axis) {
  Sensitivity result;
  result.axis = axes.names[axis];
  double time_logs = 0;
  double energy_logs = 0;
  std::map<std::string, std::size_t> wins;
  for (const auto& [others, group] : groups_of(records, axes, axis)) {
    if (group.size() < 2) continue;
    ++result.groups;
    const double time = span(group, [](const SummaryRow& row) { return *row.time_s; });
    const double energy = span(group, [](const SummaryRow& row) {
      return words_of(Quantity::energy).value(row).value_or(0);
    });
    time_logs += std::log(time);
    energy_logs += std::log(energy);
    result.time_most = std::max(result.time_most, time);
    result.energy_most = std::max(result.energy_most, energy);
    const auto fastest = std::min_element(
        group.begin(), group.end(),
        [](const auto& a, const auto& b) { return *a.second->time_s < *b.second->time_s; });
    ++wins[fastest->first];
  }
  if (result.groups == 0) return result;
  const auto count = static_cast<double>(result.groups);
  result.time_typical = std::exp(time_logs / count);
  result.energy_typical = std::exp(energy_logs / count);
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  if (result.time_most > 1) {
    result.fastest = std::max_element(wins.begin(), wins.end(), fewer)->first;
  }
  return result;
}

}  // namespace

std::string SweepAxes::head(const std::vector<std::string>& more) const {
  std::vector<std::string> cells = {"run", "machine"};
  for (const std::string& name : names) {
    if (name != "machine") cells.push_back(name);
  }
  append(cells, more);
  return csv_line(cells);
}

std::string SweepAxes::line(std::uint64_t run, const std::string& machine,
                            const std::vector<std::string>& more) const {
  std::vector<std::string> cells = {fmt::format("{}", run), machine};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != "machine") cells.push_back(places.at(run)[i]);
  }
  append(cells, more);
  return csv_line(cells);
}

std::vector<const RunRecord*> pareto_front(const Runs& records) {
  std::vector<const RunRecord*> all;
  std::vector<std::pair<std::string, std::vector<const RunRecord*>>> machines;
  for (const RunRecord& run : records) {
    const auto same = [&](const auto& each) { return each.first == run.machine; };
    auto& of_machine = find_or_add(machines, same, {run.machine, {}}).second;
    if (run.total.useful_tflops && run.total.pj_per_useful_flop) of_machine.push_back(&run);
  }
  for (const auto& [machine, runs] : machines) {
    std::vector<const RunRecord*> front = front_of(runs, [](const RunRecord* run) {
      return std::array{-*run->total.useful_tflops, *run->total.pj_per_useful_flop};
    });
    sort_all(front, [](const RunRecord* a, const RunRecord* b) {
      return *a->total.useful_tflops < *b->total.useful_tflops;
    });
    append(all, front);
  }
  return all;
}

std::vector<Sensitivity> sensitivities(const Runs& records, const SweepAxes& axes) {
  std::vector<Sensitivity> all;
  for (std::size_t axis = 0; axis < axes.names.size(); ++axis) {
    const Sensitivity one = sensitivity_of(records, axes, axis);
    if (one.groups > 0) all.push_back(one);
  }
  sort_all(all, [](const Sensitivity& a, const Sensitivity& b) {
    return a.time_typical > b.time_typical;
  });
  return all;
}

std::string pareto_csv(const Runs& records, const SweepAxes& axes) {
  std::string csv = axes.head({"useful_tflops", "pj_per_useful_flop"});
  for (const RunRecord* const run : pareto_front(records)) {
    csv += axes.line(run->run, run->machine,
                     as_cells(*run->total.useful_tflops, *run->total.pj_per_useful_flop));
  }
  return csv;
}

std::string sensitivity_csv(const Runs& records, const SweepAxes& axes) {
  std::string csv = csv_line({"axis", "groups", "time_typical", "time_most", "energy_typical",
                              "energy_most", "mostly_fastest_at"});
  for (const Sensitivity& each : sensitivities(records, axes)) {
    csv += csv_row(each.axis, each.groups, each.time_typical, each.time_most, each.energy_typical,
                   each.energy_most, each.fastest);
  }
  return csv;
}

}  // namespace lacuna
