// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/index_filter.hpp"

namespace lacuna::wse {

Cycle IndexFilter::cycles() const { return bits_ == 0 ? 0 : (kIndexBits + bits_ - 1) / bits_; }

}  // namespace lacuna::wse
