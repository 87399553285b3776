// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/mesh_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "models/wse/engine/tasks/queue_use.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// What the cores of a program have beside its routes.
struct MeshUse {
  struct Out {
    unsigned number = 0;  // colors with the same one share a queue
    unsigned depth = 0;
  };

  /// The queues in which words of a color wait for a core, and to be sent by it.
  std::function<unsigned(std::size_t core, Color color)> in_depth;
  std::function<Out(std::size_t core, Color color)> out;
  /// Whether words come from outside, though there is a neighbour.
  std::function<bool(std::size_t core, const Route& route)> enters;
};

[[noreturn]] void refuse(const Fabric& fabric, const MeshPlan::Edge& way, const char* verb) {
  throw InternalError(fmt::format("router ({}, {}) {} color {} {}, where nothing is to meet it",
                                  way.core % fabric.columns, way.core / fabric.columns, verb,
                                  static_cast<unsigned>(way.color), port_name(way.port)));
}

class Builder {
 public:
  Builder(const RouterParams& router, const Fabric& fabric, MeshUse use, LinkArray& links)
      : shapes_(router), fabric_(fabric), use_(std::move(use)), links_(links) {}

  MeshPlan build() {
    plan_.inputs.resize(fabric_.size());
    plan_.ports.resize(fabric_.size());
    for (std::size_t core = 0; core < fabric_.size(); ++core) make_buffers(core);
    for (std::size_t core = 0; core < fabric_.size(); ++core) join(core);
    return std::move(plan_);
  }

 private:
  static UnitId router(std::size_t core) { return static_cast<UnitId>(2 * core); }

  /// Outside, in the row of units after the last: whoever is there.
  UnitId outside(std::size_t core) const {
    return router(fabric_.size()) + static_cast<UnitId>(core % fabric_.columns);
  }

  void make_buffers(std::size_t core) {
    CorePorts& ports = plan_.ports[core];
    ports.unit = router(core) + 1;
    ports.row = static_cast<std::uint32_t>(core / fabric_.columns);
    ports.column = static_cast<std::uint32_t>(core % fabric_.columns);
    std::vector<RouterInput>& inputs = plan_.inputs[core];
    out_queues_.clear();
    for (const Route& route : fabric_.router(core).routes) add_route(route, core);
    for (RouterInput& input : inputs) finish(input, fabric_.router(core), inputs);
    std::sort(inputs.begin(), inputs.end(), [](const RouterInput& a, const RouterInput& b) {
      return std::tie(a.color, a.from) < std::tie(b.color, b.from);
    });
  }

  void add_route(const Route& route, std::size_t core) {
    std::vector<RouterInput>& inputs = plan_.inputs[core];
    auto input = std::find_if(inputs.begin(), inputs.end(), [&](const RouterInput& other) {
      return other.color == route.color && other.from == route.from;
    });
    if (input == inputs.end()) {
      input = inputs.insert(inputs.end(), RouterInput());
      input->color = route.color;
      input->from = route.from;
      input->link = route.from == kRamp ? ramp_up(route, core) : make_buffer(route, core);
    }
    input->to_at.at(route.position) = route.to;
    const auto positions = static_cast<std::uint8_t>(route.position + 1U);
    input->color_switch.rules.positions = std::max(input->color_switch.rules.positions, positions);
  }

  /// All buffers of a color share one switch, which begins at position 0.
  static void finish(RouterInput& input, const RouterProgram& what,
                     const std::vector<RouterInput>& inputs) {
    for (const RouterInput& other : inputs) {
      if (other.color != input.color) continue;
      input.color_switch.rules.positions =
          std::max(input.color_switch.rules.positions, other.color_switch.rules.positions);
    }
    for (const RouterProgram::Rule& rule : what.rules) {
      if (rule.color != input.color) continue;
      input.color_switch.rules.ring = rule.ring;
      input.color_switch.rules.pop = rule.pop;
    }
    for (const RouterProgram::Filter& filter : what.filters) {
      if (filter.color == input.color) input.filter = filter.filter;
    }
    input.to = input.to_at[0];
  }

  LinkId ramp_up(const Route& route, std::size_t core) {
    const UnitId unit = router(core) + 1;
    const LinkId ramp = links_.add(shapes_.ramp_up(), unit, router(core));
    const MeshUse::Out out = use_.out(core, route.color);
    const auto [queue, is_new] = out_queues_.try_emplace(out.number, kNoLink);
    if (is_new) queue->second = links_.add(QueueShapes::output(out.depth), unit, unit);
    plan_.ports[core].out.push_back({route.color, queue->second, ramp});
    return ramp;
  }

  LinkId make_buffer(const Route& route, std::size_t core) {
    const std::optional<std::size_t> there = fabric_.neighbour(core, route.from);
    if (there && !use_.enters(core, route)) {
      return links_.add(link_from(*there, opposite(route.from), route.color), router(*there),
                        router(core));
    }
    const LinkId link = links_.add(shapes_.inlet(), outside(core), router(core));
    plan_.inlets.push_back({core, route.color, route.from, link});
    return link;
  }

  /// Into the buffer of a color behind a port of a router.
  QueueShape link_from(std::size_t core, unsigned port, Color color) const {
    for (const Route& route : fabric_.router(core).routes) {
      const bool leads = route.color == color && (route.to & bit(port)) != 0;
      if (leads && QueueShapes::turns(route.from, port)) {
        return shapes_.link_behind_turn(port, color);
      }
    }
    return shapes_.link(port, color);
  }

  void join(std::size_t core) {
    for (RouterInput& input : plan_.inputs[core]) {
      PortSet used = 0;
      for (const PortSet to : input.to_at) used = static_cast<PortSet>(used | to);
      for (unsigned port = 0; port < kPorts; ++port) {
        if ((used & bit(port)) == 0) continue;
        input.out[port] = port == kRamp ? ramp_down(input, core) : onward(input, port, core);
      }
    }
  }

  /// One queue for each color, whatever port its words come from.
  LinkId ramp_down(const RouterInput& input, std::size_t core) {
    CorePorts& ports = plan_.ports[core];
    const LinkId known = queue_of(ports.in, input.color);
    if (known != kNoLink) return known;
    const unsigned depth = use_.in_depth(core, input.color);
    const LinkId link = links_.add(shapes_.ramp_down(depth), router(core), ports.unit);
    ports.in.push_back({input.color, link});
    return link;
  }

  LinkId onward(const RouterInput& input, unsigned port, std::size_t core) {
    const std::optional<std::size_t> there = fabric_.neighbour(core, port);
    if (!there) {
      const LinkId link =
          links_.add(link_from(core, port, input.color), router(core), outside(core));
      plan_.outlets.push_back({core, input.color, port, link});
      return link;
    }
    for (const RouterInput& next : plan_.inputs[*there]) {
      if (next.color == input.color && next.from == opposite(port)) return next.link;
    }
    refuse(fabric_, {core, input.color, port}, "sends");
  }

  const QueueShapes shapes_;
  const Fabric& fabric_;
  const MeshUse use_;
  LinkArray& links_;
  std::map<unsigned, LinkId> out_queues_;  // of the core being made, by number
  MeshPlan plan_;
};

}  // namespace

MeshPlan build_mesh(const HardwareParams& params, const Program& program, LinkArray& links) {
  const auto is_stream = [&](std::size_t core, Color color) {
    return color == program.kernel.stream_color(core % program.columns);
  };
  MeshUse use;
  use.in_depth = [&, stream = params.queue.stream(), sums = params.queue.sums_in()](
                     std::size_t core, Color color) {
    return is_stream(core, color) ? stream : sums;
  };
  use.out = [depth = params.queue.sums_out()](std::size_t /*core*/, Color color) {
    return MeshUse::Out{static_cast<unsigned>(color), depth};
  };
  use.enters = [&](std::size_t core, const Route& route) {
    return core / program.columns == program.entry && route.from == kNorth &&
           is_stream(core, route.color) && program.distribution_rows == 0;
  };
  return Builder(params.router, program, std::move(use), links).build();
}

std::vector<LinkId> injector_links(const Program& program, const MeshPlan& plan) {
  std::vector<LinkId> links(program.columns + program.background.size(), kNoLink);
  const bool from_west = program.distribution_rows != 0 && !program.from_north;
  for (const MeshPlan::Edge& way : plan.inlets) {
    std::size_t place = way.core % program.columns;
    if (from_west && way.port == kWest) {
      // Of the columns whose words come from the west edge on this row, the one with this color.
      const std::size_t row = way.core / program.columns;
      while (program.edge_row[place] != row || program.kernel.stream_color(place) != way.color) {
        ++place;
      }
    }
    for (std::size_t k = 0; k < program.background.size(); ++k) {
      const Background& other = program.background[k];
      if (other.column == place && other.color == way.color) place = program.columns + k;
    }
    links[place] = way.link;
  }
  return links;
}

std::vector<LinkId> outlet_links(const Program& program, const MeshPlan& plan) {
  std::vector<LinkId> links(program.outlets.size(), kNoLink);
  for (const MeshPlan::Edge& way : plan.outlets) {
    const auto here = [&](const Outlet& outlet) {
      return outlet.row * std::size_t{program.columns} + outlet.column == way.core &&
             outlet.port == way.port && outlet.color == way.color;
    };
    const auto found = std::find_if(program.outlets.begin(), program.outlets.end(), here);
    if (found == program.outlets.end()) refuse(program, way, "sends");
    links[static_cast<std::size_t>(found - program.outlets.begin())] = way.link;
  }
  return links;
}

MeshPlan build_mesh(const TaskParams& params, const TaskProgram& program, LinkArray& links) {
  const auto depth = [](const std::vector<unsigned>& depths, unsigned queue, const char* kind) {
    if (queue < depths.size()) return depths[queue];
    throw InternalError(
        fmt::format("a program uses {} queue {} of {}", kind, queue, depths.size()));
  };
  const auto core_at = [&](std::size_t core) -> const CoreProgram& {
    return program.cores[program.core_of[core]];
  };
  MeshUse use;
  use.in_depth = [&, depths = params.queue.in_depths()](std::size_t core, Color color) {
    return depth(depths, in_queue(core_at(core), color), "input");
  };
  use.out = [&, depths = params.queue.out_depths()](std::size_t core, Color color) {
    const unsigned number = out_queue(core_at(core), color);
    return MeshUse::Out{number, depth(depths, number, "output")};
  };
  use.enters = [](std::size_t /*core*/, const Route& /*route*/) { return false; };
  MeshPlan plan = Builder(params.router, program, std::move(use), links).build();
  if (!plan.inlets.empty()) refuse(program, plan.inlets.front(), "takes");
  if (!plan.outlets.empty()) refuse(program, plan.outlets.front(), "sends");
  return plan;
}

}  // namespace lacuna::wse
