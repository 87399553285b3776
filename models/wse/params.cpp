// SPDX-License-Identifier: Apache-2.0
#include "models/wse/params.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"

namespace lacuna::wse {

MemoryPorts MemoryParams::ports() const {
  MemoryPorts ports;
  ports.model = model;
  ports.read_bits = read_bits;
  ports.write_bits = write_bits;
  ports.port_cycles = port_cycles;
  ports.write_share =
      static_cast<std::uint32_t>(std::lround(write_share * MemoryPorts::kShareParts));
  ports.row_bytes = row_bytes;
  ports.conflict_bytes = conflict_bytes;
  ports.write_lag = write_lag;
  return ports;
}

std::vector<unsigned> QueueParams::depths(const char* path, const std::string& list) {
  std::vector<unsigned> depths;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    unsigned depth = 0;
    const auto [stop, error] = std::from_chars(list.data() + at, list.data() + end, depth);
    if (error != std::errc() || stop != list.data() + end || depth == 0 || depth > 1024) {
      throw ParameterError(fmt::format(
          "{} = '{}': '{}' is not a depth in [1, 1024] words; a list such as 6,6,4,4 is meant",
          path, list, list.substr(at, end - at)));
    }
    depths.push_back(depth);
    at = end + 1;
  }
  if (depths.size() > 16) {
    throw ParameterError(fmt::format("{} = '{}': a core has at most 16 queues", path, list));
  }
  return depths;
}

unsigned QueueParams::depth(const char* path, const std::vector<unsigned>& depths,
                            std::size_t number) {
  if (number < depths.size()) return depths[number];
  throw ParameterError(fmt::format("{} has {} queues, and streams use number {}, counted from 0",
                                   path, depths.size(), number));
}

}  // namespace lacuna::wse
