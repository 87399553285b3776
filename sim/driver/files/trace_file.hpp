// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The trace as text, checked by reading it back: RequestError if a row of it is wrong.
/// `folder` is where pattern files are named from.
std::string trace_text(const WorkloadTrace& trace, const std::string& folder,
                       const std::vector<std::string>& comments);

/// Writes a trace whole or not at all. RequestError if `path` is something else than a trace, or
/// cannot be written.
void write_trace_file(const std::string& path, const WorkloadTrace& trace,
                      const std::vector<std::string>& comments);

/// Writes `text` whole or not at all, over what is there. RequestError if it cannot be written.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace lacuna
