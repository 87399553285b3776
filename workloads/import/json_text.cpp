// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "workloads/trace/problem.hpp"

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

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& path) {
  if (is_too_deep(text)) {
    throw_problem(
        {place(path, 1, 1), "E206", "", "JSON nested deeper than 200", "flatter JSON", ""});
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    const std::string before = text.substr(0, end == 0 ? 0 : end - 1);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string::npos ? end : end - start - 1;
    throw_problem({place(path, line, std::max<std::size_t>(column, 1)), "E206", "",
                   text.substr(end == 0 ? 0 : end - 1, 20), "JSON", ""});
  } catch (const nlohmann::json::exception& error) {  // such as a number that is too large
    throw_problem({place(path, 1, 1), "E206", "", error.what(), "JSON", ""});
  }
}

}  // namespace lacuna
