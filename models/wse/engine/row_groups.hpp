// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/wse/program/program.hpp"
#include "models/wse/row_marks.hpp"

namespace lacuna::wse {

/// Neighbouring rows, from the one nearest to where words enter to the farthest.
struct RowClass {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  std::size_t count() const { return std::max(first, last) - std::min(first, last) + 1U; }
};

/// Neighbouring rows that have done the same so far, a hop later each.
template <class Row>
struct RowGroup {
  RowClass rows;
  std::unique_ptr<Row> row;
  RowMarks marks = {};
};

/// Rows that are alike, in the order in which words come to them; if not to be folded, each row.
inline std::vector<RowClass> classes_of(const StreamingKernel& kernel,
                                        const std::vector<std::uint32_t>& way, bool fold) {
  const std::vector<std::uint32_t>& tokens = kernel.tokens;
  std::vector<RowClass> classes;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (i == 0 || !fold || !kernel.alike(tokens[way[i]], tokens[way[i - 1]]))
      classes.push_back({way[i], way[i]});
    classes.back().last = way[i];
  }
  return classes;
}

inline std::vector<std::uint32_t> rows_from(std::uint32_t first, std::uint32_t count, bool north) {
  std::vector<std::uint32_t> rows(count);
  for (std::uint32_t i = 0; i < count; ++i) rows[i] = north ? first - i : first + i;
  return rows;
}

template <class Row>
using RowGroups = std::vector<RowGroup<Row>>;

/// Parts the last row of a group from the others, or the first if not, in the state that it is in.
template <class Row>
void split(RowGroups<Row>& way, std::size_t group, bool last) {
  RowGroup<Row>& whole = way[group];
  const bool down = whole.rows.last > whole.rows.first;
  const std::uint32_t first = last   ? whole.rows.last
                              : down ? whole.rows.first + 1
                                     : whole.rows.first - 1;
  RowGroup<Row> behind{{first, whole.rows.last}, std::make_unique<Row>(*whole.row), whole.marks};
  behind.row->words().follow();
  whole.rows.last = down ? first - 1 : first + 1;
  way.insert(way.begin() + static_cast<std::ptrdiff_t>(group) + 1, std::move(behind));
}

}  // namespace lacuna::wse
