// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::ipu {

/// What a vertex is told, in the widths of its registers: planners check that it fits.
inline std::int32_t count(std::uint64_t n) { return static_cast<std::int32_t>(n); }
inline std::uint32_t arg(std::uint64_t n) { return static_cast<std::uint32_t>(n); }

/// What `all` has for `key`: made when it is first asked for.
template <class Map, class Make>
auto once(Map& all, const typename Map::key_type& key, const Make& make) {
  const auto found = all.find(key);
  return found != all.end() ? found->second : all[key] = make();
}

}  // namespace lacuna::ipu
