// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lacuna {

/// Moves the explanations of operations into a list of their own, equal ones once; an operation
/// then has the index of its own.
nlohmann::ordered_json take_explanations(nlohmann::ordered_json& runs);

/// A dump with a line for each element has lists of numbers in one line here: there are long ones.
std::string with_short_lists(const std::string& text);

}  // namespace lacuna
