// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lacuna {

/// The value of a JSON text. TraceError E206 with line and column if it is none.
nlohmann::json parse_json(const std::string& text, const std::string& path);

}  // namespace lacuna
