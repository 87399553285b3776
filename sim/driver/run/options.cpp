// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

std::string check_word(const std::string& option, const std::string& found,
                       const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
  const std::string meant = nearest(found, allowed);
  throw RequestError(fmt::format("{}: found '{}'; allowed: {}{}", option, found,
                                 fmt::join(allowed, ", "),
                                 meant.empty() ? "" : "; did you mean '" + meant + "'?"));
}

std::uint64_t check_count(const std::string& option, const std::string& found, std::uint64_t least,
                          std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = found.data() + found.size();
  const auto [read_to, error] = std::from_chars(found.data(), end, value);
  if (error != std::errc{} || read_to != end || value < least || value > most) {
    throw RequestError(fmt::format("{}: found '{}'; allowed: a whole number from {} to {}", option,
                                   found, least, most));
  }
  return value;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    const bool plain =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [](char c) {
          return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 std::string("-_./:=,+@%").find(c) != std::string::npos;
        });
    std::string word = argument;
    if (!plain) {
      word = "'";
      for (const char c : argument) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
      word += "'";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

}  // namespace lacuna
