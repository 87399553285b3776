// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/support/wse/random_tasks.hpp"

namespace lacuna::wse {

// Random programs of the two forms that `event` has faster ways for, without values. Most of them
// run on hardware that these ways take, with lengths, strides and modes that they may not.

/// Cores in a snake over the mesh hand words on from one to the next, all in the main thread.
TaskCase random_relays(std::uint64_t seed);

/// Cores in circles along rows, and along columns, pass words around in microthreads.
TaskCase random_shifts(std::uint64_t seed);

}  // namespace lacuna::wse
