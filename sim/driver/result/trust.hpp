// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A row of blind_errors.csv, with the median of the absolute errors beside the signed ones.
struct BlindErrors {
  TrustErrors errors;
  double median_absolute = 0;
};

/// How far simulated points were from published ones that were not used in building the model.
class Trust {
 public:
  /// Reads blind_errors.csv, and trust_cycles.csv, which says of which families the cycles have
  /// changed since they were measured. RequestError says what is wrong with a file.
  explicit Trust(const std::filesystem::path& folder);

  const std::vector<BlindErrors>& all() const { return all_; }

  /// The errors of one family in one regime; null if there are none.
  const TrustErrors* find(const std::string& machine, const std::string& family,
                          const std::string& regime) const;

 private:
  std::vector<BlindErrors> all_;
};

/// Gives the rows of `records` that are of a measured family the interval in which nine of ten such
/// kernels lie. It is of their time, or of their speed-up if ratios were measured. Or it says that
/// none is known. To be called when all else is in the records.
void add_trust(Runs& records, const Trust& trust);

/// The lines below a table: whose errors its intervals are; empty if it has none.
std::string trust_notes(const Runs& records);

}  // namespace lacuna
