// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/request_columns.hpp"

#include <algorithm>
#include <ctime>

#include "sim/base/contains.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

using Role = RequestColumn::Role;

/// Decimals behind a point as billionths, cut off; more than nine of which the rest is not zero are
/// none.
bool take_fraction(std::string_view& text, std::uint64_t& billionths) {
  constexpr std::size_t kPlaces = 9;
  billionths = 0;
  if (text.empty() || text[0] != '.') return true;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  std::string digits(text.substr(1, end - 1));
  text.remove_prefix(end);
  if (digits.empty() || digits.find_first_not_of('0', kPlaces) < digits.size()) return false;
  digits.resize(kPlaces, '0');
  const auto value = parse_integer(digits, 0, 999'999'999);
  billionths = value.value_or(0);
  return value.has_value();
}

}  // namespace

const std::vector<RequestFormat>& request_formats() {
  static const std::vector<RequestFormat> kFormats = {
      {"Lacuna", {{"arrival", Role::seconds}, {"prompt", Role::prompt}, {"output", Role::output}}},
      {"ONNXim",
       {{"time", Role::unknown_time},
        {"prompt_length", Role::prompt},
        {"target_length", Role::output},
        {"cached_length", Role::cached}}},
      {"Azure LLM inference",
       {{"TIMESTAMP", Role::date},
        {"ContextTokens", Role::prompt},
        {"GeneratedTokens", Role::output}}},
      {"vidur",
       {{"num_prefill_tokens", Role::prompt},
        {"num_decode_tokens", Role::output},
        {"arrived_at", Role::seconds, false},
        {"num_total_tokens", Role::sum, false},
        {"pd_ratio", Role::idle, false},
        {"user_id", Role::idle, false},
        {"", Role::idle, false}}},  // the number of the row
      {"BurstGPT",
       {{"Timestamp", Role::seconds},
        {"Request tokens", Role::prompt},
        {"Response tokens", Role::output, true, true},
        {"Total tokens", Role::sum, false},
        {"Model", Role::idle, false},
        {"Log Type", Role::idle, false},
        {"Session ID", Role::idle, false},
        {"Elapsed time", Role::idle, false}}},
      {"Mooncake",
       {{"timestamp", Role::milliseconds},
        {"input_length", Role::prompt},
        {"output_length", Role::output},
        {"hash_ids", Role::idle, false}}},
      {"LLMServingSim",
       {{"input_toks", Role::prompt},
        {"output_toks", Role::output},
        {"arrival_time_ns", Role::nanoseconds},
        {"input_tok_ids", Role::idle, false},
        {"output_tok_ids", Role::idle, false}}},
  };
  return kFormats;
}

const RequestFormat* find_request_format(const std::vector<std::string>& names) {
  for (const RequestFormat& format : request_formats()) {
    const bool all =
        std::all_of(format.columns.begin(), format.columns.end(), [&](const RequestColumn& column) {
          return !column.required || contains(names, column.name);
        });
    if (all) return &format;
  }
  return nullptr;
}

bool parse_date(std::string_view text, std::int64_t& nanoseconds, bool& has_zone) {
  const std::string whole(text);
  std::tm moment{};
  const char* rest = strptime(whole.c_str(), "%Y-%m-%d", &moment);
  if (rest == nullptr || (*rest != ' ' && *rest != 'T')) return false;
  rest = strptime(rest + 1, "%H:%M:%S", &moment);
  if (rest == nullptr) return false;
  std::string_view left(rest);
  std::uint64_t fraction = 0;
  if (!take_fraction(left, fraction)) return false;
  has_zone = !left.empty();
  if (has_zone) {
    rest = strptime(left.data(), "%z", &moment);
    if (rest == nullptr || *rest != '\0') return false;
  }
  const int day = moment.tm_mday;
  const std::int64_t east = moment.tm_gmtoff;  // seconds
  const std::int64_t seconds = timegm(&moment);
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (moment.tm_mday != day || seconds < 0 || seconds > 7 * kSecond) return false;
  nanoseconds = (seconds - east) * kSecond + static_cast<std::int64_t>(fraction);
  return true;
}

bool parse_time(std::string_view text, std::uint64_t unit, std::uint64_t& nanoseconds) {
  constexpr std::uint64_t kMostSeconds = 1'000'000'000;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::uint64_t most = kMostSeconds * (kMostSeconds / unit);
  const auto whole = parse_integer(text.substr(0, point), 0, most);
  std::string_view rest = text.substr(point);
  std::uint64_t fraction = 0;
  if (!whole || !take_fraction(rest, fraction) || !rest.empty()) return false;
  const std::uint64_t part = fraction / (kMostSeconds / unit);
  if (part * (kMostSeconds / unit) != fraction) return false;
  nanoseconds = *whole * unit + part;
  return true;
}

}  // namespace lacuna
