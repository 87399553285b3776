// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The first element that the cores of a row hold, of a group: those of a row follow each other,
/// from group to group. `before` are the elements of a core in each row before, in all.
inline std::uint32_t first_element(std::uint32_t shares, std::uint32_t before,
                                   std::uint32_t elements, std::uint32_t group) {
  return shares * before + (shares == 1 ? 0 : group * elements);
}

/// Which column owns each of `features` features on `columns` columns; `load` (their non-zeros)
/// decides for `balanced` only: heaviest first, each to the column with the least.
std::vector<std::uint32_t> assign_features(KPartition kind, std::uint32_t features,
                                           std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load);

/// The row of cores, of `rows` with tokens, where words enter.
inline std::uint32_t entry_row(Inject inject, std::uint32_t rows) {
  return inject == Inject::middle_row ? rows / 2 : 0;
}

/// The first rows of cores that bring `streams` of words from the west edge to their columns and
/// hold no tokens, beside so many colors of sums. UnsupportedError if they need more colors than
/// there are.
std::uint32_t rows_for_streams(const IoParams& io, std::uint32_t streams, std::uint32_t sums);

/// Colors of the reduction along a row.
std::uint32_t reduction_colors(Reduce kind, std::uint32_t columns);

/// Tokens of each of `rows` rows of cores, without those that have none. The rows next to where
/// words enter take one more if they do not divide.
std::vector<std::uint32_t> deal_tokens(Inject inject, std::uint32_t rows, std::uint32_t tokens);

/// The rows of the weights in the order in which they are streamed; `owner` is the column of each.
std::vector<std::uint32_t> order_rows(RowOrder order, const std::vector<std::uint32_t>& owner,
                                      std::uint32_t columns);

/// Words per cycle that `io` gives to `columns` columns.
Rate io_rate(const IoParams& io, const WaferParams& wafer, double clock_ghz);

/// Words of the FIFO that a row-ordered stream fills for each column; 0: columns have streams.
inline std::uint32_t column_fifo(const IoParams& io) {
  return io.stream == IoStream::row_ordered ? io.column_fifo.value() : 0;
}

}  // namespace lacuna::wse
