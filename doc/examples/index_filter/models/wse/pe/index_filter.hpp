// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/cycle.hpp"
#include "sim/base/parameter.hpp"

namespace lacuna::wse {

struct IndexFilterParams : ParameterSet {
  Param<unsigned> bits =
      param(this, "bits", 0U, range(0U, 16U), "bit/cycle",
            "Bits of the index of a wavelet that a core compares in a cycle before it dispatches "
            "the wavelet's task; 0: comparing takes no time.");
};

/// The filter at the entrance of a core: a wavelet of data is in its comparator, and no other,
/// until all bits of its index have been compared. Commands have no index and pass at once.
class IndexFilter {
 public:
  static constexpr unsigned kIndexBits = 16;  // the upper half of a word

  explicit IndexFilter(const IndexFilterParams& params) : bits_(params.bits) {}

  /// How long a wavelet of data is in it.
  Cycle cycles() const;

 private:
  unsigned bits_;
};

}  // namespace lacuna::wse
