// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/group_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/exchange.hpp"
#include "workloads/mapping/wse/feature_shares.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

bool at_west_edge(const StreamingParams& ws) { return ws.inject == Inject::west_edge; }

std::uint32_t buses_each_way(const StreamingParams& ws, const GroupUse& use) {
  return std::min<std::uint32_t>(ws.buses, use.groups.width);
}

void check(const WaferParams& wafer, const StreamingParams& ws, const GroupUse& use) {
  const auto refuse = [&](const std::string& why) {
    throw UnsupportedError(fmt::format("ws.groups = {}: {}", use.groups.count, why));
  };
  if (use.groups.columns() != wafer.columns) {
    refuse(fmt::format("wafer.columns = {} are not a multiple of it", wafer.columns.value()));
  }
  if (use.share_elements && ws.exchange == Exchange::next) {
    refuse(
        "groups that share what the cores hold (ws.share) have no results to exchange "
        "(ws.exchange = next): each has all of its own");
  }
  if (use.copies && ws.inject == Inject::middle_row) {
    refuse(
        "words that enter in the middle (ws.inject) are not copied to other groups; from "
        "column_top and west_edge they are");
  }
}

/// Words to equal places of groups side by side cross those to all others.
void check_crossing(const StreamingParams& ws, const GroupUse& use) {
  if (!use.copies || use.groups.interleaved) return;
  const std::uint32_t taken = 1 + use.sums + use.buses;
  if (taken + use.streams() <= kColors) return;
  throw UnsupportedError(fmt::format(
      "ws.groups = {} with ws.lie = {}: the words that are copied to the groups cross each other, "
      "so that each of {} columns of a group needs a color of its own; beside {} of the reduction "
      "there are {}; with ws.lie = interleaved they need one",
      use.groups.count, ws.lie.value_text(), use.streams(), use.sums,
      kColors - std::min<std::uint32_t>(taken, kColors)));
}

}  // namespace

GroupUse use_groups(const WaferParams& wafer, const StreamingParams& ws, bool resident) {
  GroupUse use;
  use.groups = {ws.groups, wafer.columns / ws.groups, ws.groups > 1 && ws.lie == Lie::interleaved};
  use.sums = reduction_colors(ws.reduce, std::max(1U, use.groups.width));
  if (use.groups.count == 1) return use;
  use.share_elements = (ws.share == Share::rows) == resident;
  use.exchanges = !use.share_elements && ws.exchange == Exchange::product;
  use.copies = use.share_elements && ws.copies == Copies::routed;
  check(wafer, ws, use);
  if (use.groups.interleaved) use.sums *= use.groups.count;
  if (use.exchanges) use.buses = exchange_colors(use.groups, buses_each_way(ws, use));
  return use;
}

std::vector<std::uint32_t> deal_rows(const std::vector<std::uint32_t>& owner,
                                     const ColumnGroups& groups) {
  std::vector<std::uint32_t> next(groups.width);
  for (std::uint32_t place = 0; place < groups.width; ++place) next[place] = place % groups.count;
  std::vector<std::uint32_t> group_of;
  group_of.reserve(owner.size());
  for (const std::uint32_t place : owner) group_of.push_back(next[place]++ % groups.count);
  return group_of;
}

std::uint32_t distribution_rows(const StreamingParams& ws, const IoParams& io,
                                const GroupUse& use) {
  check_crossing(ws, use);
  const bool crossing = use.copies && !use.groups.interleaved;
  if (crossing && at_west_edge(ws)) return std::max(1U, io.dist_rows.value());
  if (at_west_edge(ws)) return rows_for_streams(io, use.streams(), use.sums + use.buses);
  return use.copies ? 1 : 0;
}

/// From the north into the middle one of those that it is copied to.
GroupRows::GroupRows(const GroupUse& use, std::vector<std::uint32_t> owner)
    : use_(use), owner_(std::move(owner)), group_of_(deal_rows(owner_, use.groups)) {
  for (std::uint32_t g = 0; g < use.groups.count; ++g) steps_ = std::max(steps_, rows_of(g));
}

std::uint32_t GroupRows::rows_of(std::uint32_t group) const {
  std::uint32_t rows = 0;
  for (std::uint32_t i = 0; i < owner_.size(); ++i) rows += multiplies(group, i) ? 1 : 0;
  return rows;
}

std::uint32_t GroupRows::keeper(std::uint32_t group, std::uint32_t row) const {
  return use_.groups.column_of(group, row == kNoRow ? 0 : owner_[row]);
}

std::vector<std::uint32_t> GroupRows::keepers() const {
  if (use_.share_elements) return owner_;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t i = 0; i < owner_.size(); ++i) columns.push_back(keeper(group_of_[i], i));
  return columns;
}

std::vector<std::uint32_t> GroupRows::outputs() const {
  std::vector<std::uint32_t> outputs(use_.groups.columns(), 0);
  for (std::uint32_t i = 0; i < owner_.size(); ++i) {
    for (std::uint32_t g = 0; g < use_.groups.count; ++g) {
      if (use_.exchanges || multiplies(g, i)) ++outputs[keeper(g, i)];
    }
  }
  return outputs;
}

std::vector<std::uint32_t> GroupRows::in(RowOrder order) const {
  const std::uint32_t groups = use_.groups.count;
  std::vector<std::uint32_t> row_of(std::size_t{steps_} * groups, kNoRow);
  for (std::uint32_t g = 0; g < groups; ++g) {
    std::vector<std::uint32_t> mine;
    std::vector<std::uint32_t> owner;
    for (std::uint32_t i = 0; i < owner_.size(); ++i) {
      if (!multiplies(g, i)) continue;
      mine.push_back(i);
      owner.push_back(owner_[i]);
    }
    const std::vector<std::uint32_t> turn = order_rows(order, owner, use_.groups.width);
    for (std::size_t s = 0; s < turn.size(); ++s) row_of[s * groups + g] = mine[turn[s]];
  }
  return row_of;
}

std::vector<std::uint32_t> stream_sources(const StreamingParams& ws, const GroupUse& use) {
  std::vector<std::uint32_t> sources;
  if (!use.copies) return sources;
  const std::uint32_t group = at_west_edge(ws) ? 0 : (use.groups.count - 1) / 2;
  for (std::uint32_t c = 0; c < use.groups.columns(); ++c) {
    sources.push_back(use.groups.column_of(group, use.groups.place_of(c)));
  }
  return sources;
}

namespace {

void plan_exchange_of_rows(const StreamingSetup& setup, const GroupUse& use, unsigned first_color,
                           StreamingKernel& kernel) {
  std::vector<std::uint32_t> keeps(use.groups.columns(), 0);
  for (const std::uint32_t keeper : kernel.final_column) ++keeps[keeper];
  const bool in_ring_order = setup.ws.row_order == RowOrder::ring;
  ExchangePlan plan = plan_exchange(
      {use.groups, buses_each_way(setup.ws, use),
       in_ring_order ? ring_order(use.groups.width) : std::vector<std::uint32_t>{}, first_color},
      keeps);
  plan.send_cycles = kernel.exchange.send_cycles;
  plan.take_cycles = kernel.exchange.take_cycles;
  kernel.exchange = std::move(plan);
}

/// What a message says of the groups, of which there are several.
std::string groups_text(const StreamingSetup& setup, const GroupUse& use) {
  if (use.groups.count == 1) return "";
  std::string text = fmt::format(", with {} groups (ws.groups)", use.groups.count);
  if (use.groups.interleaved) text += " that are interleaved (ws.lie)";
  if (!use.exchanges) return text + ",";
  text += use.groups.interleaved ? " and" : " that";
  const std::uint32_t buses = use.groups.interleaved ? 1 : buses_each_way(setup.ws, use);
  return text + fmt::format(" exchange results on {} buses each way (ws.buses),", buses);
}

}  // namespace

Reduction plan_sums(const StreamingSetup& setup, const GroupUse& use, StreamingKernel& kernel) {
  const Reduce kind = setup.ws.reduce;
  const std::uint32_t width = use.groups.width;
  const bool ring = kind == Reduce::ring || (width == 1 && kind != Reduce::idealised);
  if (ring && use.groups.count == 1) return ring_reduction(width);
  const bool exchanges = use.exchanges && !kernel.final_column.empty();
  auto queues = static_cast<unsigned>(setup.queue.in_depths().size());
  // How many rows bring words from the west edge follows from the colors of a core as it is.
  if (at_west_edge(setup.ws)) queues = std::min(queues, kInputQueues);
  const unsigned others = exchanges ? exchange_inputs(use.groups) : 0;  // that a core takes from
  const unsigned ways = exchanges ? std::min(use.groups.count - 1, 2U) : 0;
  if (!ring) queues -= std::min(others, queues);
  Reduction reduction = ring ? ring_reduction(width) : plan_reduction(kind, width, queues);
  const auto need = [&](unsigned needed, std::size_t there, const char* what) {
    if (needed <= there) return;
    throw UnsupportedError(fmt::format(
        "ws.reduce = {} on {} columns{} needs {} {}, of which there are {}",
        setup.ws.reduce.value_text(), width, groups_text(setup, use), needed, what, there));
  };
  const unsigned sums = reduction.colors * (use.groups.interleaved ? use.groups.count : 1);
  need(sums + 1 + use.buses, kColors, "colors");
  need(reduction.inputs + 1 + others, setup.queue.in_depths().size(),
       "input queues in a core (queue.in)");
  need(reduction.outputs + ways, setup.queue.out_depths().size(),
       "output queues in a core (queue.out)");
  if (exchanges) plan_exchange_of_rows(setup, use, 1 + sums, kernel);
  return reduction;
}

}  // namespace lacuna::wse
