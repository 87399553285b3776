// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/files/version.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// What the arguments ask for: options to act on, or a text to print and be done (help, version).
struct CommandLine {
  Options options;
  std::optional<std::string> text;
};

/// Reads the arguments, the name of the program left out. RequestError names what is wrong and
/// the nearest verb or option.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace lacuna
