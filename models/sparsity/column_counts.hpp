// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// How many elements masks keep in each column. As long as one of these lives, of() counts a mask
/// once on its thread: masks are taken to stay as they are at their addresses until forget().
class ColumnCounts {
 public:
  ColumnCounts();
  ColumnCounts(const ColumnCounts&) = delete;
  ColumnCounts& operator=(const ColumnCounts&) = delete;
  ~ColumnCounts();

  void forget() { known_.clear(); }

  static std::vector<std::uint64_t> of(const Mask& mask);

 private:
  static std::vector<std::uint64_t> counted(const Mask& mask);

  ColumnCounts* const outer_;
  std::map<const Mask*, std::vector<std::uint64_t>> known_;
};

}  // namespace lacuna
