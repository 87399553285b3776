// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// A column of a table of requests.
struct RequestColumn {
  enum class Role {
    seconds,  // of arrival, with up to nine decimals
    milliseconds,
    nanoseconds,
    date,  // of arrival, with or without a zone
    unknown_time,
    prompt,
    output,
    cached,
    sum,   // of prompt and output
    idle,  // says nothing of what is computed
  };
  const char* name;
  Role role;
  bool required = true;
  bool may_be_none = false;  // of an answer: 0 tokens of a request that failed
};

/// A known format of them.
struct RequestFormat {
  const char* name;
  std::vector<RequestColumn> columns;
};

const std::vector<RequestFormat>& request_formats();

/// The format whose required columns are all among `names`, or null.
const RequestFormat* find_request_format(const std::vector<std::string>& names);

/// Nanoseconds since 1970 in a zone of "2023-11-16 18:15:46.6805900+00:00"; without a zone that of
/// Greenwich. False if the text is no such date.
bool parse_date(std::string_view text, std::int64_t& nanoseconds, bool& has_zone);

/// "12.5" of `unit` nanoseconds, with as many decimals as make whole ones. False if it is no such
/// number.
bool parse_time(std::string_view text, std::uint64_t unit, std::uint64_t& nanoseconds);

}  // namespace lacuna
