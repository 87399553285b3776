// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/json_request_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "workloads/trace/diagnostic.hpp"
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

JsonLines::JsonLines(std::string_view text, const std::string& path)
    : lines_(text, path), path_(path), columns_(keys_of_json_line(first_line(text))) {}

bool JsonLines::next_cells(CsvLine& line) {
  std::string_view text;
  while (text.empty()) {
    if (!lines_.next_line()) return false;
    text = trimmed(lines_.line());
  }
  line.number = lines_.line_number();
  line.cells.clear();
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
    throw_diagnostic(place(path_, line.number), "E004", std::string(text),
                     fmt::format("an object with {}", fmt::join(columns_, ", ")));
  }
  return true;
}

}  // namespace lacuna
