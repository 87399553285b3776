// SPDX-License-Identifier: Apache-2.0
#include "sim/report/layouts/layout_gains.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/quantile.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

/// What one family's points at chosen layouts have in common.
struct FamilyGains {
  std::vector<double> gains;
  std::size_t no_plan = 0;         // that cannot be as planned
  std::vector<double> as_planned;  // errors, as shares
  std::vector<double> alone;
  std::vector<double> all;
};

double value_at(std::vector<double> values, double share) {
  sort_all(values);
  return quantile(values, share);
}

void add_error(const ValidationOutcome& outcome, const std::optional<double>& simulated,
               std::vector<double>& errors) {
  if (!outcome.published || !simulated || *outcome.published == 0) return;
  errors.push_back(std::abs(*simulated / *outcome.published - 1));
}

std::string median_of(const std::vector<double>& errors) {
  return errors.empty() ? "" : percent_text(value_at(errors, 0.5));
}

std::string factor(double value) { return fmt::format("{:.3f}", value); }

}  // namespace

std::string layout_gains_table(const Outcomes& outcomes) {
  std::vector<std::string> names;
  std::map<std::string, FamilyGains> families;
  for (const ValidationOutcome& outcome : outcomes) {
    if (!outcome.laid_out) continue;
    if (families.count(outcome.family) == 0) names.push_back(outcome.family);
    FamilyGains& family = families[outcome.family];
    const LaidOutPoint& laid = *outcome.laid_out;
    if (laid.planned == 0) {
      ++family.no_plan;
    } else {
      family.gains.push_back(static_cast<double>(laid.planned) / static_cast<double>(laid.cycles));
    }
    add_error(outcome, laid.as_planned, family.as_planned);
    add_error(outcome, laid.alone, family.alone);
    add_error(outcome, outcome.simulated, family.all);
  }
  if (names.empty()) return "";
  TextTable table({"layouts: times as fast as planned<", "points", "least", "25 %", "median",
                   "75 %", "95 %", "most", "no plan", "error, planned|%", "product alone|%",
                   "all laid out|%"});
  for (const std::string& name : names) {
    const FamilyGains& family = families[name];
    std::vector<std::string> row = {name, fmt::format("{}", family.gains.size() + family.no_plan)};
    for (const double share : {0.0, 0.25, 0.5, 0.75, 0.95, 1.0}) {
      row.push_back(family.gains.empty() ? "" : factor(value_at(family.gains, share)));
    }
    row.push_back(family.no_plan == 0 ? "" : fmt::format("{}", family.no_plan));
    for (const auto* const errors : {&family.as_planned, &family.alone, &family.all}) {
      row.push_back(median_of(*errors));
    }
    table.row(row);
  }
  return table.text();
}

std::string layout_gains_csv(const Outcomes& outcomes) {
  static constexpr std::array<const char*, 6> kShape = {"m", "k", "n", "density", "block", "mode"};
  std::vector<std::string> titles = {"id", "family"};
  append(titles, kShape);
  for (const char* const title : {"planned_cycles", "cycles", "times_as_fast", "published",
                                  "as_planned", "product_alone", "all", "layout", "from"}) {
    titles.emplace_back(title);
  }
  std::string text = csv_line(titles);
  bool some = false;
  for (const ValidationOutcome& outcome : outcomes) {
    if (!outcome.laid_out) continue;
    some = true;
    const LaidOutPoint& laid = *outcome.laid_out;
    std::vector<std::string> cells = {outcome.id, outcome.family};
    for (const char* const name : kShape) {
      cells.push_back(outcome.cell(name));
    }
    const bool planned = laid.planned != 0;
    const double gain = static_cast<double>(laid.planned) / static_cast<double>(laid.cycles);
    append(cells, as_cells(planned ? std::optional(laid.planned) : std::nullopt, laid.cycles,
                           planned ? fmt::format("{:.4f}", gain) : "", outcome.published,
                           laid.as_planned, laid.alone, outcome.simulated, laid.layout, laid.from));
    text += csv_line(cells);
  }
  return some ? text : "";
}

}  // namespace lacuna
