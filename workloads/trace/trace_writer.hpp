// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The trace as CSV text that reads back as the same rows: columns that all rows leave at their
/// default are left out, pattern files are named from `folder`. `comments` follow the version.
std::string format_trace(const WorkloadTrace& trace, const std::string& folder = "",
                         const std::vector<std::string>& comments = {});

}  // namespace lacuna
