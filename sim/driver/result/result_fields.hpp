// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/energy_range.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

/// A cell of a result that may be empty is null in JSON.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

/// Writes the members of an object in the order in which a list names them. The same list, a
/// function of such a one and of the object, has JsonReader read them.
class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kReads = false;

  explicit JsonWriter(Json& json) : json_(json) {}
  Json& json() const { return json_; }

  template <class T>
  void operator()(const std::string& key, const T& member) const {
    json_[key] = member;
  }
  template <class T>
  void operator()(const std::string& key, const std::optional<T>& member) const {
    json_[key] = or_null(member);
  }
  /// Null if it is empty.
  void text(const char* key, const std::string& member) const { json_[key] = or_null(member); }
  /// Not there without a value.
  template <class T>
  void may(const char* key, const T& member) const {
    if (member != T()) json_[key] = member;
  }
  template <class T, class List>
  void object(const char* key, const T& member, const List& list) const {
    list(JsonWriter(json_[key] = Json::object()), member);
  }
  /// Not there if it `is_empty`.
  template <class T, class List>
  void object_unless(bool is_empty, const char* key, const T& member, const List& list) const {
    if (!is_empty) object(key, member, list);
  }
  template <class T, class List>
  void object_or_null(bool is_empty, const char* key, const T& member, const List& list) const {
    is_empty ? void(json_[key] = nullptr) : object(key, member, list);
  }
  template <class T, class List>
  void may(const char* key, const std::optional<T>& member, const List& list) const {
    if (member) object(key, *member, list);
  }
  template <class T, class List>
  void each(const char* key, const std::vector<T>& members, const List& list) const {
    Json& all = json_[key] = Json::array();
    for (const T& member : members) list(JsonWriter(all.emplace_back(Json::object())), member);
  }
  /// NAME, NAME_low and NAME_high, with `unit` at the end.
  void range(const std::string& name, const std::string& unit,
             const std::optional<EnergyRange>& range) const {
    (*this)(name + unit, range ? std::optional(range->nominal) : std::nullopt);
    (*this)(name + "_low" + unit, range ? std::optional(range->low) : std::nullopt);
    (*this)(name + "_high" + unit, range ? std::optional(range->high) : std::nullopt);
  }

 private:
  Json& json_;
};

/// Reads them. What nlohmann::json throws says what is missing.
class JsonReader {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kReads = true;

  explicit JsonReader(const Json& json) : json_(json) {}
  const Json& json() const { return json_; }

  template <class T>
  void operator()(const std::string& key, T& member) const {
    member = json_.at(key).get<T>();
  }
  template <class T>
  void operator()(const std::string& key, std::optional<T>& member) const {
    const Json& cell = json_.at(key);
    if (!cell.is_null()) member = cell.get<T>();
  }
  void operator()(const std::string& key, std::vector<double>& members) const {
    for (const Json& each : json_.at(key)) {
      members.push_back(each.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                       : each.get<double>());
    }
  }
  void text(const char* key, std::string& member) const {
    const Json& cell = json_.at(key);
    if (!cell.is_null()) member = cell.get<std::string>();
  }
  template <class T>
  void may(const char* key, T& member) const {
    if (json_.contains(key)) (*this)(key, member);
  }
  template <class T, class List>
  void object(const char* key, T& member, const List& list) const {
    list(JsonReader(json_.at(key)), member);
  }
  template <class T, class List>
  void object_unless(bool /*is_empty*/, const char* key, T& member, const List& list) const {
    if (json_.contains(key)) object(key, member, list);
  }
  template <class T, class List>
  void object_or_null(bool /*is_empty*/, const char* key, T& member, const List& list) const {
    if (!json_.at(key).is_null()) object(key, member, list);
  }
  template <class T, class List>
  void may(const char* key, std::optional<T>& member, const List& list) const {
    if (json_.contains(key)) object(key, member.emplace(), list);
  }
  template <class T, class List>
  void each(const char* key, std::vector<T>& members, const List& list) const {
    for (const Json& json : json_.at(key)) list(JsonReader(json), members.emplace_back());
  }
  void range(const std::string& name, const std::string& unit,
             std::optional<EnergyRange>& range) const {
    if (!json_.contains(name + unit) || json_.at(name + unit).is_null()) return;
    range.emplace();
    (*this)(name + unit, range->nominal);
    (*this)(name + "_low" + unit, range->low);
    (*this)(name + "_high" + unit, range->high);
  }

 private:
  const Json& json_;
};

}  // namespace lacuna
