// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {

/// Runs the program with the machines and presets that ship.
Ran run_real(const std::vector<std::string>& arguments);

/// A line as a shell would split it at blanks.
Ran run_real(const std::string& line);

/// The number behind the first key of that name in what a run with `--json` printed; -1 if there is
/// none.
double number(const Ran& ran, const std::string& name);

/// The bytes of a file; nothing if it is not there.
std::string file_text(const std::string& path);

/// Cycles of each row in the summary of a result folder, by id.
std::map<std::string, std::uint64_t> cycles_by_row(const std::string& folder);

/// If $LACUNA_RENEW is set, writes `text` to `path` in the source tree; false otherwise.
bool renew(const std::string& path, const std::string& text);

}  // namespace lacuna::test
