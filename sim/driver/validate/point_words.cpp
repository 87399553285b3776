// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/point_words.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/parsed_number.hpp"

namespace lacuna {

bool PointWords::has(const char* key) const {
  read_.insert(key);
  return point_.parameters.count(key) != 0;
}

const std::string& PointWords::text(const char* key) const {
  read_.insert(key);
  const auto found = point_.parameters.find(key);
  if (found == point_.parameters.end()) {
    throw Unsupported{fmt::format("its parameters lack '{}'", key)};
  }
  return found->second;
}

std::uint32_t PointWords::parse(const std::string& word, const char* key,
                                std::uint32_t least) const {
  const auto value = parsed_number<std::uint32_t>(word);
  if (value && *value >= least) return *value;
  throw Unsupported{
      fmt::format("{} = '{}' is not a whole number from {} on", key, text(key), least)};
}

std::uint32_t PointWords::number(const char* key) const { return parse(text(key), key, 1); }

std::uint32_t PointWords::number(const char* key, std::uint32_t otherwise) const {
  return has(key) ? number(key) : otherwise;
}

std::uint32_t PointWords::count(const char* key) const { return parse(text(key), key, 0); }

double PointWords::rate(const char* key) const {
  const auto value = parsed_number<double>(text(key));
  if (value && std::isfinite(*value) && *value > 0) return *value;
  throw Unsupported{fmt::format("{} = '{}' is not a number above 0", key, text(key))};
}

std::pair<std::uint32_t, std::uint32_t> PointWords::sides(const char* key) const {
  const std::string& word = text(key);
  const std::size_t cross = word.find('x');
  if (cross == std::string::npos) {
    throw Unsupported{fmt::format("{} = '{}' is not COLUMNSxROWS", key, word)};
  }
  return {parse(word.substr(0, cross), key, 1), parse(word.substr(cross + 1), key, 1)};
}

std::pair<std::uint32_t, std::uint32_t> PointWords::span(const char* key) const {
  const std::string& word = text(key);
  const std::size_t dots = word.find("..");
  if (dots == std::string::npos) return {parse(word, key, 1), parse(word, key, 1)};
  return {parse(word.substr(0, dots), key, 1), parse(word.substr(dots + 2), key, 1)};
}

void PointWords::require(std::initializer_list<const char*> metrics) const {
  for (const char* const allowed : metrics) {
    if (point_.metric == allowed) return;
  }
  metric();
}

void PointWords::metric() const {
  throw Unsupported{fmt::format("metric '{}' of workload '{}'", point_.metric, point_.workload)};
}

void PointWords::unknown(const char* key) const {
  throw Unsupported{fmt::format("{} = '{}' of workload '{}'", key, text(key), point_.workload)};
}

std::string PointWords::unread() const {
  std::string words;
  for (const auto& [key, value] : point_.parameters) {
    if (read_.count(key) == 0) words += fmt::format("{}'{}'", words.empty() ? "" : ", ", key);
  }
  return words;
}

}  // namespace lacuna
