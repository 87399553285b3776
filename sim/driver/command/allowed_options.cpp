// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/allowed_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna {

// No value of an option begins with two dashes: the command line refuses one.
std::vector<std::string> given_options(const Options& options) {
  std::vector<std::string> names;
  for (const std::string& argument : options.arguments) {
    if (argument == "--") break;  // only words follow
    if (argument.rfind("--", 0) == 0) names.push_back(argument.substr(0, argument.find('=')));
  }
  return names;
}

void allow_options(const Options& options, const std::vector<std::string>& allowed,
                   const std::string& why) {
  for (const std::string& name : given_options(options)) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    throw RequestError(fmt::format(why, name));
  }
}

}  // namespace lacuna
