// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/layout/climb.hpp"

namespace lacuna {

/// The layouts of rows that follow each other: what all have in common, and the rest by row.
/// Nothing where there is no choice or no layout can be.
struct RowsFound {
  Layout shared;
  std::vector<std::optional<LayoutFound>> rows;
};

/// A machine on which a workload is run with what its rows share of a layout, and the rows as they
/// are related there: with all sources of their operands (find_sources), and who made these
/// (source_makers).
struct RelatedOn {
  Layout words;  // of the rule, for all rows
  std::unique_ptr<Machine> machine;
  WorkloadTrace workload;
  std::vector<std::vector<std::string>> makers;

  /// The number of a row; nothing if it is none of them.
  std::optional<std::size_t> row(const std::string& id) const;
};

/// Finds the layouts of all rows together, moves between them included. It takes the way to share
/// the machine in which the rows take least. From there each row climbs, with the rows around it as
/// they were found so far. Rows that are alike but for the elements of their masks try what the
/// first of them has found.
RowsFound climb_rows(const std::vector<RelatedOn>& ways, const MaskOf& mask_of, std::uint64_t seed,
                     const ClimbEffort& effort);

}  // namespace lacuna
