// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/output.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/study.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/validate/inference.hpp"
#include "sim/driver/validate/kernels.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/power.hpp"
#include "sim/driver/validate/probes.hpp"
#include "sim/driver/validate/rules.hpp"
#include "sim/driver/validate/runner.hpp"
#include "sim/driver/validate/systems.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/validation_figure.hpp"
#include "sim/report/layouts/layout_figure.hpp"
#include "sim/report/layouts/layout_gains.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongestFile = 64U << 20U;

/// All points asked for, in the order of the files. An id may stand in one file only.
ValidationPoints read_points(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files(names.begin(), names.end());
  if (files.empty()) files = shipped_validation_points();
  ValidationPoints all;
  std::set<std::string> ids;
  for (const std::filesystem::path& file : files) {
    for (ValidationPoint& point : read_validation_points(file)) {
      if (!ids.insert(point.id).second) {
        throw TraceError(
            fmt::format("{}:{}: the id '{}' is given twice", point.file, point.line, point.id));
      }
      all.push_back(std::move(point));
    }
  }
  return all;
}

double percent_of(const std::string& text) {
  const double value = parsed_number<double>(text).value_or(-1);
  if (value >= 0 && value < 1e6) return value;
  throw refused("--fail-above = '{}' is not a percentage, such as 15", text);
}

void check_mask_rule(const std::string& rule) {
  const std::size_t colon = rule.find(':');
  const std::string word =
      check_word("--mask-rule", rule.substr(0, colon), {"uniform", "popsparse"});
  if (colon == std::string::npos) return;
  if (word == "uniform") {
    throw refused(
        "--mask-rule = '{}': uniform masks have the seed of --seed; only popsparse takes one",
        rule);
  }
  check_count("--mask-rule popsparse:SEED", rule.substr(colon + 1), 0, 0xffffffffU);
}

void check_columns(const std::vector<std::string>& by) {
  const std::vector<std::string> columns = {"m",     "k",     "n",    "density",
                                            "block", "dtype", "mode", "seen"};
  for (const std::string& column : by) {
    if (contains(columns, column)) continue;
    throw refused("--by '{}' is not one of {}{}", column, fmt::join(columns, ", "),
                  hint_of(column, columns));
  }
}

/// Families whose median error is above the limit, each as a line.
std::string above_limit(const std::vector<ValidationSummary>& summaries, double percent) {
  std::string lines;
  for (const ValidationSummary& family : summaries) {
    if (family.compared == 0 || 100 * family.median <= percent) continue;
    lines += fmt::format("{}: the median error, {:.1f} %, is above {} %\n", family.name,
                         100 * family.median, percent);
  }
  return lines;
}

std::string failures(const Outcomes& outcomes) {
  std::string lines;
  for (const ValidationOutcome& outcome : outcomes) {
    if (outcome.status != Status::failed) continue;
    lines += fmt::format("{} failed: {}\n", outcome.id, outcome.reason);
  }
  return lines;
}

void print_section(std::ostream& out, const std::string& text) {
  if (!text.empty()) out << text << '\n';
}

}  // namespace

namespace {

/// All that is said of the outcomes, once they are known.
struct Report {
  Outcomes outcomes;
  std::vector<ValidationSummary> families;
  std::vector<ValidationSummary> parts;  // by the columns asked for
  std::vector<PowerRow> powers;
};

ResultHeader header_of(const Options& options) {
  ResultHeader header;
  header.version = build_version();
  header.command = reproducing_arguments(options);
  header.workload = "validation points";
  std::vector<std::filesystem::path> files(options.points.begin(), options.points.end());
  if (files.empty()) files = shipped_validation_points();
  for (const std::filesystem::path& file : files) {
    // the shipped ones are named without their folder, which differs between installations
    const std::string name = options.points.empty() ? file.filename().string() : file.string();
    header.files.emplace_back(name, sha256(read_text(file, kLongestFile)));
  }
  return header;
}

/// Files and figures of the result, families first.
TableResult result_of(const Options& options, const Report& report) {
  TableResult result;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) result.files.emplace_back(name, text);
  };
  add("families.csv", families_csv(report.families));
  if (!options.by.empty()) add("by.csv", families_csv(report.parts));
  if (!report.powers.empty()) add("power.csv", power_csv(report.powers));
  add("layouts.csv", layout_gains_csv(report.outcomes));
  add("errors.csv", errors_csv(report.outcomes));
  result.figures = validation_figures(report.outcomes);
  append(result.figures, layout_figures(report.outcomes));
  return result;
}

/// What must be the same for kept simulations to be of this request.
Journal::Facts facts_of(const Options& options) {
  Journal::Facts facts = facts_of_arguments(options);
  for (const auto& [name, hash] : header_of(options).files) facts.emplace_back(name, hash);
  return facts;
}

/// Who simulates points that are no products. Each has those that the ones before it leave.
using Simulate = void (*)(const ValidationPoints&, const MachineTable&,
                          const ValidationRunSettings&, Outcomes&);
constexpr std::array<std::pair<const char*, Simulate>, 4> kSimulators = {
    {{"kernels and parameters", simulate_kernels},
     {"probes of wafers", simulate_wafer_probes},
     {"language models", simulate_inference},
     {"systems", simulate_systems}}};

/// What a simulator says of an outcome, in a line; other lines of its reason follow.
std::string text_of(std::size_t place, const ValidationOutcome& outcome) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", place, static_cast<int>(outcome.status),
                     cell_text(outcome.simulated), outcome.family, outcome.unread, outcome.reason);
}

void take(const std::string& text, Outcomes& outcomes) {
  const std::vector<std::string> cells = split(text, '\t');
  ValidationOutcome& outcome = outcomes.at(std::stoul(cells.at(0)));
  if (outcome.status != Status::unsupported) return;
  outcome.status = static_cast<Status>(std::stoi(cells.at(1)));
  if (!cells.at(2).empty()) outcome.simulated = std::stod(cells[2]);
  outcome.family = cells.at(3);
  outcome.unread = cells.at(4);
  outcome.reason = cells.at(5);
}

/// Asks all simulators, each in a child. SimulationError if Ctrl-C ended it.
void simulate_rest(const ValidationPoints& points, const MachineTable& table,
                   const ValidationRunSettings& run, const Options& options, const Streams& streams,
                   Outcomes& outcomes) {
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, kSimulators.size());
  std::array<std::vector<std::string>, kSimulators.size()> said;
  Jobs jobs;
  jobs.order = {2, 1, 3, 0};  // the longest first
  jobs.name = [](std::size_t simulator) { return std::string(kSimulators.at(simulator).first); };
  jobs.work = [&](std::size_t simulator, const Say& say) {
    Outcomes own = outcomes;
    kSimulators.at(simulator).second(points, table, run, own);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::string text = text_of(i, own[i]);
      if (text != text_of(i, outcomes[i])) say(text);
    }
  };
  jobs.heard = [&](std::size_t simulator, const std::string& text) {
    said.at(simulator).push_back(text);
  };
  jobs.ended = [](std::size_t, const JobEnd& end) { end.require_done(); };
  const bool whole = do_jobs(jobs, run.jobs, progress);
  progress.clear();
  if (!whole) throw SimulationError("interrupted; simulations are kept if --out was given");
  for (const std::vector<std::string>& texts : said) {
    for (const std::string& text : texts) take(text, outcomes);
  }
}

/// The points of the files, of the families that are asked for.
ValidationPlan plan_of(const Options& options) {
  ValidationPoints points = read_points(options.points);
  if (options.mask_rule) {
    check_mask_rule(*options.mask_rule);
    for (ValidationPoint& point : points) point.mask_rule = *options.mask_rule;
  }
  ValidationPlan plan(std::move(points), preset_names());
  if (plan.points().empty()) throw RequestError("--points: the files hold no point");
  const std::vector<std::string> families = plan.families();
  plan.keep_families(options.families);
  if (plan.points().empty()) {
    throw refused("--family: no family has any of '{}' in its name; there are\n  {}",
                  fmt::join(options.families, "', '"), fmt::join(families, "\n  "));
  }
  return plan;
}

/// All tables, one below the other.
std::string tables_text(const Options& options, const Report& report) {
  std::ostringstream out;
  print_section(out, validation_table(report.families, report.families.size()));
  if (!options.by.empty()) print_section(out, validation_table(report.parts, report.parts.size()));
  if (!report.powers.empty()) print_section(out, power_table(report.powers));
  print_section(out, layout_gains_table(report.outcomes));
  print_section(out, unsupported_table(report.outcomes));
  print_section(out, unread_table(report.outcomes));
  return out.str();
}

/// The first screen, or with --wide all but what failed, which is said last.
void print_report(const Options& options, const Report& report, std::ostream& out) {
  const auto count = [&](const auto& is) { return count_where(report.outcomes, is); };
  const std::string head = wrapped(validation_sentence(report.families)) + '\n';
  const std::string all = head + tables_text(options, report);
  if (options.wide || first_lines(all, false) == all) {
    out << all;
    return;
  }
  const auto& rows = options.by.empty() ? report.families : report.parts;
  const std::string foot = fmt::format(
      "\n{} points are not supported, {} say what nothing here depends on\n"
      "More: --wide (all families, why points are left out, power, layouts), --out DIR (files)\n",
      count([](const auto& each) { return each.status == Status::unsupported; }),
      count([](const auto& each) { return !each.unread.empty(); }));
  out << fitted_screen(
      head, rows.size(), [&](std::size_t n) { return validation_table(rows, n); },
      "largest medians", foot, false);
}

}  // namespace

int validate_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  const RunSettings settings = run_settings(options);
  ValidationRunSettings run;
  run.seed = settings.seed;
  run.settings = options.settings;
  // points have the layouts they were measured in, by their words
  run.layout = layout_request(options.layout.value_or("first"), options.no_cache);
  run.execution = settings.execution;
  run.jobs = static_cast<unsigned>(job_count(options));
  const double limit = options.fail_above ? percent_of(*options.fail_above) : 0;
  check_columns(options.by);
  const ValidationPlan plan = plan_of(options);
  const ValidationRuns runs(kinds, plan.runs(), run);
  std::optional<Output> output;
  if (options.out) {
    output.emplace(*options.out, options);
    if (options.resume &&
        is_finished(output->target(), header_of(options), "validation", streams.err)) {
      return kDone;
    }
  }
  PointStudy study({"", facts_of(options), {}, {}, false, false}, runs.points(),
                   {run.seed, run.execution}, options, streams);
  if (!study.begin()) return kDone;
  const std::vector<std::size_t> order = runs.order();
  if (!study.run(&order)) return kNotCompleted;
  Report report;
  report.outcomes = plan.outcomes(runs.results(study.records()));
  simulate_rest(plan.points(), kinds, run, options, streams, report.outcomes);
  report.powers = simulate_power(plan.points(), kinds, run, options.energy_table, report.outcomes);
  report.families = summarise(report.outcomes);
  report.parts = summarise_by(report.outcomes, options.by);
  print_report(options, report, streams.out);
  const std::string failed = failures(report.outcomes);
  print_section(streams.out, failed);
  if (output) output->write(header_of(options), result_of(options, report), streams);
  study.end();
  const std::string above = options.fail_above ? above_limit(report.families, limit) : "";
  print_section(streams.out, above);
  if (!failed.empty()) return kNotCompleted;
  return above.empty() ? kDone : kCheckFailed;
}

}  // namespace lacuna
