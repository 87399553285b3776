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

class Planner {
 public:
  explicit Planner(const ExchangeShape& shape)
      : shape_(shape), width_(shape.columns / shape.groups) {
    plan_.columns.resize(shape.columns);
  }

  ExchangePlan plan(const std::vector<std::uint32_t>& keeps) {
    for (const bool east : {true, false}) {
      for (std::uint32_t group = 0; group < shape_.groups; ++group) {
        if (group == (east ? shape_.groups - 1 : 0)) continue;  // nobody is there
        for (std::uint32_t part = 0; part < shape_.parts; ++part) add_bus(group, part, east);
      }
    }
    for (std::uint32_t c = 0; c < shape_.columns; ++c) plan_.columns[c].keeps = keeps[c];
    plan_.packets = *std::max_element(keeps.begin(), keeps.end());
    return std::move(plan_);
  }

 private:
  /// Eastwards from group g the g-th color; westwards that of the buses that begin where these end.
  unsigned color_number(std::uint32_t group, bool east) const {
    if (east) return group;
    if (group + 1 < shape_.groups - 1) return group + 1;
    return shape_.groups - 1 + (group + 1 == shape_.groups && shape_.groups > 2 ? 1 : 0);
  }

  /// The senders of a part in the order in which they finish rows, or if that is not said, from the
  /// end that is nearer to where the bus comes from.
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
    const std::uint32_t begin = width_ * part / shape_.parts;
    const std::uint32_t end = width_ * (part + 1) / shape_.parts;
    if (begin == end) return;
    const std::uint32_t base = group * width_;
    ExchangePlan::Bus bus;
    bus.color = Color{static_cast<std::uint8_t>(shape_.first_color +
                                                color_number(group, east) * shape_.parts + part)};
    bus.east = east;
    bus.order = order_of(begin, end, east);
    for (std::uint32_t& sender : bus.order) sender += base;
    bus.begin = base + begin;
    bus.reach = east ? (shape_.groups - 1) * width_ + end - 1 : begin;
    bus.copies = east ? shape_.groups - 1 - group : group;
    plan_.colors |= 1U << static_cast<unsigned>(bus.color);
    const auto number = static_cast<std::uint32_t>(plan_.buses.size());
    plan_.buses.push_back(bus);
    for (std::uint32_t c = 0; c < shape_.columns; ++c) {
      if (bus.carries(c)) add_part(bus, number, group, c);
    }
    add_commands(bus, number);
  }

  void add_part(const ExchangePlan::Bus& bus, std::uint32_t number, std::uint32_t group,
                std::uint32_t c) {
    ExchangePlan::Column& column = plan_.columns[c];
    ExchangePlan::Part part;
    part.bus = number;
    const bool in_range =
        c % width_ >= bus.begin % width_ && c % width_ < bus.begin % width_ + bus.senders();
    part.sends = in_range && c / width_ == group;
    part.takes = in_range && !part.sends;
    part.passes = c != bus.reach;
    for (const std::uint32_t sender : bus.order) {
      const bool before = bus.east ? sender < c : sender > c;
      if (part.takes && sender % width_ == c % width_) part.turn = part.upstream;
      if (sender == c) part.turn = part.upstream;
      if (before) ++part.upstream;
    }
    column.parts.push_back(part);
    if (part.sends) column.sends.push_back(number);
    if (part.takes) column.takes.push_back(number);
  }

  /// A packet moves the switch of its sender's router back, and that of the router for which it is
  /// the last before the router's own.
  void add_commands(const ExchangePlan::Bus& bus, std::uint32_t number) {
    const SwitchCommands advance = first_command(SwitchCommand::advance);
    const auto commands_of = [&](std::uint32_t column) -> SwitchCommands& {
      return plan_.columns[column].control.back();
    };
    for (const std::uint32_t sender : bus.order) plan_.columns[sender].control.push_back(0);
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
            fmt::format("bus {}: a command would have to go {} hops", number, hops));
      }
      commands_of(column) = static_cast<SwitchCommands>(commands_of(column) | advance);
      commands_of(before) =
          static_cast<SwitchCommands>(commands_of(before) | advance << (2U * hops));
    }
  }

  const ExchangeShape shape_;
  const std::uint32_t width_;
  ExchangePlan plan_;
};

}  // namespace

unsigned exchange_colors(std::uint32_t groups, std::uint32_t parts) {
  if (groups < 2) return 0;
  return (groups == 2 ? 2 : groups + 1) * parts;
}

ExchangePlan plan_exchange(const ExchangeShape& shape, const std::vector<std::uint32_t>& keeps) {
  return Planner(shape).plan(keeps);
}

void add_exchange_routes(const ExchangePlan& plan, std::vector<RouterProgram>& routers) {
  for (std::uint32_t c = 0; c < plan.columns.size(); ++c) {
    for (const ExchangePlan::Part& part : plan.columns[c].parts) {
      const ExchangePlan::Bus& bus = plan.buses[part.bus];
      const PortSet onward = part.passes ? bit(bus.east ? kEast : kWest) : PortSet{0};
      Route through{bus.color, bus.east ? kWest : kEast,
                    static_cast<PortSet>(onward | (part.takes ? bit(kRamp) : 0U))};
      Route own{bus.color, kRamp, onward};
      through.pops = own.pops = true;
      if (part.takes) {
        through.filter = WaveletFilter::sparse_counter(1, bus.senders(), part.turn);
      }
      if (part.sends && part.upstream != 0) {
        through.positions = own.positions = 2;
        Route& second = part.turn == 0 ? through : own;
        std::swap(second.to, second.other);
      }
      if (!part.sends || part.upstream != 0) routers[c].routes.push_back(through);
      if (part.sends) routers[c].routes.push_back(own);
    }
  }
}

}  // namespace lacuna::wse
