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
  std::uint32_t cached = 0;  // tokens of the prompt whose keys and values are there

  /// Positions of the cache that it fills; the last token is read by nobody.
  std::uint32_t positions() const { return prompt + output - 1; }
};

/// The requests of a file.
struct RequestFile {
  std::vector<ServingRequest> requests;
  bool has_arrivals = false;  // in a unit that is known
  bool time_without_unit = false;
  std::vector<std::string> notes;  // what of the file is not used, and how its times were taken
};

/// True if the line names the columns of requests, or is a request as an object of JSON.
bool is_request_header(std::string_view line);

/// Reads a table of requests, whose header or keys say which of the known formats it has: commas,
/// tabs or lines of JSON; `path` is its name in messages. No arrival is before that of the line
/// above. TraceError with all problems, line and column.
RequestFile read_requests(std::string_view text, const std::string& path);

}  // namespace lacuna
