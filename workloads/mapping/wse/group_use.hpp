// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"
#include "workloads/mapping/wse/reduction.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"
#include "workloads/mapping/wse/streaming_setup.hpp"

namespace lacuna::wse {

/// What groups of columns are to a streamed product. They share either the rows that are streamed,
/// or the elements that the cores hold of each feature: with streamed weights rows of W or tokens,
/// with resident weights tokens or rows of W.
struct GroupUse {
  ColumnGroups groups;
  bool share_elements = false;
  bool exchanges = false;  // each row's sums go to all groups
  bool copies = false;     // routers copy a group's stream to the others
  /// Colors of the sums of all groups, and of the buses of the exchange.
  std::uint32_t sums = 0;
  std::uint32_t buses = 0;

  /// Streams that enter, and shares of the elements.
  std::uint32_t streams() const { return copies ? groups.width : groups.columns(); }
  std::uint32_t element_shares() const { return share_elements ? groups.count : 1; }
};

/// UnsupportedError if columns cannot be grouped so, or groups do not know what is asked for.
GroupUse use_groups(const WaferParams& wafer, const StreamingParams& ws, bool resident);

/// The first rows of cores that bring words to their columns and hold no elements.
/// UnsupportedError if they need more colors than there are.
std::uint32_t distribution_rows(const StreamingParams& ws, const IoParams& io, const GroupUse& use);

/// The group of each row of what is streamed, if groups share them; `owner` is the place of each.
/// Those of a place are dealt to the groups in turn, those of the next place from the next group
/// on.
std::vector<std::uint32_t> deal_rows(const std::vector<std::uint32_t>& owner,
                                     const ColumnGroups& groups);

/// The rows of what is streamed, and of each group those that it multiplies and where it keeps
/// their sums.
class GroupRows {
 public:
  GroupRows() = default;
  /// `owner`: the place of each row's sums in a group.
  GroupRows(const GroupUse& use, std::vector<std::uint32_t> owner);

  bool multiplies(std::uint32_t group, std::uint32_t row) const {
    return use_.share_elements || group_of_[row] == group;
  }
  std::uint32_t rows_of(std::uint32_t group) const;

  /// Of the group with the most rows.
  std::uint32_t steps() const { return steps_; }

  /// The column of a group where a row's sums are kept; the first one's for no row.
  std::uint32_t keeper(std::uint32_t group, std::uint32_t row) const;

  /// The column of each row's sums: of its group, or its place in all that multiply it.
  std::vector<std::uint32_t> keepers() const;

  /// Rows whose sums come to each column.
  std::vector<std::uint32_t> outputs() const;

  /// The row of each step and group; kNoRow behind the last of a group with fewer than others.
  std::vector<std::uint32_t> in(RowOrder order) const;

 private:
  GroupUse use_;
  std::vector<std::uint32_t> owner_;
  std::vector<std::uint32_t> group_of_;
  std::uint32_t steps_ = 0;
};

/// From where words enter: by column, the one whose stream it gets; empty if each has its own.
std::vector<std::uint32_t> stream_sources(const StreamingParams& ws, const GroupUse& use);

/// The reduction, and in `kernel` the exchange, of a program whose keepers are known.
/// UnsupportedError if a core or a router has too few queues or colors.
Reduction plan_sums(const StreamingSetup& setup, const GroupUse& use, StreamingKernel& kernel);

}  // namespace lacuna::wse
