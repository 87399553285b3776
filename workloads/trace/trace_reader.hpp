// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Reads a trace and checks all of it, the pattern files it names included. TraceError with a
/// line for each problem, in the order of the file, 50 at most:
/// "path:line:column: error CODE: column 'NAME': found 'TEXT'; allowed: WHAT".
WorkloadTrace read_trace(const std::string& path);

/// The same from text; `path` is used in messages and to find pattern files, which are not
/// opened without `check_files`.
WorkloadTrace parse_trace(std::string_view text, const std::string& path, bool check_files = true);

}  // namespace lacuna
