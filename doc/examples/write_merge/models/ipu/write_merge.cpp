// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/write_merge.hpp"

#include "models/ipu/memory_ports.hpp"

namespace lacuna::ipu {

bool WriteMerge::merges(const Bundle& bundle) { return writes_of(bundle) % kAccesses != 0; }

}  // namespace lacuna::ipu
