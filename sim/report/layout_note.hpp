// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/result.hpp"

namespace lacuna {

/// The notes of a result that say how it was laid out, if that was chosen, and who chose.
inline constexpr const char* kLayoutNote = "layout";
inline constexpr const char* kLayoutSourceNote = "layout from";

/// The same of a machine that chooses by a rule of its own.
inline constexpr const char* kPlannedLayoutNote = "planned layout";

/// The text of a note of a result; empty if there is none.
inline std::string note_of(const OpResult& result, const char* name) {
  for (const auto& [key, text] : result.notes) {
    if (key == name) return text;
  }
  return {};
}

}  // namespace lacuna
