// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "models/sparsity/mask.hpp"

namespace lacuna::wse {

/// How uneven the blocks of a mask make the columns that share its features.
class BlockLoads {
 public:
  explicit BlockLoads(const Mask& mask) : mask_(mask) {}

  /// Elements of a row that the fullest of `columns` has, over so many rows after each other that
  /// are evened out, on average over a sample of the mask. `dealt`: features are dealt to the
  /// columns one by one; else each has some that follow each other.
  double fullest(std::uint32_t columns, bool dealt, double rows) const;

 private:
  double count(std::uint32_t columns, bool dealt, std::uint32_t rows) const;

  const Mask& mask_;
  mutable std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, double> known_;
};

}  // namespace lacuna::wse
