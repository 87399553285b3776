// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/layout/layout_search.hpp"

namespace lacuna {

/// Rows of a workload with all sources of their operands (find_sources), and who made these
/// (source_makers).
struct RelatedRows {
  WorkloadTrace workload;
  std::vector<std::vector<std::string>> makers;

  /// The number of a row; nothing if it is none of them.
  std::optional<std::size_t> row(const std::string& id) const;
};

/// Finds the layouts of all rows of a workload together, moves between them included: a search for
/// each row, in which the rows around it are as they were found so far, then of all layouts that
/// were simulated the choice in which the whole workload takes least (JointChoice). Rows that are
/// alike but for the elements their masks keep try what the first of them has found. By row;
/// nothing where there is no choice or no layout can be.
std::vector<std::optional<LayoutFound>> find_joint_layouts(const Machine& machine,
                                                           const RelatedRows& rows,
                                                           const MaskOf& mask_of,
                                                           std::uint64_t seed,
                                                           const SearchEffort& effort);

}  // namespace lacuna
