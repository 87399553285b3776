// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {

/// Runs the program with the machines and presets that ship.
Ran run_real(const std::vector<std::string>& arguments);

/// A line as a shell would split it at blanks.
Ran run_real(const std::string& line);

/// The bytes of a file; nothing if it is not there.
std::string file_text(const std::string& path);

/// If $LACUNA_RENEW is set, writes `text` to `path` in the source tree; false otherwise.
bool renew(const std::string& path, const std::string& text);

}  // namespace lacuna::test
