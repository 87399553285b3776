// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// Somebody who has a prompt continued.
struct ServingRequest {
  std::uint64_t arrival_ns = 0;
  std::uint32_t prompt = 1;  // tokens
  std::uint32_t output = 1;  // tokens to be made

  /// Positions of the cache that it fills; the last token is read by nobody.
  std::uint32_t positions() const { return prompt + output - 1; }
};

/// Reads `text`, a CSV of requests; `path` is its name in messages. The first line that is no
/// comment is "arrival,prompt,output"; arrivals are in seconds, with up to nine decimals, and none
/// is before that of the line above. TraceError with all problems, line and column.
std::vector<ServingRequest> read_requests(std::string_view text, const std::string& path);

}  // namespace lacuna
