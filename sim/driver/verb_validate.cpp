// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/verb_validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/command_line.hpp"
#include "sim/driver/locations.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/driver/sha256.hpp"
#include "sim/driver/validate_kernels.hpp"
#include "sim/driver/validate_points.hpp"
#include "sim/driver/validate_systems.hpp"
#include "sim/driver/verbs.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/validation_figure.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongestFile = 64U << 20U;

/// All points asked for, in the order of the files. An id may stand in one file only.
std::vector<ValidationPoint> read_points(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files(names.begin(), names.end());
  if (files.empty()) files = shipped_validation_points();
  std::vector<ValidationPoint> all;
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
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0 && value < 1e6)) {
    throw RequestError(fmt::format("--fail-above = '{}' is not a percentage, such as 15", text));
  }
  return value;
}

void check_columns(const std::vector<std::string>& by) {
  const std::vector<std::string> columns = {"m",     "k",     "n",    "density",
                                            "block", "dtype", "mode", "seen"};
  for (const std::string& column : by) {
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) continue;
    throw RequestError(fmt::format("--by '{}' is not one of {}; did you mean '{}'?", column,
                                   fmt::join(columns, ", "), nearest(column, columns)));
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

std::string failures(const std::vector<ValidationOutcome>& outcomes) {
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
  std::vector<ValidationOutcome> outcomes;
  std::vector<ValidationSummary> families;
  std::vector<ValidationSummary> parts;  // by the columns asked for
};

/// Files and figures of the result. Without gnuplot the numbers are written all the same, and
/// SimulationError says what is missing.
void write_report(ResultFolder& folder, const ValidateOptions& options, const Report& report) {
  ResultHeader header;
  header.version = version();
  header.command = options.command;
  header.workload = "validation points";
  std::vector<std::filesystem::path> files(options.points.begin(), options.points.end());
  if (files.empty()) files = shipped_validation_points();
  for (const std::filesystem::path& file : files) {
    // the shipped ones are named without their folder, which differs between installations
    const std::string name = options.points.empty() ? file.filename().string() : file.string();
    header.files.emplace_back(name, sha256(read_text(file, kLongestFile)));
  }
  folder.begin();
  folder.write("errors.csv", errors_csv(report.outcomes));
  folder.write("families.csv", families_csv(report.families));
  if (!options.by.empty()) folder.write("by.csv", families_csv(report.parts));
  folder.write("result.json", result_text(header, {}));
  std::string missing;
  try {
    draw_figures(validation_figures(report.outcomes), (folder.temporary() / "figures").string());
  } catch (const SimulationError& error) {
    missing = error.what();
  }
  folder.commit();
  if (!missing.empty()) throw SimulationError(missing);
}

/// Points that are no products, but for which there is a kernel or a parameter.
void measure_others(const std::vector<ValidationPoint>& points, const MachineTable& table,
                    const ValidationRunSettings& run, std::vector<ValidationOutcome>& outcomes) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (outcomes[i].status != Status::unsupported) continue;
    const std::optional<double> measured =
        measure_point(points[i], table, run.settings, run.execution.engine);
    if (!measured) continue;
    outcomes[i].status = Status::ok;
    outcomes[i].reason.clear();
    outcomes[i].simulated = *measured;
    const bool stream = points[i].workload.find("STREAM") == 0;
    outcomes[i].family = fmt::format(
        "ipu {}", stream ? "STREAM triad"
                         : (points[i].workload == "hardware parameter" ? points[i].workload
                                                                       : "kernels and latencies"));
  }
}

}  // namespace

int run_validate(const ValidateOptions& options, const MachineTable& table, std::ostream& out,
                 std::ostream& progress) {
  const double limit = options.fail_above ? percent_of(*options.fail_above) : 0;
  check_columns(options.by);
  ValidationPlan plan(read_points(options.points), preset_names());
  if (plan.points().empty()) throw RequestError("--points: the files hold no point");
  plan.keep_families(options.families);
  if (plan.points().empty()) {
    throw RequestError(fmt::format("--family: no family has any of '{}' in its name",
                                   fmt::join(options.families, "', '")));
  }
  const auto say = [&](std::size_t done, std::size_t all) {
    // a line for each tenth of the work
    if (options.quiet || done * 10 / all == (done - 1) * 10 / all) return;
    progress << fmt::format("lacuna: {} of {} simulations\n", done, all) << std::flush;
  };
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  Report report;
  report.outcomes = plan.outcomes(simulate_runs(table, plan.runs(), options.run, say));
  measure_others(plan.points(), table, options.run, report.outcomes);
  measure_systems(plan.points(), table, options.run, report.outcomes);
  report.families = summarise(report.outcomes);
  report.parts = summarise_by(report.outcomes, options.by);
  if (!report.families.empty()) print_section(out, validation_table(report.families));
  if (!options.by.empty()) print_section(out, validation_table(report.parts));
  print_section(out, unsupported_table(report.outcomes));
  const std::string failed = failures(report.outcomes);
  print_section(out, failed);
  if (folder) write_report(*folder, options, report);
  const std::string above = options.fail_above ? above_limit(report.families, limit) : "";
  print_section(out, above);
  if (!failed.empty()) return kNotCompleted;
  return above.empty() ? kDone : kCheckFailed;
}

}  // namespace lacuna
