// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/system/params.hpp"
#include "models/system/program.hpp"

namespace lacuna::test {

/// A small system: `chips` chips, with small domains where `domain` says so.
system::SystemParams small_system(unsigned chips, unsigned domain = 64,
                                  system::Topology topology = system::Topology::ladder);

/// A segment without deadlock of works, transfers of every way and a collective, drawn from `seed`.
system::Segment random_segment(const system::SystemParams& params, std::uint64_t seed);

/// An empty segment for the chips of a system.
system::Segment empty_segment(const system::SystemParams& params);

}  // namespace lacuna::test
