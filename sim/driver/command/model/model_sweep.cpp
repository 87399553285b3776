// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_sweep.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/driver/command/allowed_options.hpp"
#include "sim/driver/command/model/model_folder.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/sweep/search_order.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// What tables of points show of reports.
constexpr std::array<const char*, 6> kShown = {"tokens_per_s",        "joules_per_token",
                                               "of_layer_in_weights", "of_layer_in_cache",
                                               "positions_that_fit",  "move_cycles"};

class Runner {
 public:
  Runner(const ModelSweep& sweep, const Options& options, const MachineTable& kinds,
         const Streams& streams)
      : sweep_(sweep),
        options_(options),
        kinds_(kinds),
        streams_(streams),
        pricing_(make_pricing(options, streams)),
        cache_(model_cache(options)),
        outcomes_(sweep.points.size()) {}

  /// Points of equal parts take these from the cache; so that several processes can make them, and
  /// this one finds them there.
  void prepare(const std::vector<std::size_t>& points) {
    const std::size_t jobs = std::min(job_count(options_), points.size());
    if (jobs < 2 || !cache_.is_open()) return;
    std::vector<pid_t> children;
    for (std::size_t job = 0; job < jobs; ++job) {
      const pid_t id = fork();
      if (id < 0) break;  // this process does what they would have
      if (id != 0) {
        children.push_back(id);
        continue;
      }
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(*-vararg): POSIX
      std::ostringstream nothing;
      for (std::size_t i = job; i < points.size(); i += jobs) outcome_of(points[i], nothing);
      _exit(0);  // nothing of the parent's is to be flushed or destroyed twice
    }
    for (const pid_t id : children) {
      int status = 0;
      while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }

  const ModelOutcome& run(std::size_t point) {
    outcomes_[point] = outcome_of(point, streams_.err);
    return outcomes_[point];
  }

  const std::vector<ModelOutcome>& outcomes() const { return outcomes_; }
  const std::vector<std::pair<std::string, std::string>>& tables() const { return tables_; }

 private:
  /// What is refused of one point is the outcome of it.
  ModelOutcome outcome_of(std::size_t number, std::ostream& err) {
    const ModelPoint& point = sweep_.points[number];
    ModelOutcome outcome;
    try {
      const ModelRequest request = read_model_request(point.options, kinds_);
      ModelExtras extras;
      outcome.report =
          run_model(request, point.machine, pricing_, {streams_.out, err}, cache_, extras);
      if (!extras.csv.empty()) {
        tables_.emplace_back(fmt::format("requests{}.csv", number), extras.csv);
      }
    } catch (const SimulationError& error) {
      outcome.reason = error.what();
    } catch (const RequestError& error) {
      outcome.reason = error.what();
    }
    return outcome;
  }

  const ModelSweep& sweep_;
  const Options& options_;
  const MachineTable& kinds_;
  const Streams& streams_;
  Pricing pricing_;
  PartCache cache_;
  std::vector<ModelOutcome> outcomes_;
  std::vector<std::pair<std::string, std::string>> tables_;
};

std::string points_table(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes,
                         const std::vector<std::size_t>& points) {
  TextTable table;
  table.column("point", "");
  for (const std::string& axis : sweep.axes) table.column(axis, "", TextTable::Align::left);
  std::vector<std::string> shown;
  for (const char* const name : kShown) {
    for (const std::size_t i : points) {
      if (!outcomes[i].report) continue;
      const auto& numbers = outcomes[i].report->numbers;
      const auto found = std::find_if(numbers.begin(), numbers.end(),
                                      [&](const ModelQuantity& each) { return each.name == name; });
      if (found == numbers.end()) continue;
      shown.emplace_back(name);
      table.column(name, found->unit);
      break;
    }
  }
  for (const std::size_t i : points) {
    std::vector<std::string> row = {fmt::format("{}", i)};
    for (const std::string& value : sweep.points[i].varying) row.push_back(value);
    for (const std::string& name : shown) {
      row.push_back(outcomes[i].report ? quantity_text(outcomes[i].report->of(name)) : "-");
    }
    table.row(row);
  }
  return table.text();
}

std::string points_csv(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes) {
  std::vector<std::string> names;
  for (const ModelOutcome& outcome : outcomes) {
    if (!outcome.report) continue;
    for (const ModelQuantity& each : outcome.report->numbers) {
      if (std::find(names.begin(), names.end(), each.name) == names.end()) {
        names.push_back(each.name);
      }
    }
  }
  std::vector<std::string> head = {"point"};
  head.insert(head.end(), sweep.axes.begin(), sweep.axes.end());
  head.emplace_back("why_not");
  head.insert(head.end(), names.begin(), names.end());
  std::string text = csv_line(head);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    std::vector<std::string> cells = {fmt::format("{}", i)};
    for (const std::string& value : sweep.points[i].varying) cells.push_back(value);
    cells.push_back(outcomes[i].reason);
    for (const std::string& name : names) {
      std::string cell;
      if (outcomes[i].report) {
        for (const ModelQuantity& each : outcomes[i].report->numbers) {
          if (each.name == name) cell = quantity_csv(each.value);
        }
      }
      cells.push_back(cell);
    }
    text += csv_line(cells);
  }
  return text;
}

std::vector<ModelReport> reports_of(const std::vector<ModelOutcome>& outcomes) {
  std::vector<ModelReport> reports;
  for (const ModelOutcome& outcome : outcomes) {
    if (outcome.report) reports.push_back(*outcome.report);
  }
  return reports;
}

/// A search of models: of no point a bound is known, so that all are simulated that the budget
/// allows.
class ModelSearch {
 public:
  ModelSearch(const SearchWords& words, std::size_t points)
      : order_(std::vector<SearchPoint>(points, SearchPoint{zeros(words), {}, Fate::open}),
               words.terms) {
    if (words.descent) {
      throw RequestError(fmt::format(
          "{}: strategy: descent is of layouts; points of a model are all simulated", words.place));
    }
    if (!words.terms_place.empty()) {
      throw RequestError(fmt::format(
          "{}: gain and at_a_time are of points with bounds; points of a model have none",
          words.terms_place));
    }
    const std::vector<std::string> allowed = {"time", "energy", "energy_delay"};
    for (const SearchWords::Word& each : words.minimise) {
      const std::optional<Objective> objective = objective_of(each.text);
      if (!objective || std::find(allowed.begin(), allowed.end(), each.text) == allowed.end()) {
        throw RequestError(
            fmt::format("{}: minimise: found '{}'; allowed for a model: {}, each of a token",
                        each.place, each.text, fmt::join(allowed, ", ")));
      }
      objectives_.push_back(*objective);
    }
    for (const SearchWords::Word& each : words.subject_to) {
      conditions_.emplace_back(each.text, each.place);
    }
  }

  SearchOrder& order() { return order_; }

  void take(std::size_t point, const ModelOutcome& outcome) {
    if (!outcome.report) return order_.failed(point);
    if (!fulfils(*outcome.report)) return order_.unmet(point);
    const double time = 1 / outcome.report->of("tokens_per_s");
    const double joules = outcome.report->of("joules_per_token");
    std::vector<double> value;
    for (const Objective objective : objectives_) {
      value.push_back(objective == Objective::time     ? time
                      : objective == Objective::energy ? joules
                                                       : time * joules);
    }
    order_.simulated(point, std::move(value));
  }

 private:
  static std::vector<double> zeros(const SearchWords& words) {
    std::vector<double> all(words.minimise.size());
    return all;
  }

  bool fulfils(const ModelReport& report) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const SweepCondition& each) {
      return each.holds([&](const std::string& name) -> std::optional<std::string> {
        for (const ModelQuantity& number : report.numbers) {
          if (number.name == name) return fmt::format("{:.17g}", number.value);
        }
        return std::nullopt;
      });
    });
  }

  SearchOrder order_;
  std::vector<Objective> objectives_;
  std::vector<SweepCondition> conditions_;
};

std::vector<std::size_t> all_of(const ModelSweep& sweep) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) points.push_back(i);
  return points;
}

/// What a result folder has beside the reports.
ModelFolder folder_of(const SweepFile& file, const ModelSweep& sweep, const Runner& runner) {
  ModelFolder more;
  more.workload = sweep.name;
  std::set<std::string> inputs = {file.path};
  for (const ModelPoint& point : sweep.points) {
    inputs.insert(*point.options.model);
    inputs.insert(point.options.requests.value_or(""));
  }
  more.inputs.assign(inputs.begin(), inputs.end());
  more.files = runner.tables();
  more.files.emplace_back("points.csv", points_csv(sweep, runner.outcomes()));
  more.figures = model_sweep_figures(sweep, runner.outcomes());
  return more;
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

int run_model_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds,
                    const Streams& streams) {
  allow_options(options,
                {"--set", "--out", "--json", "--quiet", "--wide", "--cache", "--no-cache", "--seed",
                 "--engine", "--energy-table", "--jobs"},
                "{} does not go with an experiment of a model; what was simulated is kept in its "
                "cache");
  const ModelSweep sweep = plan_model_sweep(file, options, kinds);
  const bool searches = !file.search.minimise.empty();
  std::optional<ModelSearch> search;
  if (searches) search.emplace(file.search, sweep.points.size());
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  Runner runner(sweep, options, kinds, streams);
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, sweep.points.size());
  const auto run = [&](const std::vector<std::size_t>& points) {
    runner.prepare(points);
    for (const std::size_t i : points) {
      const ModelOutcome& outcome = runner.run(i);
      if (search) search->take(i, outcome);
      progress.step(fmt::format("point {}", i));
    }
  };
  if (search) {
    for (auto batch = search->order().next(); !batch.empty(); batch = search->order().next()) {
      run(batch);
    }
  } else {
    run(all_of(sweep));
  }
  progress.clear();
  const std::vector<ModelOutcome>& outcomes = runner.outcomes();
  const std::vector<ModelReport> reports = reports_of(outcomes);
  if (folder) write_model_folder(*folder, options, reports, folder_of(file, sweep, runner));
  const bool whole = say_reasons(outcomes, streams);
  if (options.json) {
    streams.out << all_json(reports) << '\n';
  } else if (search) {
    streams.out << fmt::format("{}: {} points, {} simulated; the best:\n\n", sweep.name,
                               sweep.points.size(), reports.size())
                << points_table(sweep, outcomes, search->order().front());
  } else {
    streams.out << fmt::format("{}: {} points\n\n", sweep.name, sweep.points.size())
                << points_table(sweep, outcomes, all_of(sweep));
  }
  if (search) return search->order().front().empty() ? kNotCompleted : kDone;
  return whole ? kDone : kNotCompleted;
}

}  // namespace lacuna
