// SPDX-License-Identifier: Apache-2.0
#include "sim/base/idealisation.hpp"

namespace lacuna {

bool is_idealisation(const std::string& path, const std::string& value) {
  if (value == "idealised" || value == "free") return true;
  const bool without =
      path.rfind("without.", 0) == 0 || path.find(".without.") != std::string::npos;
  const bool no_lists = path.find("llm.list_free") != std::string::npos;
  return (without || no_lists) && value == "true";
}

}  // namespace lacuna
