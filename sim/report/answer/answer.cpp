// SPDX-License-Identifier: Apache-2.0
#include "sim/report/answer/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

std::optional<double> real(const std::optional<std::uint64_t>& count) {
  return count ? std::optional<double>(static_cast<double>(*count)) : std::nullopt;
}

std::optional<double> nominal(const std::optional<EnergyRange>& range) {
  return range ? std::optional<double>(range->nominal) : std::nullopt;
}

/// 1 FLOP of 1 pJ is 1000 GFLOP/s per watt.
std::optional<double> per_watt(const SummaryRow& row) {
  const std::optional<double>& pj = row.pj_per_useful_flop;
  return pj && *pj > 0 ? std::optional<double>(1e3 / *pj) : std::nullopt;
}

}  // namespace

const std::array<QuantityWords, kQuantities>& quantity_words() {
  using Row = SummaryRow;
  static const std::array<QuantityWords, kQuantities> kWords = {{
      {Quantity::cycles, "cycles", "cycles", "", 1, 0,
       [](const Row& row) { return real(row.cycles); }},
      {Quantity::time, "time_s", "time", "us", 1e6, -1, [](const Row& row) { return row.time_s; }},
      {Quantity::useful, "useful_tflops", "useful", "TFLOP/s", 1, -1,
       [](const Row& row) { return row.useful_tflops; }},
      {Quantity::of_peak, "utilisation", "of peak", "%", 100, 1,
       [](const Row& row) { return row.utilisation; }},
      {Quantity::speedup, "speedup_vs_dense", "speed-up", "vs dense", 1, -1,
       [](const Row& row) { return row.speedup_vs_dense; }},
      {Quantity::energy, "energy_j", "energy", "uJ", 1e6, -1,
       [](const Row& row) { return nominal(row.energy_j); }},
      {Quantity::energy_vs_dense, "energy_vs_dense", "energy", "vs dense", 1, -1,
       [](const Row& row) { return nominal(row.energy_vs_dense); }},
      {Quantity::energy_per_flop, "pj_per_useful_flop", "energy", "pJ/FLOP", 1, -1,
       [](const Row& row) { return row.pj_per_useful_flop; }},
      {Quantity::per_area, "gflops_per_mm2", "per area", "GFLOP/s/mm2", 1, -1,
       [](const Row& row) { return row.gflops_per_mm2; }},
      {Quantity::per_watt, "gflops_per_watt", "per watt", "GFLOP/s/W", 1, -1, per_watt},
  }};
  return kWords;
}

std::string quantity_text(Quantity which, const std::optional<Mean>& mean) {
  if (!mean) return "";
  const QuantityWords& words = words_of(which);
  const auto text = [&](double value) {
    return words.decimals < 0 ? four_digits(value * words.scale)
                              : fmt::format("{:.{}f}", value * words.scale, words.decimals);
  };
  return text(mean->mean) + (mean->half ? " +- " + text(*mean->half) : "");
}

std::optional<EnergyRange> energy_per_flop(const SummaryRow& row) {
  if (!row.energy_j || row.useful_flop.value_or(0) == 0) return std::nullopt;
  EnergyRange range = *row.energy_j;
  for (const Corner corner : kCorners) {
    range.at(corner) *= 1e12 / static_cast<double>(*row.useful_flop);
  }
  return range;
}

const StackShare* Waits::largest_wait() const {
  return find_where(parts, [](const StackShare& part) { return part.layer != Layer::compute; });
}

bool AnswerPoint::is_ok() const {
  return all_of(runs, [](const RunRecord* each) {
    return each->total.status == Status::ok && each->total.time_s;
  });
}

bool EnergyRank::is_ranked() const {
  return all_of(apart, [](bool each) { return each; });
}

bool Answer::has_seeds() const {
  return any_of(points, [](const AnswerPoint& point) { return point.runs.size() > 1; });
}

const Why* Answer::why_of(std::size_t point) const {
  const auto* const found =
      find_where(causes, [&](const AnswerCause& each) { return each.point == point; });
  return found == nullptr ? nullptr : &found->why();
}

namespace {

Waits waits_of(const SeedGroup& runs) {
  Waits waits;
  double all = 0;
  for (const RunRecord* const run : runs) {
    for (const StackPart& part : run->stack()) {
      if (part.cycles == 0) continue;
      const auto cycles = static_cast<double>(part.cycles);
      all += cycles;
      waits.layers.at(static_cast<std::size_t>(part.layer)) += cycles;
      find_or_add(waits.parts, is_like(part), {part.layer, part.kind, 0}).share += cycles;
    }
  }
  for (double& layer : waits.layers) layer = all > 0 ? layer / all : 0;
  for (StackShare& part : waits.parts) part.share /= all;
  sort_all(waits.parts, [](const StackShare& a, const StackShare& b) { return a.share > b.share; });
  return waits;
}

std::string pattern_of(const RunRecord& run) {
  if (!run.pattern.empty()) return run.pattern;
  const SummaryRow& total = run.total;
  if (total.pattern.empty() || total.pattern == "dense") return total.pattern;
  const std::string name = total.pattern + (total.pattern == "block" ? total.block : "");
  return total.density ? fmt::format("{} at {}", name, short_number(*total.density)) : name;
}

std::string name_of(const RunRecord& run) {
  const std::string pattern = pattern_of(run);
  std::string name = run.machine + (pattern.empty() ? "" : ", " + pattern);
  for (std::size_t i = 0; i < run.varying.size() && i < run.total.varying.size(); ++i) {
    const bool said = run.varying[i] == "machine" || run.varying[i] == "pattern";
    if (!said) name += fmt::format(", {} {}", run.varying[i], run.total.varying[i]);
  }
  return name;
}

/// The mean of the nominal, and the ends of all; empty if a run has none.
template <class Range>
std::optional<EnergyRange> range_of(const SeedGroup& runs, const Range& range_in) {
  std::optional<EnergyRange> all;
  for (const RunRecord* const run : runs) {
    const std::optional<EnergyRange> range = range_in(run->total);
    if (!range) return std::nullopt;
    if (!all) all = EnergyRange{range->low, 0, range->high};
    all->low = std::min(all->low, range->low);
    all->nominal += range->nominal / static_cast<double>(runs.size());
    all->high = std::max(all->high, range->high);
  }
  return all;
}

std::optional<EnergyRange> silicon_of(const RunRecord& run) {
  if (!run.silicon) return std::nullopt;
  EnergyRange mm2 = run.silicon->mm2;
  auto units = static_cast<double>(run.units());
  // a system has that of all its chips, and cores that stand idle are there too
  if (run.total.silicon_mm2 && mm2.nominal > 0) units = *run.total.silicon_mm2 / mm2.nominal;
  if (units == 0) return std::nullopt;
  for (const Corner corner : kCorners) mm2.at(corner) *= units;
  return mm2;
}

AnswerPoint point_of(SeedGroup runs) {
  AnswerPoint point;
  point.runs = std::move(runs);
  point.pattern = pattern_of(point.run());
  point.name = name_of(point.run());
  for (const QuantityWords& words : quantity_words()) {
    std::vector<double> values;
    for (const RunRecord* const run : point.runs) {
      if (const std::optional<double> value = words.value(run->total)) values.push_back(*value);
    }
    if (values.size() != point.runs.size()) continue;
    point.means.at(static_cast<std::size_t>(words.quantity)) = mean_of(values);
  }
  point.energy = range_of(point.runs, [](const SummaryRow& row) { return row.energy_j; });
  point.energy_per_flop = range_of(point.runs, energy_per_flop);
  point.energy_vs_dense =
      range_of(point.runs, [](const SummaryRow& row) { return row.energy_vs_dense; });
  point.silicon_mm2 = silicon_of(point.run());
  point.waits = waits_of(point.runs);
  return point;
}

/// The point with the largest mean of a quantity, or the least if `least`; nothing if none has it.
template <class Takes>
std::optional<std::size_t> best(const std::vector<AnswerPoint>& points, Quantity which, bool least,
                                const Takes& takes) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::optional<Mean>& own = points[i].mean(which);
    if (!points[i].is_ok() || !own || !takes(points[i])) continue;
    const double other = found ? points[*found].mean(which)->mean : 0;
    if (!found || (least ? own->mean < other : own->mean > other)) found = i;
  }
  return found;
}

/// Points whose interval reaches that of the fastest; without seeds there are none.
std::vector<std::size_t> not_told_apart(const Answer& answer) {
  std::vector<std::size_t> near;
  if (!answer.fastest || !answer.one_workload) return near;
  const Mean first = *answer.points[*answer.fastest].mean(Quantity::time);
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    if (i == *answer.fastest || !answer.points[i].is_ok()) continue;
    const Mean other = *answer.points[i].mean(Quantity::time);
    if (!first.half && !other.half) continue;
    const bool reaches = other.mean - other.half.value_or(0) <= first.mean + first.half.value_or(0);
    if (reaches) near.push_back(i);
  }
  return near;
}

std::vector<EnergyRank> ranks_of(const std::vector<AnswerPoint>& points) {
  std::vector<EnergyRank> ranks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].energy_per_flop) continue;
    const auto same = [&](const EnergyRank& each) { return each.pattern == points[i].pattern; };
    std::vector<std::size_t>& ranked = find_or_add(ranks, same, {points[i].pattern, {}, {}}).points;
    const bool known = any_of(
        ranked, [&](std::size_t p) { return points[p].run().machine == points[i].run().machine; });
    if (!known) ranked.push_back(i);
  }
  erase_where(ranks, [](const EnergyRank& rank) { return rank.points.size() < 2; });
  for (EnergyRank& rank : ranks) {
    sort_all(rank.points, [&](std::size_t a, std::size_t b) {
      return points[a].energy_per_flop->nominal < points[b].energy_per_flop->nominal;
    });
    for (std::size_t i = 1; i < rank.points.size(); ++i) {
      rank.apart.push_back(points[rank.points[i - 1]].energy_per_flop->high <
                           points[rank.points[i]].energy_per_flop->low);
    }
  }
  return ranks;
}

std::string kind_of(const std::string& remark) {
  std::string kind = remark.substr(0, remark.find_first_of("0123456789(:,'"));
  kind.erase(kind.find_last_not_of(' ') + 1);
  return kind.empty() ? remark : kind;
}

std::vector<NoteCount> notes_of(const Runs& records) {
  std::vector<NoteCount> notes;
  for (const RunRecord& run : records) {
    std::set<std::string> in_run;
    for (const OpRecord& op : run.ops) {
      std::set<std::string> in_op;
      for (const std::string& remark : op.result.remarks) {
        const std::string kind = kind_of(remark);
        const auto same = [&](const NoteCount& each) { return each.kind == kind; };
        NoteCount& known = find_or_add(notes, same, {kind, remark, 0, 0});
        known.operations += in_op.insert(kind).second ? 1 : 0;
        known.runs += in_run.insert(kind).second ? 1 : 0;
      }
    }
  }
  return notes;
}

bool leaves_zeros_out(const AnswerPoint& point) {
  const SummaryRow& total = point.run().total;
  return total.pattern != "dense" || total.x_density;
}

}  // namespace

Answer answer_of(const Runs& records) {
  Answer answer;
  for (SeedGroup& group : seed_groups(records)) {
    for (const RunRecord* const run : group) {
      if (run->why) answer.causes.push_back({answer.points.size(), run});
    }
    answer.points.push_back(point_of(std::move(group)));
  }
  answer.one_workload = all_of(
      records, [&](const RunRecord& run) { return run.workload == records.front().workload; });
  const auto any = [](const AnswerPoint&) { return true; };
  answer.fastest = answer.one_workload ? best(answer.points, Quantity::time, true, any)
                                       : best(answer.points, Quantity::useful, false, any);
  answer.not_told_apart = not_told_apart(answer);
  answer.fastest_for_area = best(answer.points, Quantity::per_area, false, any);
  answer.most_from_zeros = best(answer.points, Quantity::speedup, false, leaves_zeros_out);
  answer.energy_ranks = ranks_of(answer.points);
  answer.notes = notes_of(records);
  return answer;
}

std::string seeds_csv(const Answer& answer) {
  const std::vector<std::string> varying =
      answer.points.empty() ? std::vector<std::string>() : answer.points[0].run().varying;
  std::vector<std::string> head = {"machine", "workload", "pattern"};
  append(head, varying);
  head.emplace_back("seeds");
  for (const QuantityWords& words : quantity_words()) {
    head.push_back(std::string(words.column) + "_mean");
    head.push_back(std::string(words.column) + "_half95");
  }
  std::string csv = csv_line(head);
  for (const AnswerPoint& point : answer.points) {
    const RunRecord& run = point.run();
    std::vector<std::string> cells = {run.machine, run.workload, point.pattern};
    append(cells, run.total.varying);
    std::vector<std::uint64_t> seeds;
    for (const RunRecord* const each : point.runs) seeds.push_back(each->seed);
    cells.push_back(fmt::format("{}", fmt::join(seeds, " ")));
    for (const std::optional<Mean>& mean : point.means) {
      append(cells, mean ? as_cells(mean->mean, mean->half) : as_cells("", ""));
    }
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace lacuna
