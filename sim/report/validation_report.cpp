// SPDX-License-Identifier: Apache-2.0
#include "sim/report/validation_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

#include "sim/base/quantile.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// Farther from 1 than this, a published ratio says which side wins.
constexpr double kDecided = 0.1;

void count(ValidationSummary& summary, const ValidationOutcome& outcome) {
  ++summary.points;
  if (!outcome.published) {
    ++summary.blank;
    if (outcome.status == Status::out_of_memory) ++summary.blank_predicted;
    return;
  }
  if (!outcome.simulated) {
    ++summary.missing;
    return;
  }
  ++summary.compared;
  if (outcome.ratio && std::abs(*outcome.published - 1) > kDecided) {
    ++summary.decided;
    if ((*outcome.published > 1) == (*outcome.simulated > 1)) ++summary.same_side;
  }
}

ValidationSummary summary_of(const std::string& name,
                             const std::vector<const ValidationOutcome*>& outcomes) {
  ValidationSummary summary;
  summary.name = name;
  std::vector<double> errors;
  for (const ValidationOutcome* const outcome : outcomes) {
    count(summary, *outcome);
    if (const std::optional<double> error = outcome->relative_error()) {
      errors.push_back(std::abs(*error));
      summary.bias += *error;
    }
  }
  if (errors.empty()) return summary;
  sort_all(errors);
  summary.bias /= static_cast<double>(errors.size());
  summary.median = quantile(errors, 0.5);
  summary.p95 = quantile(errors, 0.95);
  summary.worst = errors.back();
  return summary;
}

/// "7 of 8", or nothing of nothing.
std::string part(std::size_t some, std::size_t all) {
  return all == 0 ? "" : fmt::format("{} of {}", some, all);
}

}  // namespace

std::optional<double> ValidationOutcome::relative_error() const {
  if (!published || !simulated || *published == 0) return std::nullopt;
  return (*simulated - *published) / *published;
}

std::string ValidationOutcome::cell(const std::string& column) const {
  const auto* const found =
      find_where(cells, [&](const auto& each) { return each.first == column; });
  return found == nullptr ? "" : found->second;
}

std::vector<ValidationSummary> summarise_by(const Outcomes& outcomes,
                                            const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<const ValidationOutcome*>> groups;
  for (const ValidationOutcome& outcome : outcomes) {
    if (outcome.status == Status::unsupported) continue;
    std::string name = outcome.family;
    for (const std::string& column : columns) {
      name += fmt::format(", {} {}", column, outcome.cell(column));
    }
    std::vector<const ValidationOutcome*>& group = groups[name];
    if (group.empty()) names.push_back(name);
    group.push_back(&outcome);
  }
  std::vector<ValidationSummary> summaries;
  summaries.reserve(names.size());
  for (const std::string& name : names) summaries.push_back(summary_of(name, groups[name]));
  return summaries;
}

std::vector<ValidationSummary> summarise(const Outcomes& outcomes) {
  return summarise_by(outcomes, {});
}

std::string validation_sentence(const std::vector<ValidationSummary>& summaries) {
  std::size_t points = 0;
  std::size_t compared = 0;
  std::vector<double> medians;
  const ValidationSummary* worst = nullptr;
  for (const ValidationSummary& each : summaries) {
    points += each.points;
    compared += each.compared;
    if (each.compared == 0) continue;
    medians.push_back(each.median);
    if (worst == nullptr || each.median > worst->median) worst = &each;
  }
  if (worst == nullptr) return fmt::format("{} points, none with a number to compare.", points);
  sort_all(medians);
  return fmt::format(
      "{} of {} points compared: the median error of a family is {} %, at most {} % ({}).",
      compared, points, percent_text(quantile(medians, 0.5)), percent_text(worst->median),
      worst->name);
}

std::string validation_table(const std::vector<ValidationSummary>& summaries, std::size_t most) {
  TextTable table({"family<", "points", "compared", "median|%", "95th|%", "worst|%", "bias|%",
                   "right side of 1", "no result|predicted", "missing"});
  const auto larger = [&](std::size_t a, std::size_t b) {
    return summaries[a].median > summaries[b].median;
  };
  for (const std::size_t i : first_by(summaries.size(), most, larger)) {
    const ValidationSummary& s = summaries[i];
    const bool some = s.compared > 0;
    const auto percent = [&](double share) { return some ? percent_text(share) : ""; };
    table.row(as_cells(s.name, s.points, s.compared, percent(s.median), percent(s.p95),
                       percent(s.worst), some ? fmt::format("{:+.1f}", 100 * s.bias) : "",
                       part(s.same_side, s.decided), part(s.blank_predicted, s.blank),
                       s.missing == 0 ? "" : fmt::format("{}", s.missing)));
  }
  return table.text();
}

namespace {

/// A line for each text that `text` gives, with the number and ids of its outcomes; those for which
/// it gives none are left out.
std::string grouped_table(const Outcomes& outcomes, const char* count, const char* what,
                          const std::function<std::string(const ValidationOutcome&)>& text) {
  std::vector<std::string> texts;
  std::map<std::string, std::vector<std::string>> ids;
  for (const ValidationOutcome& outcome : outcomes) {
    const std::string key = text(outcome);
    if (key.empty()) continue;
    std::vector<std::string>& group = ids[key];
    if (group.empty()) texts.push_back(key);
    group.push_back(outcome.id);
  }
  if (texts.empty()) return "";
  TextTable table({count, "first<", "last<", what + std::string("<")});
  for (const std::string& key : texts) {
    const std::vector<std::string>& group = ids[key];
    table.row({fmt::format("{}", group.size()), group.front(), group.back(), key});
  }
  return table.text();
}

}  // namespace

std::string unsupported_table(const Outcomes& outcomes) {
  return grouped_table(outcomes, "unsupported", "reason", [](const ValidationOutcome& outcome) {
    return outcome.status == Status::unsupported ? outcome.reason : "";
  });
}

std::string unread_table(const Outcomes& outcomes) {
  return grouped_table(outcomes, "points", "parameters that nothing here depends on",
                       [](const ValidationOutcome& outcome) { return outcome.unread; });
}

std::string errors_csv(const Outcomes& outcomes) {
  std::vector<std::string> titles = {"id",        "system",    "workload",       "metric",
                                     "published", "simulated", "relative_error", "status",
                                     "reason",    "unit",      "family"};
  if (!outcomes.empty()) {
    for (const auto& [name, value] : outcomes.front().cells) titles.push_back(name);
  }
  std::string text = csv_line(titles);
  for (const ValidationOutcome& outcome : outcomes) {
    std::vector<std::string> cells =
        as_cells(outcome.id, outcome.system, outcome.workload, outcome.metric, outcome.published,
                 outcome.simulated, outcome.relative_error(), status_name(outcome.status),
                 outcome.reason, outcome.unit, outcome.family);
    for (const auto& [name, value] : outcome.cells) cells.push_back(value);
    text += csv_line(cells);
  }
  return text;
}

std::string families_csv(const std::vector<ValidationSummary>& summaries) {
  std::string text = csv_line({"family", "points", "compared", "median", "p95", "worst", "bias",
                               "decided", "same_side", "blank", "blank_predicted", "missing"});
  for (const ValidationSummary& s : summaries) {
    const auto share = [&](double value) {
      return s.compared == 0 ? std::nullopt : std::optional(value);
    };
    text += csv_row(s.name, s.points, s.compared, share(s.median), share(s.p95), share(s.worst),
                    share(s.bias), s.decided, s.same_side, s.blank, s.blank_predicted, s.missing);
  }
  return text;
}

}  // namespace lacuna
