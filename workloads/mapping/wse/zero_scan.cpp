// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/zero_scan.hpp"

#include <algorithm>
#include <limits>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::wse {
namespace {

std::uint16_t cycles_of(std::uint32_t positions, std::uint32_t width) {
  const std::uint32_t cycles = std::max(1U, (positions + width - 1) / width);
  if (cycles > std::numeric_limits<std::uint16_t>::max()) {
    throw UnsupportedError("zero_filter.scan_width: a word is looked for longer than 65535 cycles");
  }
  return static_cast<std::uint16_t>(cycles);
}

/// Calls `visit(column, positions, is_command)` for each weight and command in the order in which
/// they are sent: so many positions are examined after the one before.
template <class Visit>
void for_each_word(const ScannedStream& stream, const Visit& visit) {
  const Mask mask = stream.mask.elements();
  // Where a feature stands among those of its column.
  std::vector<std::uint32_t> place(stream.owner.size());
  std::vector<std::uint32_t> next(stream.features.size(), 0);
  for (std::size_t j = 0; j < place.size(); ++j) place[j] = next[stream.owner[j]]++;
  std::vector<std::uint32_t> examined(stream.features.size());
  for (const std::uint32_t step_row : stream.row_of_step) {
    const std::uint32_t row = step_row % mask.rows;
    std::fill(examined.begin(), examined.end(), 0);
    for (std::uint64_t e = mask.offsets[row]; e < mask.offsets[row + 1]; ++e) {
      const std::uint32_t feature = mask.columns[e];
      const std::uint32_t column = stream.owner[feature];
      visit(column, place[feature] + 1 - examined[column], false);
      examined[column] = place[feature] + 1;
    }
    for (std::uint32_t c = 0; c < examined.size(); ++c) {
      visit(c, stream.features[c] - examined[c], true);
    }
  }
}

}  // namespace

std::vector<std::vector<std::uint16_t>> scan_cycles(const ScannedStream& stream) {
  std::vector<std::vector<std::uint16_t>> cycles(stream.features.size());
  for_each_word(stream, [&](std::uint32_t column, std::uint32_t positions, bool command) {
    cycles[column].push_back(cycles_of(positions, stream.width));
    if (!command) cycles[column].insert(cycles[column].end(), stream.words - 1, 1);
  });
  return cycles;
}

std::vector<std::vector<std::uint32_t>> zeros_between(const ScannedStream& stream) {
  std::vector<std::vector<std::uint32_t>> zeros(stream.features.size());
  for_each_word(stream, [&](std::uint32_t column, std::uint32_t positions, bool command) {
    zeros[column].push_back(command ? positions : positions - 1);
  });
  return zeros;
}

}  // namespace lacuna::wse
