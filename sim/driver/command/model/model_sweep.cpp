// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_model.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/sweep/search_goal.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// What tables of points show of reports.
constexpr std::array<const char*, 6> kShown = {"tokens_per_s",        "joules_per_token",
                                               "of_layer_in_weights", "of_layer_in_cache",
                                               "positions_that_fit",  "move_cycles"};

/// The reports of points that have one.
std::vector<ModelReport> reports_of(const std::vector<ModelOutcome>& outcomes,
                                    const std::vector<std::size_t>& points) {
  std::vector<ModelReport> reports;
  for (const std::size_t i : points) {
    if (outcomes[i].report) reports.push_back(*outcomes[i].report);
  }
  return reports;
}

std::string points_table(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes,
                         const std::vector<std::size_t>& points) {
  TextTable table({"point"});
  for (const std::string& axis : sweep.axes) table.column(axis, "", TextTable::Align::left);
  const std::vector<NamedQuantity> all = numbers_of(reports_of(outcomes, points));
  std::vector<std::string> shown;
  for (const char* const name : kShown) {
    const NamedQuantity* const found = find_quantity(all, name);
    if (found == nullptr) continue;
    shown.emplace_back(name);
    table.column(name, found->unit);
  }
  for (const std::size_t i : points) {
    std::vector<std::string> row = as_cells(i);
    append(row, sweep.points[i].varying);
    for (const std::string& name : shown) {
      row.push_back(outcomes[i].report ? quantity_text(outcomes[i].report->of(name)) : "-");
    }
    table.row(row);
  }
  return table.text();
}

/// The first screen of `points`; where there is no room for all, of the fastest.
std::string points_screen(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes,
                          const std::vector<std::size_t>& points, const std::string& head,
                          bool whole) {
  const auto faster = [&](std::size_t a, std::size_t b) {
    const auto speed = [&](std::size_t i) {
      const auto& report = outcomes[points[i]].report;
      return report ? speed_of(*report) : 0;
    };
    return speed(a) > speed(b);
  };
  const auto table_of = [&](std::size_t rows) {
    std::vector<std::size_t> shown;
    for (const std::size_t i : first_by(points.size(), rows, faster)) shown.push_back(points[i]);
    return points_table(sweep, outcomes, shown);
  };
  return fitted_screen(head, points.size(), table_of, "fastest points",
                       "More: --wide (all points), --json, --out DIR (page, files)\n", whole);
}

std::string points_csv(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes) {
  const std::vector<NamedQuantity> all = numbers_of(reports_of(outcomes, all_of(sweep)));
  std::vector<std::string> head = {"point"};
  append(head, sweep.axes);
  head.emplace_back("why_not");
  for (const NamedQuantity& each : all) head.push_back(each.name);
  std::string text = csv_line(head);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    std::vector<std::string> cells = as_cells(i);
    append(cells, sweep.points[i].varying);
    cells.push_back(outcomes[i].reason);
    for (const NamedQuantity& each : all) {
      const NamedQuantity* const found =
          outcomes[i].report ? find_quantity(outcomes[i].report->numbers, each.name) : nullptr;
      cells.push_back(found == nullptr ? "" : quantity_csv(found->value));
    }
    text += csv_line(cells);
  }
  return text;
}

/// A search of models: of no point a bound is known, so that all are simulated that the budget
/// allows.
class ModelSearch {
 public:
  ModelSearch(const SearchWords& words, std::size_t points)
      : goal_(words, {"time", "energy", "energy_delay"}, " for a model"),
        order_(std::vector<SearchPoint>(
                   points, {std::vector<double>(words.minimise.size()), {}, Fate::open}),
               words.terms) {
    if (words.terms.descends) {
      throw refused("{}: strategy: descent is of layouts; points of a model are all simulated",
                    words.place);
    }
    if (!words.terms_place.empty()) {
      throw refused("{}: gain and at_a_time are of points with bounds; points of a model have none",
                    words.terms_place);
    }
  }

  SearchOrder& order() { return order_; }

  void take(std::size_t point, const ModelOutcome& outcome) {
    if (!outcome.report) return order_.failed(point);
    const ModelReport& report = *outcome.report;
    const bool is_met = goal_.is_met([&](const std::string& name) -> std::optional<double> {
      const NamedQuantity* const found = find_quantity(report.numbers, name);
      return found == nullptr ? std::nullopt : std::optional(found->value);
    });
    if (!is_met) return order_.unmet(point);
    order_.simulated(point,
                     goal_.values(1 / report.of("tokens_per_s"), report.of("joules_per_token"), 0));
  }

 private:
  SearchGoal goal_;
  SearchOrder order_;
};

/// The files that are read.
std::vector<std::string> inputs_of(const SweepFile& file, const ModelSweep& sweep) {
  std::set<std::string> inputs = {file.path};
  for (const ModelPoint& point : sweep.points) {
    inputs.insert(*point.options.model);
    inputs.insert(point.options.requests.value_or(""));
    inputs.insert(point.machine);
  }
  return {inputs.begin(), inputs.end()};
}

/// What a result is of whose inputs are these, as far as they are files.
StudyPlan plan_of_files(const std::string& name, const std::vector<std::string>& inputs,
                        const Options& options) {
  StudyPlan plan{name, facts_of_arguments(options)};
  for (const std::string& file : inputs) {
    if (!options.out || !std::filesystem::is_regular_file(file)) continue;
    plan.inputs.push_back(file);
    plan.facts.emplace_back("SHA-256 of " + file, hash_of_input(file));
  }
  return plan;
}

/// What a result folder has beside the reports.
TableResult result_of(const ModelSweep& sweep, const ModelRuns& runs) {
  TableResult result = runs.result();
  result.files.emplace_back("points.csv", points_csv(sweep, runs.outcomes()));
  result.figures = model_sweep_figures(sweep, runs.outcomes());
  return result;
}

/// Says which points have no report, and why; true if all have one.
bool say_reasons(const std::vector<ModelOutcome>& outcomes, const Streams& streams) {
  bool whole = true;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].reason.empty()) continue;
    whole = false;
    streams.err << fmt::format("lacuna: point {}: {}\n", i, outcomes[i].reason);
  }
  return whole;
}

}  // namespace

ModelRuns::ModelRuns(StudyPlan plan, const ModelSweep& sweep, const Options& options,
                     const MachineTable& kinds, const Streams& streams, bool refuses)
    : Study(std::move(plan), sweep.points.size(), options, streams),
      sweep_(sweep),
      kinds_(kinds),
      refuses_(refuses),
      pricing_(make_pricing(options, streams)),
      cache_(model_cache(options)),
      outcomes_(sweep.points.size()) {}

ModelRuns::ModelRuns(const ModelSweep& sweep, const std::string& name,
                     const std::vector<std::string>& inputs, const Options& options,
                     const MachineTable& kinds, const Streams& streams, bool refuses)
    : ModelRuns(plan_of_files(name, inputs, options), sweep, options, kinds, streams, refuses) {}

ModelRuns::ModelRuns(const ModelSweep& sweep, const Options& options, const MachineTable& kinds,
                     const Streams& streams)
    : ModelRuns({"", {}, {}, {}, false, false}, sweep, options, kinds, streams, false) {}

bool ModelRuns::begin() {
  if (ranks_.is_server()) {
    ranks_.serve(jobs({}));
    return false;
  }
  if (!Study::begin({})) return false;
  if (journal_ == nullptr) return true;
  for (const auto& [point, text] : journal_->finished()) outcomes_[point] = decode_outcome(text);
  progress_.skip(journal_->finished().size());
  return true;
}

Jobs ModelRuns::jobs(std::vector<std::size_t> order) {
  Jobs jobs;
  jobs.order = std::move(order);
  jobs.name = [this](std::size_t point) { return sweep_.name_of(point); };
  jobs.work = [this](std::size_t point, const Say& say) {
    const ModelPoint& each = sweep_.points[point];
    say(encode_outcome(
        run_model(read_model_request(each.options, kinds_), each.machine, pricing_, cache_)));
  };
  jobs.heard = [this](std::size_t point, const std::string& text) {
    if (journal_ != nullptr) journal_->add(point, text);
    outcomes_[point] = decode_outcome(text);
  };
  jobs.ended = [this](std::size_t point, const JobEnd& end) {
    if (refuses_ || end.kind == JobEnd::Kind::defect) end.require_done();
    if (end.kind != JobEnd::Kind::done) outcomes_[point].reason = end.text;
  };
  return jobs;
}

bool ModelRuns::run(const std::vector<std::size_t>* order) {
  const std::vector<std::size_t> points = share_of(order);
  std::vector<std::size_t> unknown;
  for (const std::size_t point : points) {
    if (!outcomes_[point].report) unknown.push_back(point);
  }
  const bool whole = do_jobs(jobs(std::move(unknown)), {job_count(options_), &ranks_}, progress_);
  progress_.clear();
  for (const std::size_t point : points) streams_.err << outcomes_[point].said;
  if (!whole) streams_.err << interrupted_with_cache(options_);
  return whole;
}

bool ModelRuns::ends_as_share() const {
  return Study::ends_as_share(
      count_where(outcomes_, [](const auto& each) { return each.report.has_value(); }));
}

void ModelRuns::write(const TableResult& result) {
  output()->write(output()->header(plan_.name, {}), result, streams_);
  end();
}

std::vector<ModelReport> ModelRuns::reports() const {
  return reports_of(outcomes_, all_of(sweep_));
}

TableResult ModelRuns::result() const {
  TableResult result;
  result.models = models_json(reports());
  result.composed = any_of(reports(), [](const ModelReport& each) { return each.is_composed(); });
  result.files = model_files(reports());
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const ModelOutcome& outcome = outcomes_[i];
    append(result.pages, outcome.pages);
    if (outcome.requests_csv.empty()) continue;
    result.files.emplace_back(
        outcomes_.size() == 1 ? "requests.csv" : fmt::format("requests{}.csv", i),
        outcome.requests_csv);
  }
  return result;
}

std::vector<std::size_t> all_of(const ModelSweep& sweep) {
  std::vector<std::size_t> points(sweep.points.size());
  std::iota(points.begin(), points.end(), 0);
  return points;
}

int run_model_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds,
                    const Streams& streams) {
  refuse_others(options, kOfModel,
                "{} does not go with an experiment of a model; what was simulated is kept in its "
                "cache");
  check_needs(options);
  const ModelSweep sweep = plan_model_sweep(file, options, kinds);
  const bool searches = !file.search.minimise.empty();
  std::optional<ModelSearch> search;
  if (searches) search.emplace(file.search, sweep.points.size());
  ModelRuns runs(sweep, sweep.name, inputs_of(file, sweep), options, kinds, streams, false);
  if (!runs.begin()) return kDone;
  bool whole = true;
  if (search) {
    for (auto batch = search->order().next(); whole && !batch.empty();
         batch = search->order().next()) {
      whole = runs.run(&batch);
      for (const std::size_t i : batch) search->take(i, runs.outcomes()[i]);
    }
  } else {
    whole = runs.run();
  }
  if (!whole) return kNotCompleted;
  if (runs.ends_as_share()) return kDone;
  const std::vector<ModelOutcome>& outcomes = runs.outcomes();
  const std::vector<ModelReport> reports = runs.reports();
  if (runs.output() != nullptr) runs.write(result_of(sweep, runs));
  whole = say_reasons(outcomes, streams);
  if (options.json) {
    streams.out << models_json(reports) << '\n';
  } else {
    const std::string simulated =
        search ? fmt::format(", {} simulated; the best:", reports.size()) : "";
    streams.out << points_screen(
        sweep, outcomes, search ? search->order().front() : all_of(sweep),
        fmt::format("{}: {} points{}\n\n", sweep.name, sweep.points.size(), simulated),
        options.wide);
  }
  if (search) return search->order().front().empty() ? kNotCompleted : kDone;
  return whole ? kDone : kNotCompleted;
}

}  // namespace lacuna
