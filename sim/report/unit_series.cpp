// SPDX-License-Identifier: Apache-2.0
#include "sim/report/unit_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/result.hpp"

namespace lacuna {
namespace {

using ChannelGroup = UnitChannel::Group;

/// How many rows of the die have each row of channels over time.
std::vector<std::uint64_t> rows_like(const UnitSeries& series) {
  std::vector<std::uint64_t> like(series.timed_rows, 0);
  for (const std::uint32_t stored : series.source) ++like[series.timed[stored]];
  return like;
}

std::uint64_t sum_of(const UnitSeries& series, const UnitChannel& channel,
                     const std::vector<std::uint64_t>& like) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < channel.values.size(); ++i) {
    sum += channel.values[i] * like[i / series.columns % series.timed_rows];
  }
  return sum;
}

/// Of each unit what it has over all steps, before its steps are added up with others'.
UnitChannel whole_of(const UnitSeries& series, const UnitChannel& channel) {
  UnitChannel whole = channel;
  whole.group = ChannelGroup::whole;
  whole.name = channel.name + " of each " + series.unit;
  whole.values.assign(std::size_t{series.stored_rows} * series.columns, 0);
  for (std::size_t stored = 0; stored < series.stored_rows; ++stored) {
    for (std::size_t c = 0; c < series.columns; ++c) {
      for (std::size_t step = 0; step < series.ends.size(); ++step) {
        whole.values[stored * series.columns + c] +=
            channel.values[(step * series.timed_rows + series.timed[stored]) * series.columns + c];
      }
    }
  }
  return whole;
}

}  // namespace

void add_priced(UnitSeries& series, const StatGroup& group, std::size_t cell) {
  for (const Counter* const counter : group.counters()) {
    if (counter->action() == nullptr || counter->value() == 0) continue;
    auto* found = find_where(series.priced, [&](const PricedUnits& each) {
      return each.entry.name == counter->name() && each.entry.path == group.path();
    });
    if (found == nullptr) {
      found = &series.priced.emplace_back();
      found->entry.path = group.path();
      found->entry.name = counter->name();
      found->entry.action = counter->action();
      found->values.assign(std::size_t{series.stored_rows} * series.columns, 0);
    }
    found->values[cell] += counter->value();
  }
}

UnitChannel energy_over_time(const UnitChannel& energy, const std::vector<double>& standing,
                             const UnitSeries& series) {
  UnitChannel made = energy;
  made.name = "energy over time";
  made.group = ChannelGroup::count;
  made.doc =
      "The unit's energy over the whole run: its clock and leakage spread evenly, all else in "
      "proportion to its cycles of compute and exchange.";
  made.values.assign(series.ends.size() * series.cells(), 0);
  std::vector<std::size_t> stored(series.timed_rows, series.stored_rows);
  for (std::size_t row = series.stored_rows; row-- > 0;) stored[series.timed[row]] = row;
  std::vector<double> busy(series.ends.size());
  for (std::size_t cell = 0; cell < series.cells(); ++cell) {
    const std::size_t row = stored[cell / series.columns];
    if (row == series.stored_rows) continue;
    std::fill(busy.begin(), busy.end(), 0.0);
    for (const UnitChannel& channel : series.channels) {
      const bool works = channel.layer == Layer::compute || channel.layer == Layer::exchange;
      if (channel.group != ChannelGroup::stack || !works) continue;
      for (std::size_t step = 0; step < busy.size(); ++step) {
        busy[step] += static_cast<double>(channel.values[step * series.cells() + cell]);
      }
    }
    const double all = std::accumulate(busy.begin(), busy.end(), 0.0);
    const std::size_t place = row * series.columns + cell % series.columns;
    const auto total = static_cast<double>(energy.values[place]);
    const double still = all > 0 ? std::min(standing[place], total) : total;
    double done = 0;
    std::uint64_t given = 0;
    for (std::size_t step = 0; step < busy.size(); ++step) {
      done += busy[step];
      const double share = static_cast<double>(series.ends[step]) /
                           static_cast<double>(std::max<Cycle>(series.ends.back(), 1));
      const double so_far = still * share + (all > 0 ? (total - still) * done / all : 0);
      const auto now = std::max(given, static_cast<std::uint64_t>(std::llround(so_far)));
      made.values[step * series.cells() + cell] = now - given;
      given = now;
    }
  }
  return made;
}

void check_units(const UnitSeries& series, const OpResult& result) {
  const std::vector<std::uint64_t> like = rows_like(series);
  for (const UnitChannel& channel : series.channels) {
    if (channel.group != ChannelGroup::stack || channel.layer == Layer::idle) continue;
    const auto* const part = find_where(result.stack, [&](const StackPart& each) {
      return each.layer == channel.layer && each.kind == channel.name;
    });
    const std::uint64_t counted = part == nullptr ? 0 : part->cycles;
    const std::uint64_t sum = sum_of(series, channel, like);
    if (sum == counted) continue;
    throw InternalError(fmt::format("{}: the steps of all units add up to {} of {} cycles",
                                    channel.name, sum, counted));
  }
}

void coarsen(UnitSeries& series, std::size_t most) {
  const bool by_rows = series.timed_rows == series.rows && series.numbers.empty();
  const auto timed = static_cast<std::size_t>(
      count_where(series.channels, [](const UnitChannel& channel) { return channel.timed(); }));
  std::uint32_t block = 1;
  const auto size = [&] {
    const std::size_t wide = (series.columns + block - 1) / block;
    const std::size_t high = by_rows ? (series.rows + block - 1) / block : series.timed_rows;
    return wide * high * series.ends.size() * timed;
  };
  while (size() > most && block < series.columns) block *= 2;
  if (block == 1) return;
  series.block_columns = block;
  series.block_rows = by_rows ? block : 1;
  const std::size_t wide = series.timed_columns();
  const std::uint32_t high = (series.timed_rows + series.block_rows - 1) / series.block_rows;
  std::vector<UnitChannel> wholes;
  for (UnitChannel& channel : series.channels) {
    if (!channel.timed()) continue;
    wholes.push_back(whole_of(series, channel));
    std::vector<std::uint64_t> sums(series.ends.size() * high * wide, 0);
    for (std::size_t i = 0; i < channel.values.size(); ++i) {
      const std::size_t row = i / series.columns;
      const std::size_t step = row / series.timed_rows;
      const std::size_t place = row % series.timed_rows / series.block_rows;
      sums[(step * high + place) * wide + i % series.columns / block] += channel.values[i];
    }
    channel.values = std::move(sums);
  }
  series.timed_rows = high;
  for (UnitChannel& whole : wholes) series.channels.push_back(std::move(whole));
  series.loss = fmt::format(
      "In steps a number is the sum of {} x {} neighbouring {}s, exact, and what is shown is "
      "their mean: how they differ among each other within a step is lost. Of the whole run each "
      "{} has its own, under 'counted over the whole run'.",
      block, series.block_rows, series.unit, series.unit);
}

}  // namespace lacuna
