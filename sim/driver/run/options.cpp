// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/replaced.hpp"

namespace lacuna {

std::string check_word(const std::string& option, const std::string& found,
                       const std::vector<std::string>& allowed) {
  if (contains(allowed, found)) return found;
  const std::string meant = nearest(found, allowed);
  throw refused("{}: found '{}'; allowed: {}{}", option, found, fmt::join(allowed, ", "),
                meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

std::uint64_t check_count(const std::string& option, const std::string& found, std::uint64_t least,
                          std::uint64_t most) {
  const auto value = parsed_number<std::uint64_t>(found);
  if (value && *value >= least && *value <= most) return *value;
  throw refused("{}: found '{}'; allowed: a whole number from {} to {}", option, found, least,
                most);
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() && all_of(argument, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             std::string("-_./:=,+@%").find(c) != std::string::npos;
    });
    const std::string word = plain ? argument : "'" + replaced(argument, "'", "'\\''") + "'";
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

}  // namespace lacuna
