// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/json_request_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/split.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

using Ordered = nlohmann::ordered_json;

}  // namespace

std::vector<std::string> keys_of_json_line(std::string_view line) {
  std::vector<std::string> keys;
  if (line.empty() || line.front() != '{') return keys;
  // keys of the object itself, without building what may be deep
  const auto take = [&](int depth, Ordered::parse_event_t event, Ordered& parsed) {
    if (depth == 1 && event == Ordered::parse_event_t::key)
      keys.push_back(parsed.get<std::string>());
    return depth <= 2;
  };
  if (Ordered::parse(line, take, false).is_discarded()) keys.clear();
  return keys;
}

JsonLines::JsonLines(std::string_view text, std::string path)
    : rest_(text), path_(std::move(path)), columns_(keys_of_json_line(first_line(text))) {}

bool JsonLines::next(CsvLine& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view text = trimmed(rest_.substr(0, end));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  line.number = ++number_;
  line.open_quote = 0;
  line.cells.clear();
  line.kind = text.empty() ? CsvLine::Kind::blank : CsvLine::Kind::cells;
  if (text.empty()) return true;
  const Ordered json = Ordered::parse(text, nullptr, false);
  std::size_t known = 0;
  for (const std::string& column : columns_) {
    if (!json.is_object() || !json.contains(column)) break;
    const Ordered& value = json[column];
    const bool word = value.is_string();
    const bool plain = word || value.is_number();
    line.cells.push_back({word ? value.get<std::string>() : plain ? value.dump() : "", 1});
    ++known;
  }
  if (known != columns_.size() || json.size() != known) {
    throw_problem(place(path_, number_), "E004", std::string(text),
                  fmt::format("an object with {}", fmt::join(columns_, ", ")));
  }
  return true;
}

}  // namespace lacuna
