// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sweep_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

bool has_both(const RunRecord& run) {
  return run.total.useful_tflops && run.total.pj_per_useful_flop;
}

/// True if `a` is no worse than `b` in both, and better in one.
bool beats(const SummaryRow& a, const SummaryRow& b) {
  const bool faster = *a.useful_tflops > *b.useful_tflops;
  const bool cheaper = *a.pj_per_useful_flop < *b.pj_per_useful_flop;
  const bool as_fast = *a.useful_tflops >= *b.useful_tflops;
  const bool as_cheap = *a.pj_per_useful_flop <= *b.pj_per_useful_flop;
  return as_fast && as_cheap && (faster || cheaper);
}

const RunRecord& run_of(const std::vector<RunRecord>& records, std::uint64_t run) {
  return *find_where(records, [&](const RunRecord& each) { return each.run == run; });
}

/// Runs that are alike but for one axis, with their values of it.
using StudyGroup = std::vector<std::pair<std::string, const SummaryRow*>>;

std::map<std::string, StudyGroup> groups_of(const std::vector<RunRecord>& records,
                                            const SweepAxes& axes, std::size_t axis) {
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

double energy_of(const SummaryRow& row) { return row.energy_j ? row.energy_j->nominal : 0; }

std::string fastest_of(const std::map<std::string, std::size_t>& wins) {
  return std::max_element(wins.begin(), wins.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Sensitivity sensitivity_of(const std::vector<RunRecord>& records, const SweepAxes& axes,
                           std::size_t axis) {
  Sensitivity result;
  result.axis = axes.names[axis];
  double time_logs = 0;
  double energy_logs = 0;
  std::map<std::string, std::size_t> wins;
  for (const auto& [others, group] : groups_of(records, axes, axis)) {
    if (group.size() < 2) continue;
    ++result.groups;
    const double time = span(group, [](const SummaryRow& row) { return *row.time_s; });
    const double energy = span(group, energy_of);
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
  if (result.time_most > 1) result.fastest = fastest_of(wins);
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

std::vector<std::uint64_t> pareto_front(const std::vector<RunRecord>& records) {
  std::vector<const RunRecord*> front;
  std::vector<std::string> machines;
  for (const RunRecord& run : records) {
    if (!contains(machines, run.machine)) {
      machines.push_back(run.machine);
    }
    const bool beaten = !has_both(run) || any_of(records, [&](const RunRecord& other) {
      return other.machine == run.machine && has_both(other) && beats(other.total, run.total);
    });
    if (!beaten) front.push_back(&run);
  }
  const auto rank = [&](const RunRecord* run) { return *place_in(machines, run->machine); };
  sort_all(front, [&](const RunRecord* a, const RunRecord* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return *a->total.useful_tflops < *b->total.useful_tflops;
  });
  std::vector<std::uint64_t> runs;
  runs.reserve(front.size());
  for (const RunRecord* const run : front) runs.push_back(run->run);
  return runs;
}

std::vector<Sensitivity> sensitivities(const std::vector<RunRecord>& records,
                                       const SweepAxes& axes) {
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

std::string pareto_csv(const std::vector<RunRecord>& records, const SweepAxes& axes) {
  std::string csv = axes.head({"useful_tflops", "pj_per_useful_flop"});
  for (const std::uint64_t index : pareto_front(records)) {
    const RunRecord& run = run_of(records, index);
    csv += axes.line(index, run.machine,
                     as_cells(*run.total.useful_tflops, *run.total.pj_per_useful_flop));
  }
  return csv;
}

std::string sensitivity_csv(const std::vector<RunRecord>& records, const SweepAxes& axes) {
  std::string csv = csv_line({"axis", "groups", "time_typical", "time_most", "energy_typical",
                              "energy_most", "mostly_fastest_at"});
  for (const Sensitivity& each : sensitivities(records, axes)) {
    csv += csv_row(each.axis, each.groups, each.time_typical, each.time_most, each.energy_typical,
                   each.energy_most, each.fastest);
  }
  return csv;
}

}  // namespace lacuna
