// SPDX-License-Identifier: Apache-2.0
#include "sim/base/split.hpp"

namespace lacuna {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace lacuna
