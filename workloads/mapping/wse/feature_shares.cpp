// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/feature_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/reduction.hpp"

namespace lacuna::wse {
namespace {

std::vector<std::uint32_t> assign_balanced(std::uint32_t features, std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load) {
  std::vector<std::uint32_t> heaviest(features);
  std::iota(heaviest.begin(), heaviest.end(), 0U);
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return load[a] > load[b]; });
  // Least work first; among equals the fewest features, then the lowest number.
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
  for (std::uint32_t c = 0; c < columns; ++c) places.emplace(0, 0, c);
  std::vector<std::uint32_t> owner(features);
  for (const std::uint32_t feature : heaviest) {
    const auto [work, count, column] = places.top();
    places.pop();
    owner[feature] = column;
    places.emplace(work + load[feature], count + 1, column);
  }
  return owner;
}

}  // namespace

std::vector<std::uint32_t> assign_features(KPartition kind, std::uint32_t features,
                                           std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load) {
  if (kind == KPartition::balanced) return assign_balanced(features, columns, load);
  std::vector<std::uint32_t> owner(features);
  const auto each = static_cast<std::uint32_t>(ceil_div(features, columns));
  for (std::uint32_t j = 0; j < features; ++j) {
    owner[j] = kind == KPartition::block ? j / each : j % columns;
  }
  return owner;
}

std::uint32_t reduction_colors(Reduce kind, std::uint32_t columns) {
  if (columns == 1) return 0;
  return kind == Reduce::ring ? 4 : plan_reduction(kind, columns).colors;
}

std::uint32_t rows_for_streams(const IoParams& io, std::uint32_t streams, std::uint32_t sums) {
  const std::uint32_t colors = kColors - 1 - std::min<std::uint32_t>(kColors - 2, sums);
  const std::uint32_t rows = io.dist_rows != 0
                                 ? io.dist_rows.value()
                                 : static_cast<std::uint32_t>(ceil_div(streams, colors));
  const auto each = static_cast<std::uint32_t>(ceil_div(streams, rows));
  if (each > colors) {
    throw UnsupportedError(
        fmt::format("ws.inject = west_edge: with io.dist_rows = {} a row brings words to {} of {} "
                    "columns, which need a color each; beside {} of the reduction there are {}, "
                    "enough from io.dist_rows = {} on",
                    rows, each, streams, sums, colors, ceil_div(streams, colors)));
  }
  return rows;
}

std::vector<std::uint32_t> deal_tokens(Inject inject, std::uint32_t rows, std::uint32_t tokens) {
  const std::uint32_t active = std::min(rows, tokens);
  if (active == 0) return {};
  Program entered;
  entered.entry = entry_row(inject, active);
  std::vector<std::uint32_t> nearest(active);
  std::iota(nearest.begin(), nearest.end(), 0U);
  std::stable_sort(nearest.begin(), nearest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return entered.distance(a) < entered.distance(b);
  });
  std::vector<std::uint32_t> dealt(active, tokens / active);
  for (std::uint32_t i = 0; i < tokens % active; ++i) ++dealt[nearest[i]];
  return dealt;
}

std::vector<std::uint32_t> order_rows(RowOrder order, const std::vector<std::uint32_t>& owner,
                                      std::uint32_t columns) {
  std::vector<std::uint32_t> rows(owner.size());
  std::iota(rows.begin(), rows.end(), 0U);
  if (order == RowOrder::natural) return rows;
  std::vector<std::uint32_t> position(columns);
  std::iota(position.begin(), position.end(), 0U);
  if (order == RowOrder::ring) position = ring_positions(ring_order(columns));
  std::vector<std::uint32_t> owned(columns, 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key;  // turn, place in it
  key.reserve(owner.size());
  for (const std::uint32_t column : owner) key.emplace_back(owned[column]++, position[column]);
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  return rows;
}

Rate io_rate(const IoParams& io, const WaferParams& wafer, double clock_ghz) {
  // Words per cycle: gbit / 32 bits / clock, times the share. Clock and share count in millionths.
  constexpr std::uint64_t kMillion = 1'000'000;
  std::uint64_t words = io.gbit * kMillion;
  std::uint64_t per = 32 * static_cast<std::uint64_t>(std::llround(clock_ghz * 1e6));
  std::uint64_t part = std::min<std::uint32_t>(wafer.columns, wafer.program_columns);
  std::uint64_t whole = wafer.program_columns;
  if (io.share > 0) {
    part = static_cast<std::uint64_t>(std::llround(io.share * 1e6));
    whole = kMillion;
  }
  const std::uint64_t g1 = std::gcd(words, per);
  const std::uint64_t g2 = std::gcd(part, whole);
  words = words / g1 * (part / g2);
  per = per / g1 * (whole / g2);
  const std::uint64_t g = std::gcd(words, per);
  return {words / g, per / g};
}

}  // namespace lacuna::wse
