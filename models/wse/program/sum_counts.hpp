// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// What is known of the reductions of a streamed product before it runs, by column.
struct SumCounts {
  struct Column {
    std::uint64_t filled = 0;  // rows of weights of which the column has some
    std::uint64_t summed = 0;  // as in CoreCounters
    std::uint64_t added = 0;
    std::uint64_t gathered = 0;
    std::uint64_t kept = 0;
    std::uint64_t inputs = 0;  // reductions' inputs, each a vector of partial sums
    std::array<std::uint64_t, kPorts> passed{};  // vectors that the router sends, by port
  };
  std::vector<Column> columns;
};

SumCounts count_sums(const Program& program);

}  // namespace lacuna::wse
