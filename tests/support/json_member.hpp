// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lacuna::test {

/// The first member `key`, however deep it stands in `json`; null if there is none.
inline nlohmann::ordered_json member_of(const nlohmann::ordered_json& json,
                                        const std::string& key) {
  if (json.is_object() && json.contains(key)) return json.at(key);
  if (!json.is_structured()) return nullptr;
  for (const nlohmann::ordered_json& part : json) {
    nlohmann::ordered_json found = member_of(part, key);
    if (!found.is_null()) return found;
  }
  return nullptr;
}

/// The same of a JSON text, which has to be one.
inline nlohmann::ordered_json member_of(const std::string& text, const std::string& key) {
  return member_of(nlohmann::ordered_json::parse(text), key);
}

}  // namespace lacuna::test
