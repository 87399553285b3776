// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::wse {

/// A stream out of which zeros are left: the rows of `mask` in the order of `row_of_step` (modulo
/// their number: products follow each other), of each the features of a column in their order.
struct ScannedStream {
  const Mask& mask;  // of what is streamed, rows x features
  const std::vector<std::uint32_t>& row_of_step;
  const std::vector<std::uint32_t>& owner;     // the column of each feature
  const std::vector<std::uint32_t>& features;  // of each column
  std::uint32_t width = 1;                     // positions examined in a cycle
  std::uint32_t words = 1;                     // of a value
};

/// For each word of each column, a command at the end of each row included, the cycles in which the
/// sender looks for it: a `width` of positions each, and none after the first that is kept. As
/// Program::scan_cycles. UnsupportedError if a word is looked for longer than 65535 cycles.
std::vector<std::vector<std::uint16_t>> scan_cycles(const ScannedStream& stream);

/// So many zeros come before each word of each column. As StreamingKernel::zeros.
std::vector<std::vector<std::uint32_t>> zeros_between(const ScannedStream& stream);

}  // namespace lacuna::wse
