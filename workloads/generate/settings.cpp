// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
void refuse_setting(const std::string& key, const std::string& found, const std::string& allowed,
                    const std::string& hint) {
  if (found.empty()) refuse_request("--{} is missing; allowed: {}", key, allowed);
  refuse_request("--{}: found '{}'; allowed: {}{}", key, found, allowed,
                 hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint));
}

const std::string* Settings::text(const std::string& key) const { return find_value(pairs_, key); }

std::vector<std::string> Settings::all(const std::string& key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : pairs_) {
    if (name == key) values.push_back(value);
  }
  return values;
}

void Settings::integer(const std::string& key, std::uint64_t least, std::uint32_t& value) const {
  const std::string* given = text(key);
  if (given == nullptr) return;
  const auto read = parse_integer(*given, least, kMostSide);
  if (!read) refuse_setting(key, *given, integer_in(least, kMostSide));
  value = static_cast<std::uint32_t>(*read);
}

std::uint32_t Settings::required(const std::string& key, std::uint64_t least,
                                 const std::string& what) const {
  if (text(key) == nullptr) {
    refuse_request("--{} is missing: {}", key, what);
  }
  std::uint32_t value = 0;
  integer(key, least, value);
  return value;
}

void Settings::flag(const std::string& key, bool& value) const {
  std::uint32_t read = value ? 1 : 0;
  integer(key, 0, read);
  if (read > 1) refuse_setting(key, std::to_string(read), "0, 1");
  value = read == 1;
}

std::size_t Settings::choice(const std::string& key, const std::vector<std::string>& words,
                             std::size_t otherwise) const {
  const std::string* given = text(key);
  if (given == nullptr) return otherwise;
  if (const auto at = place_in(words, *given)) return *at;
  refuse_setting(key, *given, listed(words), nearest(*given, words));
}

void Settings::types(DType& dtype, Mode& mode) const {
  if (const std::string* given = text("dtype")) dtype = parse_dtype(*given, "--dtype");
  if (const std::string* given = text("mode")) mode = parse_mode(*given, "--mode");
}

void Settings::settle_weights(WorkloadTrace& trace) const {
  const bool dense = std::all_of(trace.ops.begin(), trace.ops.end(),
                                 [](const LayerOp& op) { return op.pattern.name == "dense"; });
  const std::string* const mode = text("mode");
  const std::string* const residency = text("residency");
  if (mode != nullptr && residency != nullptr) {
    const Residency meant = residency_of_kernel(parse_mode(*mode, "--mode"));
    const Residency asked = parse_residency(*residency, "--residency");
    const bool open = meant == Residency::automatic || asked == Residency::automatic;
    if (!open && meant != asked) {
      refuse_setting("residency", *residency,
                     fmt::format("auto or {}, where the kernel of --mode {} has its weights",
                                 word(meant), *mode));
    }
  }
  for (LayerOp& op : trace.ops) {
    if (!has_weights(op)) continue;
    if (mode != nullptr && dense) op.mode = parse_mode(*mode, "--mode");
    if (residency != nullptr) op.residency = parse_residency(*residency, "--residency");
  }
}

PatternSpec Settings::pattern() const {
  const auto given = [this](const char* key) {
    const std::string* const value = text(key);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  return make_pattern({given("pattern"), given("density"), given("block"), given("nm")})
      .value_or(PatternSpec{});
}

}  // namespace lacuna
