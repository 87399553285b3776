// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/verb_validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/locations.hpp"
#include "sim/driver/validate_points.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

namespace {

constexpr int kPointFailed = 1;
constexpr int kAboveLimit = 3;

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
  const std::vector<std::string> columns = {"m", "k", "n", "density", "block", "dtype", "mode"};
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

int run_validate(const ValidateOptions& options, const MachineTable& table, std::ostream& out,
                 std::ostream& progress) {
  const double limit = options.fail_above ? percent_of(*options.fail_above) : 0;
  check_columns(options.by);
  ValidationPlan plan(read_points(options.points), preset_names());
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
  const std::vector<ValidationOutcome> outcomes =
      plan.outcomes(simulate_runs(table, plan.runs(), options.run, say));
  const std::vector<ValidationSummary> families = summarise(outcomes);
  if (!families.empty()) print_section(out, validation_table(families));
  if (!options.by.empty()) {
    print_section(out, validation_table(summarise_by(outcomes, options.by)));
  }
  print_section(out, unsupported_table(outcomes));
  const std::string failed = failures(outcomes);
  print_section(out, failed);
  const std::string above = options.fail_above ? above_limit(families, limit) : "";
  print_section(out, above);
  if (!failed.empty()) return kPointFailed;
  return above.empty() ? 0 : kAboveLimit;
}

}  // namespace lacuna
