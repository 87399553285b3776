// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_fair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "sim/report/chip_parameters.hpp"
#include "sim/report/figures/mean.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

std::optional<double> parameter(const RunRecord& run, const std::string& path) {
  const std::vector<ParameterValue> all = chip_parameters(run);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ParameterValue& each) { return each.path == path; });
  if (found == all.end()) return std::nullopt;
  double value = 0;
  const char* const end = found->value.data() + found->value.size();
  const auto [stop, error] = std::from_chars(found->value.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// The range of a number of the units that were simulated.
std::optional<EnergyRange> silicon(const RunRecord& run) {
  if (!run.silicon || run.units() == 0) return std::nullopt;
  EnergyRange mm2 = run.silicon->mm2;
  for (const Corner corner : kCorners) mm2.at(corner) *= static_cast<double>(run.units());
  return mm2;
}

std::string pattern_of(const RunRecord& run) {
  return run.pattern.empty() ? run.total.pattern : run.pattern;
}

/// pJ per useful FLOP at the three corners.
std::optional<JouleRange> per_flop(const RunRecord& run) {
  const SummaryRow& row = run.total;
  if (!row.energy_j || !row.useful_flop || *row.useful_flop == 0) return std::nullopt;
  const double scale = 1e12 / static_cast<double>(*row.useful_flop);
  JouleRange range = *row.energy_j;
  for (const Corner corner : kCorners) range.at(corner) *= scale;
  return range;
}

/// pJ per useful FLOP of runs that differ in their seed: the mean, and the ends of all ranges.
std::optional<JouleRange> per_flop(const SeedGroup& group) {
  std::optional<JouleRange> all;
  for (const RunRecord* const run : group) {
    const std::optional<JouleRange> range = per_flop(*run);
    if (!range) return std::nullopt;
    if (!all) all = JouleRange{range->low, 0, range->high};
    all->low = std::min(all->low, range->low);
    all->nominal += range->nominal / static_cast<double>(group.size());
    all->high = std::max(all->high, range->high);
  }
  return all;
}

/// The mean of `value` over the runs, with half of its 95 % interval if there are several; empty if
/// a run has none.
template <class Value>
std::string mean_text(const SeedGroup& group, const char* format, const Value& value) {
  std::vector<double> values;
  for (const RunRecord* const run : group) {
    const std::optional<double> each = value(*run);
    if (!each) return "";
    values.push_back(*each);
  }
  const Mean mean = mean_of(values);
  const auto text = [&](double number) {
    return *format == '\0' ? four_digits(number) : fmt::format(fmt::runtime(format), number);
  };
  return mean.half ? text(mean.mean) + " +- " + text(*mean.half) : text(mean.mean);
}

/// Empty for a chip whose area is published.
std::string silicon_text(const std::optional<EnergyRange>& area) {
  if (!area || area->high <= area->low * (1 + 1e-9)) return "";
  return fmt::format("{} to {}", four_digits(area->low), four_digits(area->high));
}

struct Contender {
  std::string machine;
  JouleRange range;
};

std::string ranking_of(const std::string& what, std::vector<Contender> contenders) {
  std::stable_sort(contenders.begin(), contenders.end(),
                   [](const auto& a, const auto& b) { return a.range.nominal < b.range.nominal; });
  std::string ranges;
  std::string verdict;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Contender& one = contenders[i];
    ranges += fmt::format("{}{} {} to {}", i == 0 ? "" : ", ", one.machine,
                          four_digits(one.range.low), four_digits(one.range.high));
    if (i == 0) continue;
    const bool apart = contenders[i - 1].range.high < one.range.low;
    verdict += fmt::format(
        "{}{}", verdict.empty() ? "" : "; ",
        apart ? fmt::format("{} uses less than {}", contenders[i - 1].machine, one.machine)
              : fmt::format("{} and {} cannot be ranked, their ranges overlap",
                            contenders[i - 1].machine, one.machine));
  }
  return fmt::format("{}: {} pJ: {}\n", what, ranges, verdict);
}

}  // namespace

std::string fair_table(const std::vector<RunRecord>& records) {
  TextTable table;
  table.column("run", "");
  table.column("machine", "", TextTable::Align::left);
  table.column("pattern", "", TextTable::Align::left);
  table.column("mode, weights", "", TextTable::Align::left);
  table.column("silicon", "mm2");
  table.column("least to most", "mm2", TextTable::Align::left);
  table.column("per area", "GFLOP/s/mm2");
  table.column("per watt", "GFLOP/s/W");
  table.column("low to high", "GFLOP/s/W", TextTable::Align::left);
  table.column("of peak", "%");
  table.column("calibration", "factor");
  for (const SeedGroup& group : seed_groups(records)) {
    const RunRecord& run = *group.front();
    if (!run.total.useful_tflops) continue;
    const std::optional<EnergyRange> area = silicon(run);
    const std::optional<JouleRange> energy = per_flop(group);
    const std::optional<double> factor = parameter(run, "energy.calibration");
    const auto per_area = [&](const RunRecord& each) -> std::optional<double> {
      if (!area || !each.total.useful_tflops) return std::nullopt;
      return *each.total.useful_tflops * 1e3 / area->nominal;
    };
    // 1 FLOP of 1 pJ is 1000 GFLOP/s per watt; cheap prices make the high end
    const auto per_watt = [](const RunRecord& each) -> std::optional<double> {
      const std::optional<JouleRange> range = per_flop(each);
      return range ? std::optional<double>(1e3 / range->nominal) : std::nullopt;
    };
    const auto of_peak = [](const RunRecord& each) -> std::optional<double> {
      return each.total.utilisation ? std::optional<double>(100 * *each.total.utilisation)
                                    : std::nullopt;
    };
    table.row({fmt::format("{}", run.run), run.machine, pattern_of(run), kernel_text(run.total),
               area ? four_digits(area->nominal) : "", silicon_text(area),
               mean_text(group, "", per_area), mean_text(group, "", per_watt),
               energy ? fmt::format("{} to {}", four_digits(1e3 / energy->high),
                                    four_digits(1e3 / energy->low))
                      : "",
               mean_text(group, "{:.1f}", of_peak), factor ? fmt::format("{}", *factor) : ""});
  }
  return table.text();
}

std::string energy_ranking(const std::vector<RunRecord>& records) {
  std::vector<std::pair<std::string, std::vector<Contender>>> patterns;
  for (const SeedGroup& group : seed_groups(records)) {
    const RunRecord& run = *group.front();
    const std::optional<JouleRange> range = per_flop(group);
    if (!range) continue;
    const std::string what = pattern_of(run);
    auto place = std::find_if(patterns.begin(), patterns.end(),
                              [&](const auto& each) { return each.first == what; });
    if (place == patterns.end()) place = patterns.insert(patterns.end(), {what, {}});
    const bool known = std::any_of(place->second.begin(), place->second.end(),
                                   [&](const auto& each) { return each.machine == run.machine; });
    if (!known) place->second.push_back({run.machine, *range});
  }
  std::string text;
  for (auto& [what, contenders] : patterns) {
    if (contenders.size() > 1) text += ranking_of(what, std::move(contenders));
  }
  return text;
}

}  // namespace lacuna
