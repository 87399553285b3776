// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/layout_move.hpp"

#include <algorithm>

namespace lacuna::wse {

LayoutMove::LayoutMove(const LayoutChange& change) : change_(change) {
  find_runs();
  for (const Run& run : runs_) {
    if (ways_.find(run.kind) == ways_.end()) visit_ways(run.kind);
  }
}

/// Both layouts divide the same tokens.
void LayoutMove::find_runs() {
  std::vector<TokenPart> from = token_parts(change_.from);
  std::vector<TokenPart> to = token_parts(change_.to);
  std::size_t f = 0;
  std::size_t t = 0;
  for (std::uint32_t left = change_.tokens; left != 0 && f < from.size() && t < to.size();) {
    const std::uint32_t length = std::min({left, from[f].length, to[t].length});
    runs_.push_back({from[f].row, to[t].row, {from[f].share, to[t].share}, length});
    left -= length;
    if ((from[f].length -= length) == 0) ++f;
    if ((to[t].length -= length) == 0) ++t;
  }
}

/// From which column to which each feature goes, of tokens of this kind. Those that follow each
/// other and lie in one place go together.
void LayoutMove::visit_ways(const Kind& kind) {
  Ways& ways = ways_[kind];
  const std::uint32_t* const from = change_.from.column.data() + change_.first;
  const std::uint32_t* const to = change_.to.column.data() + change_.place;
  std::uint32_t end = 0;
  for (std::uint32_t f = 0; f < change_.count; f = end) {
    while (end < change_.count && from[end] == from[f] && to[end] == to[f]) ++end;
    for (const std::uint32_t target : change_.to.columns_of(to[f], kind.second)) {
      ways[{change_.from.nearest(from[f], kind.first, target), target}] += end - f;
    }
  }
}

void LayoutMove::add_to(CoreMover& mover, unsigned bytes) const {
  add_rows(mover);
  add_columns(mover);
  if (!mover.estimates()) hold(mover, bytes);
}

/// By row of cores what leaves its columns. Tokens that are dealt to groups are one vector as long
/// as every so many-th goes to the same group.
std::map<std::uint32_t, LayoutMove::Leaving> LayoutMove::leaving_rows() const {
  std::map<std::uint32_t, Leaving> rows;
  std::map<std::uint32_t, std::uint32_t> before;  // tokens of a row
  const std::uint32_t stride = change_.to.dealt.empty() ? 0 : change_.to.groups.count;
  for (const Run& run : runs_) {
    Leaving& leaving = rows[run.from];
    if (stride == 0) {
      if (leaving.empty() || leaving.back().kind != run.kind) leaving.push_back({run.kind, 0, 0});
      leaving.back().tokens += run.length;
      continue;
    }
    std::uint32_t& token = before[run.from];
    for (const std::uint32_t end = token + run.length; token != end; ++token) {
      const auto goes_on = std::find_if(leaving.begin(), leaving.end(), [&](const Leaves& each) {
        return each.kind == run.kind && each.first + each.tokens * stride == token;
      });
      if (goes_on == leaving.end()) {
        leaving.push_back({run.kind, 1, token});
      } else {
        ++goes_on->tokens;
      }
    }
  }
  return rows;
}

namespace {

/// A vector for each of so many features. An estimate takes them as one.
void add_times(std::uint32_t features, LineVector vector, const CoreMover& mover,
               std::vector<LineVector>& vectors) {
  if (mover.estimates()) {
    vector.length *= features;
    features = 1;
  }
  vectors.insert(vectors.end(), features, vector);
}

}  // namespace

/// Rows of which as many tokens go the same ways do the same.
void LayoutMove::add_rows(CoreMover& mover) const {
  std::map<Leaving, std::vector<std::uint32_t>> alike;
  for (const auto& [row, leaving] : leaving_rows()) alike[leaving].push_back(row);
  for (const auto& [leaving, at] : alike) {
    std::vector<LineVector> vectors;
    std::vector<std::uint32_t> first;
    for (const Leaves& each : leaving) {
      for (const auto& [way, features] : ways_.at(each.kind)) {
        if (way.first == way.second) continue;
        add_times(features, {way.first, way.second, each.tokens, 0, 0}, mover, vectors);
        first.resize(vectors.size(), each.first);
      }
    }
    mover.add_rows(at, vectors, first);
  }
}

/// Columns of as many features, of the same share, do the same.
void LayoutMove::add_columns(CoreMover& mover) const {
  std::map<std::uint32_t, std::vector<LineVector>> moved;  // by share that they join, of a feature
  for (const Run& run : runs_) {
    if (run.from == run.to) continue;
    std::vector<LineVector>& vectors = moved[run.kind.second];
    const bool goes_on =
        !vectors.empty() && vectors.back().from == run.from && vectors.back().to == run.to;
    if (!goes_on) vectors.push_back({run.from, run.to, 0, 0, 0});
    vectors.back().length += run.length;
  }
  for (const auto& [share, of_feature] : moved) {
    std::map<std::uint32_t, std::uint32_t> owned;  // features by column
    for (std::uint32_t f = 0; f < change_.count; ++f) {
      const std::uint32_t place = change_.to.column[change_.place + f];
      for (const std::uint32_t c : change_.to.columns_of(place, share)) ++owned[c];
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> columns;
    for (const auto& [column, count] : owned) columns[count].push_back(column);
    for (const auto& [count, at] : columns) {
      std::vector<LineVector> vectors;
      for (const LineVector& vector : of_feature) add_times(count, vector, mover, vectors);
      mover.add_columns(at, vectors);
    }
  }
}

/// What is in each core: features that leave along its row; those that come or stay, and of these
/// the tokens that come along its column.
void LayoutMove::hold(CoreMover& mover, unsigned bytes) const {
  struct Tokens {
    ByRow here, come, end;
  };
  const std::size_t rows = std::max(change_.from.tokens.size(), change_.to.tokens.size());
  std::map<Kind, Tokens> tokens;
  for (const Run& run : runs_) {
    Tokens& of = tokens[run.kind];
    for (ByRow* const by_row : {&of.here, &of.come, &of.end}) by_row->resize(rows, 0);
    of.here[run.from] += run.length;
    if (run.from != run.to) of.come[run.to] += run.length;
    of.end[run.to] += run.length;
  }
  for (const auto& [kind, of] : tokens) {
    for (const auto& [way, features] : ways_.at(kind)) {
      const std::uint64_t each = std::uint64_t{bytes} * features;
      for (std::uint32_t r = 0; r < rows; ++r) {
        if (way.first != way.second) mover.hold({r, way.first}, each * of.here[r], 0);
        mover.hold({r, way.second}, each * (of.here[r] + of.come[r]), each * of.end[r]);
      }
    }
  }
}

}  // namespace lacuna::wse
