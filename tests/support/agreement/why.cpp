// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/why.hpp"

#include <nlohmann/json.hpp>

#include "sim/driver/result/result_why.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

Why parsed(const nlohmann::ordered_json& json) {
  Why why;
  kWhyFields(JsonReader(json), why);
  return why;
}

}  // namespace

std::optional<Why> why_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.end(), {"--why", "--json", "--quiet"});
  const auto printed = nlohmann::ordered_json::parse(run_real(words).out, nullptr, false);
  if (printed.is_discarded()) return std::nullopt;
  if (printed.is_object() && printed.contains("why")) return parsed(printed.at("why"));
  for (const auto& row : printed) {
    if (row.contains("why")) return parsed(row.at("why"));
  }
  return std::nullopt;
}

}  // namespace lacuna::test
