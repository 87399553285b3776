// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// Commands that a wavelet has room for.
constexpr std::uint32_t kCommands = 7;

SwitchCommands at_hop(std::uint32_t hops) {
  return static_cast<SwitchCommands>(first_command(SwitchCommand::advance) << (2U * hops));
}

/// Buses of groups that lie side by side.
class SideBySide {
 public:
  explicit SideBySide(const ExchangeShape& shape) : shape_(shape), groups_(shape.groups) {
    plan_.columns.resize(groups_.columns());
  }

  ExchangePlan plan() {
    for (const bool east : {true, false}) {
      for (std::uint32_t group = 0; group < groups_.count; ++group) {
        if (group == (east ? groups_.count - 1 : 0)) continue;  // nobody is there
        for (std::uint32_t part = 0; part < shape_.parts; ++part) add_bus(group, part, east);
      }
    }
    return std::move(plan_);
  }

 private:
  struct Bus {
    bool east = false;
    std::uint32_t number = 0;
    std::uint32_t group = 0;
    std::vector<std::uint32_t> order;  // senders, in the order in which they send
    std::uint32_t begin = 0;           // the westernmost of them
    std::uint32_t end = 0;             // after the easternmost
    std::uint32_t reach = 0;           // the farthest column

    bool carries(std::uint32_t column) const {
      return east ? column >= begin && column <= reach : column >= reach && column < end;
    }
  };

  /// Eastwards from group g the g-th color; westwards that of the buses that begin where these end.
  unsigned color_number(std::uint32_t group, bool east) const {
    if (east) return group;
    if (group + 1 < groups_.count - 1) return group + 1;
    return groups_.count - 1 + (group + 1 == groups_.count && groups_.count > 2 ? 1 : 0);
  }

  /// The senders of a part in the order in which they finish rows. If that order is not given, the
  /// end nearer to the source of the bus comes first.
  std::vector<std::uint32_t> order_of(std::uint32_t begin, std::uint32_t end, bool east) const {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t place : shape_.order) {
      if (place >= begin && place < end) order.push_back(place);
    }
    if (!order.empty()) return order;
    for (std::uint32_t place = begin; place < end; ++place) order.push_back(place);
    if (!east) std::reverse(order.begin(), order.end());
    return order;
  }

  void add_bus(std::uint32_t group, std::uint32_t part, bool east) {
    const std::uint32_t width = groups_.width;
    const std::uint32_t begin = width * part / shape_.parts;
    const std::uint32_t end = width * (part + 1) / shape_.parts;
    if (begin == end) return;
    const std::uint32_t base = group * width;
    Bus bus;
    bus.east = east;
    bus.number = static_cast<std::uint32_t>(plan_.buses.size());
    bus.group = group;
    bus.order = order_of(begin, end, east);
    for (std::uint32_t& sender : bus.order) sender += base;
    bus.begin = base + begin;
    bus.end = base + end;
    bus.reach = east ? (groups_.count - 1) * width + end - 1 : begin;
    const Color color{static_cast<std::uint8_t>(shape_.first_color +
                                                color_number(group, east) * shape_.parts + part)};
    plan_.colors |= 1U << static_cast<unsigned>(color);
    plan_.buses.push_back({color, east, end - begin});
    for (std::uint32_t c = 0; c < groups_.columns(); ++c) {
      if (bus.carries(c)) add_part(bus, c);
    }
    add_commands(bus);
  }

  void add_part(const Bus& bus, std::uint32_t c) {
    ExchangePlan::Column& column = plan_.columns[c];
    const std::uint32_t width = groups_.width;
    ExchangePlan::Part part;
    part.bus = bus.number;
    const bool in_range =
        c % width >= bus.begin % width && c % width < bus.begin % width + bus.end - bus.begin;
    part.sends = in_range && c / width == bus.group;
    part.takes = in_range && !part.sends;
    part.passes = c != bus.reach;
    for (const std::uint32_t sender : bus.order) {
      const bool before = bus.east ? sender < c : sender > c;
      if (part.takes && sender % width == c % width) part.turn = part.upstream;
      if (sender == c) part.turn = part.upstream;
      if (before) ++part.upstream;
    }
    column.parts.push_back(part);
    const std::uint32_t copies = bus.east ? groups_.count - 1 - bus.group : bus.group;
    if (part.sends) column.sends.push_back({bus.number, 0, copies});
    if (part.takes) column.takes.push_back({bus.number, bus.group * width + c % width});
  }

  /// A packet moves the switch of its sender's router back, and that of the router for which it is
  /// the last before the router's own.
  void add_commands(const Bus& bus) {
    for (const std::uint32_t column : bus.order) {
      std::vector<std::uint32_t> seen;  // on this router, in order
      for (const std::uint32_t sender : bus.order) {
        if (bus.east ? sender <= column : sender >= column) seen.push_back(sender);
      }
      if (seen.size() == 1) continue;
      const auto own =
          static_cast<std::size_t>(std::find(seen.begin(), seen.end(), column) - seen.begin());
      const std::uint32_t before = seen[(own + seen.size() - 1) % seen.size()];
      const std::uint32_t hops = std::max(before, column) - std::min(before, column);
      if (hops >= kCommands) {
        throw InternalError(
            fmt::format("bus {}: a command would have to go {} hops", bus.number, hops));
      }
      add_command(column, bus.number, 0);
      add_command(before, bus.number, hops);
    }
  }

  void add_command(std::uint32_t sender, std::uint32_t bus, std::uint32_t hops) {
    std::vector<ExchangePlan::Send>& sends = plan_.columns[sender].sends;
    const auto send = std::find_if(sends.begin(), sends.end(),
                                   [&](const ExchangePlan::Send& s) { return s.bus == bus; });
    send->control = static_cast<SwitchCommands>(send->control | at_hop(hops));
  }

  const ExchangeShape& shape_;
  const ColumnGroups groups_;
  ExchangePlan plan_;
};

/// A bus in each direction among the columns of each place. Columns send in order: the neighbour's
/// packet moves a column's switch, and the column's own packet moves it back.
ExchangePlan interleaved(const ExchangeShape& shape) {
  const ColumnGroups& groups = shape.groups;
  const std::uint32_t last = groups.count - 1;
  ExchangePlan plan;
  plan.columns.resize(groups.columns());
  for (const bool east : {true, false}) {
    const auto number = static_cast<std::uint32_t>(plan.buses.size());
    const Color color{static_cast<std::uint8_t>(shape.first_color + number)};
    plan.colors |= 1U << static_cast<unsigned>(color);
    plan.buses.push_back({color, east, last});
    for (std::uint32_t c = 0; c < groups.columns(); ++c) {
      const std::uint32_t before = east ? groups.group_of(c) : last - groups.group_of(c);
      ExchangePlan::Part part;
      part.bus = number;
      part.sends = part.passes = before != last;
      part.takes = part.every = before != 0;
      part.upstream = part.turn = before;
      plan.columns[c].parts.push_back(part);
      for (std::uint32_t away = before; away != 0; --away) {
        plan.columns[c].takes.push_back({number, east ? c - away : c + away});
      }
      if (!part.sends) continue;
      const unsigned own = before != 0 ? at_hop(0) : 0U;
      const unsigned next = before + 1 != last ? at_hop(1) : 0U;
      plan.columns[c].sends.push_back(
          {number, static_cast<SwitchCommands>(own | next), last - before});
    }
  }
  return plan;
}

}  // namespace

unsigned exchange_colors(const ColumnGroups& groups, std::uint32_t parts) {
  if (groups.count < 2) return 0;
  if (groups.interleaved) return 2;
  return (groups.count == 2 ? 2 : groups.count + 1) * parts;
}

unsigned exchange_inputs(const ColumnGroups& groups) {
  return groups.interleaved ? std::min(groups.count - 1, 2U) : groups.count - 1;
}

ExchangePlan plan_exchange(const ExchangeShape& shape, const std::vector<std::uint32_t>& keeps) {
  ExchangePlan plan = shape.groups.interleaved ? interleaved(shape) : SideBySide(shape).plan();
  for (std::uint32_t c = 0; c < keeps.size(); ++c) plan.columns[c].keeps = keeps[c];
  plan.packets = *std::max_element(keeps.begin(), keeps.end());
  return plan;
}

namespace {

/// What a router does with the words of a bus: those that come past, and its core's own.
void add_part_routes(const ExchangePlan::Bus& bus, const ExchangePlan::Part& part,
                     RouterProgram& router) {
  const PortSet onward = part.passes ? bit(bus.east ? kEast : kWest) : PortSet{0};
  Route through{bus.color, bus.east ? kWest : kEast,
                static_cast<PortSet>(onward | (part.takes ? bit(kRamp) : 0U))};
  Route own{bus.color, kRamp, onward};
  const bool switched = part.sends && part.upstream != 0;
  if (switched) (part.turn == 0 ? through : own).position = 1;
  if (!part.sends || switched) router.routes.push_back(through);
  if (part.sends) router.routes.push_back(own);
  router.rules.push_back({bus.color, switched, true});
  if (part.takes && !part.every) {
    router.filters.push_back({bus.color, WaveletFilter::sparse_counter(1, bus.senders, part.turn)});
  }
}

}  // namespace

void add_exchange_routes(const ExchangePlan& plan, std::vector<RouterProgram>& routers) {
  for (std::uint32_t c = 0; c < plan.columns.size(); ++c) {
    for (const ExchangePlan::Part& part : plan.columns[c].parts) {
      add_part_routes(plan.buses[part.bus], part, routers[c]);
    }
  }
}

}  // namespace lacuna::wse
