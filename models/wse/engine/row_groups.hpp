// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// Rows with equal tokens, in the order in which words come to them; if not to be folded, each row.
inline std::vector<RowClass> classes_of(const std::vector<std::uint32_t>& tokens,
                                        const std::vector<std::uint32_t>& way, bool fold) {
  std::vector<RowClass> classes;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (i == 0 || !fold || tokens[way[i]] != tokens[way[i - 1]])
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

/// Takes the last row out of a group, in the state that it is in.
template <class Row>
void split_last(RowGroups<Row>& way, std::size_t group) {
  RowGroup<Row>& whole = way[group];
  RowGroup<Row> last{{whole.rows.last, whole.rows.last},
                     std::make_unique<Row>(whole.row->follower()),
                     whole.marks};
  whole.rows.last = whole.rows.last > whole.rows.first ? whole.rows.last - 1 : whole.rows.last + 1;
  way.insert(way.begin() + static_cast<std::ptrdiff_t>(group) + 1, std::move(last));
}

}  // namespace lacuna::wse
