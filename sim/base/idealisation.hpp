// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// Whether a parameter of this path and value takes a cost away that every hardware has. That is a
/// flag of the group `without`, llm.list_free, or the word `idealised` or `free` of a choice. A run
/// may have it, to see what the cost is worth; no description of a machine may.
bool is_idealisation(const std::string& path, const std::string& value);

}  // namespace lacuna
