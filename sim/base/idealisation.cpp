// SPDX-License-Identifier: Apache-2.0
#include "sim/base/idealisation.hpp"

namespace lacuna {

bool is_idealisation(const std::string& path, const std::string& value) {
  if (value == "idealised" || value == "free") return true;
  const bool without =
      path.rfind("without.", 0) == 0 || path.find(".without.") != std::string::npos;
  const std::string free = "_free";
  const bool costs_nothing =
      path.size() > free.size() && path.compare(path.size() - free.size(), free.size(), free) == 0;
  return (without || costs_nothing) && value == "true";
}

}  // namespace lacuna
