// SPDX-License-Identifier: Apache-2.0
#include "tests/support/report/view_bytes.hpp"

#include <zlib.h>

#include <cstdint>

#include "sim/base/error.hpp"

namespace lacuna::test {

std::string bytes_of(const ViewData& data) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string packed;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : data.numbers) {
    const std::size_t six = letters.find(letter);
    if (six == std::string::npos) break;  // padding
    bits = bits << 6U | static_cast<std::uint32_t>(six);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    packed += static_cast<char>(bits >> count & 0xffU);
  }
  const std::string key = "\"bytes\":";
  const std::size_t at = data.head.find(key) + key.size();
  std::string bytes(std::stoul(data.head.substr(at)), '\0');
  uLongf size = bytes.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,  // NOLINT(*-cast)
                                reinterpret_cast<const Bytef*>(packed.data()),  // NOLINT(*-cast)
                                packed.size());
  if (status != Z_OK || size != bytes.size()) {
    throw InternalError("the numbers of a view are not what its head says");
  }
  return bytes;
}

}  // namespace lacuna::test
