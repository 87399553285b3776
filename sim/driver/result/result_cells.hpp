// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lacuna {

/// A cell of a result that may be empty is null in JSON.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

template <class T>
void take(const nlohmann::ordered_json& json, const char* key, std::optional<T>& value) {
  const nlohmann::ordered_json& cell = json.at(key);
  if (!cell.is_null()) value = cell.get<T>();
}

inline void take(const nlohmann::ordered_json& json, const char* key, std::string& text) {
  const nlohmann::ordered_json& cell = json.at(key);
  if (!cell.is_null()) text = cell.get<std::string>();
}

template <class T>
void take(const nlohmann::ordered_json& json, const char* key, T& value) {
  value = json.at(key).get<T>();
}

}  // namespace lacuna
