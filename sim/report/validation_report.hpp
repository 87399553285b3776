// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

/// What a layout that was chosen for a point's product (--layout) makes of it.
struct LaidOutPoint {
  std::string layout;
  std::string from;
  Cycle cycles = 0;
  Cycle planned = 0;  // as the machine plans it; 0: it cannot be

  // what would be simulated with everything as planned, and, of ratios, with that which the product
  // is compared with as planned; nothing: it cannot be
  std::optional<double> as_planned = {};
  std::optional<double> alone = {};
};

/// One published number and ours.
struct ValidationOutcome {
  std::string id;
  std::string system;
  std::string workload;
  std::string metric;
  std::string unit;
  std::string family;
  std::optional<double> published;  // none: the source has no result
  std::optional<double> simulated;  // if the status is ok
  Status status = Status::ok;
  std::string reason;

  /// A ratio of two machines or methods, on one side of 1 or the other.
  bool ratio = false;

  /// Further cells of errors.csv, by column, the same columns in each outcome.
  std::vector<std::pair<std::string, std::string>> cells;

  /// What the point says beyond what its workload's rule asks for, "'a', 'b'": the number may be of
  /// something else. Empty: nothing.
  std::string unread = {};

  std::optional<LaidOutPoint> laid_out = {};  // of points of one product

  /// The further cell of a column; empty if there is none.
  std::string cell(const std::string& column) const;

  /// (simulated - published) / published, if there are both.
  std::optional<double> relative_error() const;
};
using Outcomes = std::vector<ValidationOutcome>;

/// What a family of outcomes has in common.
struct ValidationSummary {
  std::string name;
  std::size_t points = 0;    // all that could be run
  std::size_t compared = 0;  // with both numbers
  double median = 0;         // of the absolute relative errors, as a share
  double p95 = 0;            // the 95th percentile of the same, between neighbours linearly
  double worst = 0;
  double bias = 0;  // mean of the signed relative errors

  std::size_t decided = 0;    // ratios published more than 10 % away from 1
  std::size_t same_side = 0;  // of these, the simulated one on the same side of 1

  std::size_t blank = 0;            // published as having no result
  std::size_t blank_predicted = 0;  // of these, out of memory here too
  std::size_t missing = 0;          // published, but out of memory or failed here
};

/// Outcomes by family, in the order of their first point; unsupported ones are left out.
std::vector<ValidationSummary> summarise(const Outcomes& outcomes);

/// The same with the family parted by further cells, such as {"n", "block"}: each combination is
/// a family of its own.
std::vector<ValidationSummary> summarise_by(const Outcomes& outcomes,
                                            const std::vector<std::string>& columns);

/// How large errors are, in a sentence.
std::string validation_sentence(const std::vector<ValidationSummary>& summaries);

/// Summaries as a table for a terminal, of those with the largest medians so many.
std::string validation_table(const std::vector<ValidationSummary>& summaries, std::size_t most);

/// The unsupported points: one line for each reason, with their number and ids.
std::string unsupported_table(const Outcomes& outcomes);

/// The points with parameters that nobody read, likewise: one line for each set of them.
std::string unread_table(const Outcomes& outcomes);

/// The text of errors.csv: one row per outcome, in their order.
std::string errors_csv(const Outcomes& outcomes);

/// The text of families.csv.
std::string families_csv(const std::vector<ValidationSummary>& summaries);

}  // namespace lacuna
