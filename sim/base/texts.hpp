// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lacuna {

inline bool starts_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

inline bool ends_with(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

}  // namespace lacuna
