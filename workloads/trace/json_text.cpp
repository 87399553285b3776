// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

// Deeper nesting than this is no workload, and would use up the stack.
constexpr int kDeepest = 200;

bool is_too_deep(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kDeepest) return true;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

/// Notes the first key that an object has twice, of which a reader would take the last.
class RepeatedKey {
 public:
  bool operator()(int /*depth*/, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event == Event::key) {
      const auto key = parsed.get<std::string>();
      if (!open_.back().insert(key).second && found_.empty()) found_ = key;
    }
    return true;
  }
  const std::string& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string found_;
};

/// What stands there, up to the end of a word of letters or of the line.
std::string word_at(const std::string& text, std::size_t at) {
  constexpr std::size_t kLongest = 20;
  const std::string rest = text.substr(at, kLongest);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_letter);
  if (end != rest.begin()) return {rest.begin(), end};
  return rest.substr(0, rest.find_first_of("\r\n"));
}

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& path) {
  if (is_too_deep(text)) {
    throw_diagnostic(place(path), "E206", "JSON nested deeper than 200", "flatter JSON");
  }
  try {
    RepeatedKey repeated;
    nlohmann::json parsed = nlohmann::json::parse(text, std::ref(repeated));
    if (!repeated.found().empty()) {
      throw_diagnostic(fmt::format("{}: key '{}'", path, repeated.found()), "E209",
                       repeated.found() + " twice", "each key of an object once");
    }
    return parsed;
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    const std::size_t at = end == 0 ? 0 : end - 1;
    const std::string found = word_at(text, at);
    const bool of_python = found == "Infinity" || found == "NaN";
    throw_diagnostic(place_of_byte(path, text, at), "E206", found,
                     of_python ? "a number or null: JSON has no Infinity and no NaN, which Python "
                                 "writes all the same"
                               : "JSON");
  } catch (const nlohmann::json::exception& error) {  // such as a number that is too large
    throw_diagnostic(place(path), "E206", error.what(), "JSON");
  }
}

}  // namespace lacuna
