// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_size.hpp"

#include <cstddef>
#include <map>
#include <utility>

namespace lacuna {

nlohmann::ordered_json take_explanations(nlohmann::ordered_json& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::map<std::string, std::size_t> known;
  for (nlohmann::ordered_json& run : runs) {
    for (nlohmann::ordered_json& op : run.at("operations")) {
      if (!op.contains("explanation")) continue;
      const auto [place, is_new] = known.emplace(op.at("explanation").dump(), list.size());
      if (is_new) list.push_back(std::move(op.at("explanation")));
      op.erase("explanation");
      op["explained_by"] = place->second;
    }
  }
  return list;
}

std::string with_short_lists(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      result += c;
      result += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const std::size_t end = c == '[' && !in_string
                                ? text.find_first_not_of("0123456789+-.eEnul, \n", i + 1)
                                : std::string::npos;
    if (end == std::string::npos || text[end] != ']') {
      result += c;
      continue;
    }
    for (; i < end; ++i) {
      if (text[i] != ' ' && text[i] != '\n') result += text[i];
    }
    result += ']';
  }
  return result;
}

}  // namespace lacuna
