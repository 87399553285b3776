// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/system/collectives.hpp"

namespace lacuna::system {

/// Bytes that all chips of a group of `size` put on their links together, by the closed forms; one
/// domain.
inline std::uint64_t collective_bytes(Collective kind, std::uint64_t bytes, std::uint64_t size) {
  switch (kind) {
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return (size - 1) * bytes;
    case Collective::all_reduce:
      return 2 * (size - 1) * bytes;
    case Collective::all_to_all:
      return (size - 1) * bytes;  // each of `size` chips keeps 1 / size
    case Collective::broadcast:
    case Collective::reduce:
      return (size - 1) * bytes + bytes - bytes / size;  // one chip has its part
  }
  return 0;
}

}  // namespace lacuna::system
