// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory_ports.hpp"

#include <algorithm>

namespace lacuna::ipu {
namespace {

std::uint64_t sum(const Bundle& bundle, Tally first, Tally last) {
  std::uint64_t all = 0;
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    all += bundle.tallies.at(i);
  }
  return all;
}

}  // namespace

std::uint64_t reads_of(const Bundle& bundle) {
  return sum(bundle, Tally::read_weight, Tally::read_metadata);
}

std::uint64_t writes_of(const Bundle& bundle) {
  return sum(bundle, Tally::write_weight, Tally::write_metadata);
}

unsigned MemoryPorts::whole_stores() const {
  unsigned bytes = kAccessBytes;
  while (2 * bytes <= store_bytes_) bytes *= 2;
  return bytes;
}

std::uint32_t MemoryPorts::lost(const Bundle& bundle) const {
  const auto slots = [](std::uint64_t accesses, std::uint64_t port) {
    return (kAccessBytes * accesses + port - 1) / port;
  };
  const std::uint64_t needed = std::max({std::uint64_t{1}, slots(reads_of(bundle), load_bytes_),
                                         slots(writes_of(bundle), store_bytes_)});
  return static_cast<std::uint32_t>(needed - 1);
}

}  // namespace lacuna::ipu
