// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/column_counts.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/quantile.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/command/study.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/result/trust.hpp"
#include "sim/driver/run/area.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/sweep/search_figures.hpp"
#include "sim/driver/sweep/search_goal.hpp"
#include "sim/driver/sweep/search_order.hpp"
#include "sim/driver/sweep/sweep.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/sweep_study.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {

namespace {

constexpr double kNoTime = std::numeric_limits<double>::infinity();

/// What conditions of subject_to may name, in the units of summary.csv.
struct Measured {
  const char* name;
  std::optional<double> (*value)(const SummaryRow& total);
};

const std::array<Measured, 5> kMeasured = {
    {{"time_s", [](const SummaryRow& total) { return total.time_s; }},
     {"energy_j", [](const SummaryRow& total) { return words_of(Quantity::energy).value(total); }},
     {"power_w", [](const SummaryRow& total) { return total.power_w; }},
     {"silicon_mm2", [](const SummaryRow& total) { return total.silicon_mm2; }},
     {"useful_tflops", [](const SummaryRow& total) { return total.useful_tflops; }}}};

/// Known before the first simulation, as all of it is.
void check_names(const SweepCondition& condition) {
  const std::vector<std::string> names = names_in(kMeasured);
  for (const std::string& word : condition.words()) {
    if (contains(names, word)) continue;
    throw refused("{}: subject_to: found '{}'; allowed: numbers and {}{}", condition.place(), word,
                  fmt::join(names, ", "), hint_of(word, names));
  }
}

class Search {
 public:
  Search(const SweepFile& file, const Options& options, const MachineTable& kinds)
      : words_(file.search),
        sweep_(plan_sweep(file, options, kinds)),
        goal_(words_, objective_words(), "") {
    for (const SweepCondition& each : goal_.conditions()) check_names(each);
    if (words_.terms.descends && objectives().size() > 1) {
      throw refused(
          "{}: strategy: descent goes to the least of one objective, and minimise has {}; strategy "
          "bounds finds a front",
          words_.place, objectives().size());
    }
    // A speed-up is nothing that is searched for, and dense partners are no points.
    if (sweep_.with_dense) throw RequestError("with_dense: a search has no dense partners");
  }

  const Sweep& sweep() const { return sweep_; }
  const SearchOrder& order() const { return *order_; }
  const std::string& refusal() const { return refusal_; }
  bool simulates_all() const { return !words_.terms.prunes; }
  double gain() const { return words_.terms.gain; }
  const std::vector<Objective>& objectives() const { return goal_.objectives(); }

  /// What no point can be below. Those of other shares are left over.
  void find_bounds(PointStudy& study, const RunSettings& settings) {
    MaskStore& masks = study.masks();
    std::vector<SearchPoint> points;
    ColumnCounts counts;  // of the masks that a point and the next have in common
    std::string counted;
    for (const Point& point : sweep_.points) {
      SearchPoint& made = points.emplace_back();
      made.bound.resize(objectives().size(), kNoTime);
      if (!study.shares(points.size() - 1)) {
        made.fate = Fate::left_over;
        continue;
      }
      const std::string masked = masks_of(point, settings);
      if (masked != counted) counts.forget();
      counted = masked;
      std::string why;
      const double time = least_time(point, masks, settings, why);
      if (!why.empty()) {
        made.fate = Fate::excluded;
        if (refusal_.empty()) refusal_ = why;
        continue;
      }
      constexpr double kNoJoules = 0;  // none are known before
      made.bound = goal_.values(time, kNoJoules, area_of(*point.machine, study.pricing()));
    }
    words_.terms.seed = settings.seed;
    order_.emplace(std::move(points), words_.terms, sweep_.axis_text);
  }

  std::vector<std::size_t> next() { return order_->next(); }

  void take(std::size_t point, const RunRecord& record) {
    const SummaryRow& total = record.total;
    const std::optional<double> time = total.time_s;
    const bool ran = total.status == Status::ok && time;
    if (!ran || !fulfils(total)) {
      return ran ? order_->unmet(point) : order_->failed(point);
    }
    const double joules = total.energy_j ? total.energy_j->nominal : 0;
    const double mm2 = total.silicon_mm2.value_or(0);
    order_->simulated(point, goal_.values(*time, joules, mm2));
    taken_.push_back(point);
  }

  /// For figures.
  SearchCourse course() const { return {objectives(), taken_, sweep_.axes, sweep_.axis_text}; }

 private:
  /// What is equal for two points if their masks are.
  static std::string masks_of(const Point& point, const RunSettings& settings) {
    const std::uint64_t seed = point.settings_or(settings).seed;
    std::string text;
    for (const LayerOp& op : point.workload.ops) {
      text += fmt::format("{} {} {} {}x{} {}\n", op.id, pattern_label(op.pattern),
                          row_seed(op, seed), op.m, op.k, op.n);
    }
    return text;
  }

  /// `why`: why the point cannot be, as far as that is known without a simulation.
  static double least_time(const Point& point, MaskStore& masks, const RunSettings& settings,
                           std::string& why) {
    const std::uint64_t seed = point.settings_or(settings).seed;
    double cycles = 0;
    try {
      for (const LayerOp& op : point.workload.ops) {
        const std::optional<Cycle> least =
            point.machine->least_cycles(op, masks.mask(op, point.workload, seed));
        cycles += static_cast<double>(least.value_or(0)) * op.repeat;
      }
    } catch (const RequestError& error) {
      why = error.what();
    } catch (const SimulationError& error) {
      why = error.what();
    }
    const ParamBase* const clock = point.machine->parameters().find("clock");
    return cycles / ((clock == nullptr ? 1 : std::stod(clock->value_text())) * 1e9);
  }

  /// Of what is simulated; 0 if it is not known.
  static double area_of(const Machine& machine, const Pricing& pricing) {
    const std::optional<UnitSilicon> unit = pricing.areas().unit(machine);
    return unit ? unit->mm2.nominal * static_cast<double>(units_of(machine)) : 0;
  }

  bool fulfils(const SummaryRow& total) const {
    return goal_.is_met([&](const std::string& name) {
      const Measured* const known = find_named(kMeasured, name);
      return known == nullptr ? std::nullopt : known->value(total);
    });
  }

  SearchWords words_;
  Sweep sweep_;
  SearchGoal goal_;
  std::string refusal_;  // of the first point that cannot be
  std::optional<SearchOrder> order_;
  std::vector<std::size_t> taken_;  // simulated points, in this order
};

/// Of what is left of a search as runs.
bool is_run(Fate fate) {
  return fate == Fate::simulated || fate == Fate::unmet || fate == Fate::failed;
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// A row for each point; `run` is its number in the result, if it was simulated.
std::string search_csv(const Search& search) {
  const std::vector<std::size_t> front = search.order().front();
  std::size_t run = 0;
  std::vector<std::string> cells{"point"};
  append(cells, search.sweep().axes);
  for (const Objective each : search.objectives()) {
    cells.emplace_back(word(each));
    cells.push_back(fmt::format("{}_bound", word(each)));
  }
  cells.insert(cells.end(), {"fate", "run", "best"});
  std::string text = csv_line(cells);
  for (std::size_t i = 0; i < search.order().points().size(); ++i) {
    const SearchPoint& point = search.order().points()[i];
    cells = as_cells(i);
    append(cells, search.sweep().axis_text[i]);
    for (std::size_t o = 0; o < point.bound.size(); ++o) {
      const bool known = point.fate != Fate::excluded;
      cells.push_back(point.value.empty() ? "" : cell_text(point.value[o]));
      cells.push_back(known ? cell_text(point.bound[o]) : "");
    }
    const bool best = contains(front, i);
    cells.emplace_back(word(point.fate));
    cells.push_back(is_run(point.fate) ? cell_text(run++) : "");
    cells.emplace_back(best ? "yes" : "");
    text += csv_line(cells);
  }
  return text;
}

/// By value of each axis, how far the bounds of simulated points are below what these take.
std::string slack_table(const Search& search) {
  const SearchOrder& order = search.order();
  TextTable table({"axis<", "value<", "points"});
  for (const char* const each : {"least", "median", "most"}) table.column(each, "%");
  for (std::size_t axis = 0; axis < search.sweep().axes.size(); ++axis) {
    std::vector<std::string> values;  // as they come
    for (const auto& text : search.sweep().axis_text) place_or_add(values, text[axis]);
    for (const std::string& value : values) {
      const std::vector<double> slack = order.slack(
          [&](std::size_t point) { return search.sweep().axis_text[point][axis] == value; });
      if (slack.empty()) continue;
      std::vector<std::string> row{search.sweep().axes[axis], value,
                                   fmt::format("{}", slack.size())};
      for (const double each : {slack.front(), quantile(slack, 0.5), slack.back()}) {
        row.push_back(fmt::format("{:.1f}", 100 * each));
      }
      table.row(row);
    }
  }
  return "\nHow far bounds are below what was simulated\n\n" + table.text();
}

std::size_t count_of(const Search& search, Fate fate) {
  return count_where(search.order().points(),
                     [&](const SearchPoint& point) { return point.fate == fate; });
}

/// What became of the points.
std::string fates_text(const Search& search) {
  const auto count = [&](Fate fate) { return count_of(search, fate); };
  std::string unmet;
  if (count(Fate::unmet) > 0) {
    unmet = fmt::format(" ({} of them not as subject_to has it)", count(Fate::unmet));
  }
  std::string text = fmt::format(
      "{}: {} points, {} simulated{}, {} pruned by their bounds, {} failed, {} left over\n",
      search.sweep().name, search.order().points().size(),
      count(Fate::simulated) + count(Fate::unmet), unmet, count(Fate::pruned), count(Fate::failed),
      count(Fate::left_over));
  if (count(Fate::excluded) > 0) {
    text += fmt::format("{} excluded, which cannot be; the first: {}\n", count(Fate::excluded),
                        search.refusal());
  }
  return text;
}

/// The first of the best points.
std::string front_table(const Search& search, const std::vector<std::size_t>& front,
                        std::size_t rows) {
  TextTable table({"point"});
  for (const std::string& axis : search.sweep().axes)
    table.column(axis, "", TextTable::Align::left);
  for (const Objective each : search.objectives()) {
    table.column(word(each), unit_of(each));
    table.column("bound", unit_of(each));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const SearchPoint& point = search.order().points()[front[i]];
    std::vector<std::string> row = as_cells(front[i]);
    append(row, search.sweep().axis_text[front[i]]);
    for (std::size_t o = 0; o < search.objectives().size(); ++o) {
      row.push_back(number(point.value[o]));
      row.push_back(number(point.bound[o]));
    }
    table.row(row);
  }
  return table.text();
}

/// How far from what is possible the best point is at most, of one objective.
std::string bound_text(const Search& search, std::size_t best_point) {
  std::string text;
  const double least = search.order().least().front();
  const double best = search.order().points()[best_point].value[0];
  if (least > 0) {
    text = fmt::format("No point can be below {} {}: {:.1f} % below the best\n", number(least),
                       unit_of(search.objectives().front()), 100 * (1 - least / best));
  }
  if (const std::vector<double> slack = search.order().slack(); !slack.empty()) {
    text += fmt::format(
        "Bounds are below what was simulated by {:.1f} to {:.1f} %, in the median by {:.1f} %\n",
        100 * slack.front(), 100 * slack.back(), 100 * quantile(slack, 0.5));
  }
  if (search.gain() > 0) {
    text += fmt::format(
        "Points that cannot be {:.4g} % below the best are pruned: of those that were not "
        "simulated none is more than {:.1f} % below it\n",
        100 * search.gain(), 100 * search.order().at_most_above());
  }
  if (count_of(search, Fate::left_over) > 0) {
    text += "Not all points were looked at: one that was left over may be better\n";
  }
  return text;
}

/// The first screen: what became of the points, the best of them, what none can be below.
std::string search_text(const Search& search, bool whole) {
  const std::vector<std::size_t> front = search.order().front();
  if (front.empty()) return fates_text(search) + "no point is left to choose from\n";
  const bool one = search.objectives().size() == 1;
  std::string foot = one ? bound_text(search, front[0]) : "";
  if (one && whole && search.simulates_all()) foot += slack_table(search);
  return fitted_screen(
      fates_text(search) + '\n', front.size(),
      [&](std::size_t rows) { return front_table(search, front, rows); }, "best points",
      '\n' + foot +
          "More: --wide (all rows, bounds by axis), --json, --out DIR (search.csv, page)\n",
      whole);
}

Journal::Facts search_facts(const Search& search, const SweepFile& file) {
  Journal::Facts facts = search.sweep().facts;
  for (const SearchWords::Word& each : file.search.minimise)
    facts.emplace_back("minimise", each.text);
  for (const SearchWords::Word& each : file.search.subject_to) {
    facts.emplace_back("subject_to", each.text);
  }
  const SearchTerms& terms = file.search.terms;
  facts.emplace_back("budget", fmt::format("{}", terms.budget));
  const char* const strategy = !terms.prunes ? "all" : terms.descends ? "descent" : "bounds";
  facts.emplace_back("strategy", fmt::format("{} {}", strategy, terms.restarts));
  facts.emplace_back("gain", fmt::format("{}, {} at a time", terms.gain, terms.at_a_time));
  return facts;
}

/// Simulates a batch, of which those with the highest bounds are expected to take longest: they are
/// begun first, so that no job ends long after the others.
bool run_batch(const Search& search, std::vector<std::size_t> batch, PointStudy& study) {
  const std::vector<SearchPoint>& points = search.order().points();
  sort_all(batch, [&](std::size_t a, std::size_t b) { return points[a].bound > points[b].bound; });
  return study.run(&batch);
}

/// Of the points that were run, out of `records` of all.
Runs simulated_records(const Search& search, Records records) {
  Runs simulated;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (is_run(search.order().points()[i].fate)) simulated.push_back(std::move(*records[i]));
  }
  add_trust(simulated, Trust(config_folder()));
  return simulated;
}

void write_search(const Search& search, const std::string& table, const Runs& simulated,
                  Output& output, const Streams& streams) {
  output.add_file("search.csv", table);
  const SweepAxes axes{search.sweep().axes, search.sweep().axis_text};
  output.add_file("sensitivity.csv", sensitivity_csv(simulated, axes));
  for (Figure& figure : search_figures(search.order(), search.course())) {
    output.add_figure(std::move(figure));
  }
  output.write(search.sweep().name, search.sweep().workloads, simulated, streams);
}

}  // namespace

int search_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const SweepFile file = read_search(options.subjects.front());
  if (is_of_model(file)) return run_model_sweep(file, options, kinds, streams);
  const std::optional<SearchResult> result = run_search(options, kinds, streams);
  if (!result) return kDone;
  if (!result->interrupted) {
    streams.out << (options.json ? summary_json(result->records) : result->text);
  }
  return result->status;
}

std::optional<SearchResult> run_search(const Options& options, const MachineTable& kinds,
                                       const Streams& streams) {
  const SweepFile file = read_search(options.subjects.front());
  if (is_of_model(file)) {
    throw RequestError(file.path + ": a search of a language model is one of the command line");
  }
  refuse_model_words(file, options);
  check_needs(options);
  Search search(file, options, kinds);
  const Sweep& sweep = search.sweep();
  const RunSettings settings = run_settings(options);
  PointStudy study({sweep.name, search_facts(search, file), sweep.workloads, {file.path}, true},
                   sweep.points, settings, options, streams);
  if (!study.begin()) return std::nullopt;
  search.find_bounds(study, settings);
  for (std::vector<std::size_t> batch = search.next(); !batch.empty(); batch = search.next()) {
    if (!run_batch(search, batch, study)) return SearchResult{{}, "", "", kNotCompleted, true};
    for (const std::size_t i : batch) search.take(i, *study.records()[i]);
  }
  if (study.ends_as_share()) return SearchResult{{}, "", "", kDone, true};
  Runs simulated = simulated_records(search, std::move(study.records()));
  const std::string table = search_csv(search);
  if (study.output() != nullptr) {
    write_search(search, table, simulated, *study.output(), streams);
  }
  study.end();
  const int status = search.order().front().empty() ? kNotCompleted : kDone;
  return SearchResult{std::move(simulated), table, search_text(search, options.wide), status,
                      false};
}

}  // namespace lacuna
