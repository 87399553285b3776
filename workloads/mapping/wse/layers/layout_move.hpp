// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/layers/core_mover.hpp"
#include "workloads/mapping/wse/layers/feature_layout.hpp"

namespace lacuna::wse {

/// `count` features of `from`, beginning with `first`, go to `to`, where they begin with `place`.
struct LayoutChange {
  const FeatureLayout& from;
  std::uint32_t first = 0;
  const FeatureLayout& to;
  std::uint32_t place = 0;
  std::uint32_t count = 0;
  std::uint32_t tokens = 0;
};

/// The vectors of a change of layouts: first along the rows of cores to the columns where the
/// features belong, then along these to the rows of their tokens. What several groups have comes
/// from the nearest, and what they are to have goes to each.
class LayoutMove {
 public:
  explicit LayoutMove(const LayoutChange& change);

  /// `bytes` of an element.
  void add_to(CoreMover& mover, unsigned bytes) const;

 private:
  using Kind = std::pair<std::uint32_t, std::uint32_t>;  // shares of a row that it leaves and joins
  /// Tokens that follow each other.
  struct Run {
    std::uint32_t from = 0;  // row
    std::uint32_t to = 0;
    Kind kind;
    std::uint32_t length = 0;
  };
  /// Features, by the column that they leave and the one where they belong.
  using Ways = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;
  using ByRow = std::vector<std::uint64_t>;  // tokens

  /// Tokens of a row of cores that leave it the same way.
  struct Leaves {
    Kind kind;
    std::uint32_t tokens = 0;
    std::uint32_t first = 0;  // in the row, of tokens that are dealt

    bool operator<(const Leaves& other) const {
      return std::tie(kind, tokens, first) < std::tie(other.kind, other.tokens, other.first);
    }
  };
  using Leaving = std::vector<Leaves>;

  void find_runs();
  void visit_ways(const Kind& kind);
  std::map<std::uint32_t, Leaving> leaving_rows() const;
  void add_rows(CoreMover& mover) const;
  void add_columns(CoreMover& mover) const;
  void hold(CoreMover& mover, unsigned bytes) const;

  const LayoutChange change_;
  std::vector<Run> runs_;
  std::map<Kind, Ways> ways_;  // along rows
};

}  // namespace lacuna::wse
