// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/mesh_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

class Builder {
 public:
  Builder(const HardwareParams& params, const Program& program, LinkArray& links)
      : shapes_(params.router),
        stream_(params.queue.stream()),
        sums_in_(params.queue.sums_in()),
        sums_out_(params.queue.sums_out()),
        program_(program),
        links_(links) {}

  MeshPlan build() {
    plan_.inputs.resize(std::size_t{program_.rows} * program_.columns);
    plan_.ports.resize(plan_.inputs.size());
    plan_.injectors.assign(program_.columns + program_.background.size(), kNoLink);
    plan_.outlets.assign(program_.outlets.size(), kNoLink);
    for_each_core([this](std::size_t r, std::size_t c) { make_buffers(r, c); });
    for_each_core([this](std::size_t r, std::size_t c) { join(r, c); });
    return std::move(plan_);
  }

 private:
  template <class Visit>
  void for_each_core(const Visit& visit) const {
    for (std::size_t r = 0; r < program_.rows; ++r) {
      for (std::size_t c = 0; c < program_.columns; ++c) visit(r, c);
    }
  }

  UnitId router(std::size_t r, std::size_t c) const { return router_unit(program_.columns, r, c); }

  /// The router at the other end of a port, kNoUnit outside the mesh.
  UnitId neighbour(std::size_t r, std::size_t c, unsigned port) const {
    if (port == kNorth) return r == 0 ? kNoUnit : router(r - 1, c);
    if (port == kSouth) return r + 1 == program_.rows ? kNoUnit : router(r + 1, c);
    if (port == kWest) return c == 0 ? kNoUnit : router(r, c - 1);
    return c + 1 == program_.columns ? kNoUnit : router(r, c + 1);
  }

  bool is_stream(Color color, std::size_t c) const {
    return color == program_.kernel.stream_color(c);
  }
  bool from_west() const { return program_.spread_rows != 0 && !program_.from_north; }

  /// Of the columns whose words come from the west edge on a row, the one with this color.
  std::size_t column_of(std::size_t r, Color color) const {
    std::size_t c = 0;
    while (program_.edge_row[c] != r || !is_stream(color, c)) ++c;
    return c;
  }

  void make_buffers(std::size_t r, std::size_t c) {
    const std::size_t place = r * program_.columns + c;
    CorePorts& ports = plan_.ports[place];
    ports.unit = router(r, c) + 1;
    ports.row = static_cast<std::uint32_t>(r);
    ports.column = static_cast<std::uint32_t>(c);
    std::vector<RouterInput>& inputs = plan_.inputs[place];
    for (const Route& route : program_.router(r, c).routes) {
      RouterInput input;
      input.color = route.color;
      input.from = route.from;
      input.to = route.to;
      input.color_switch.rules = {route.positions, route.positions > 1, route.pops};
      input.to_at = {route.to, route.other};
      input.filter = route.filter;
      input.link = make_buffer(route, r, c);
      inputs.push_back(input);
      if (route.from == kRamp) {
        ports.ramp_up = input.link;
        ports.ring_out = links_.add(QueueShapes::output(sums_out_), ports.unit, ports.unit);
        ports.out.push_back({route.color, ports.ring_out, ports.ramp_up});
      }
    }
    std::sort(inputs.begin(), inputs.end(), [](const RouterInput& a, const RouterInput& b) {
      return std::tie(a.color, a.from) < std::tie(b.color, b.from);
    });
  }

  LinkId make_buffer(const Route& route, std::size_t r, std::size_t c) {
    const UnitId here = router(r, c);
    if (route.from == kRamp) return links_.add(shapes_.ramp_up(), here + 1, here);
    const UnitId there = neighbour(r, c, route.from);
    const bool enters = r == program_.entry && route.from == kNorth && is_stream(route.color, c) &&
                        program_.spread_rows == 0;
    if (there != kNoUnit && !enters) {
      return links_.add(link_from(there, opposite(route.from), route.color), there, here);
    }
    const bool west = from_west() && route.from == kWest;
    const auto injector =
        static_cast<UnitId>(router(program_.rows, 0) + (west ? column_of(r, route.color) : c));
    const LinkId link = links_.add(shapes_.inlet(), injector, here);
    if (west) plan_.injectors[column_of(r, route.color)] = link;
    if (route.from != kNorth) return link;
    std::size_t place = c;
    for (std::size_t k = 0; k < program_.background.size(); ++k) {
      const Background& other = program_.background[k];
      if (other.column == c && other.color == route.color) place = program_.columns + k;
    }
    plan_.injectors[place] = link;
    return link;
  }

  /// Into the buffer of a color behind a port of a router.
  QueueShape link_from(UnitId from, unsigned port, Color color) const {
    for (const Route& route : program_.routers[program_.router_of[from / 2]].routes) {
      const bool leads = route.color == color && ((route.to | route.other) & bit(port)) != 0;
      if (leads && QueueShapes::turns(route.from, port)) return shapes_.link_behind_turn(port);
    }
    return shapes_.link(port);
  }

  void join(std::size_t r, std::size_t c) {
    for (RouterInput& input : plan_.inputs[r * program_.columns + c]) {
      for (unsigned port = 0; port < kPorts; ++port) {
        if (((input.to | input.to_at[1]) & bit(port)) == 0) continue;
        input.out[port] = port == kRamp ? ramp_down(input, r, c) : onward(input, port, r, c);
      }
    }
  }

  LinkId ramp_down(const RouterInput& input, std::size_t r, std::size_t c) {
    CorePorts& ports = plan_.ports[r * program_.columns + c];
    for (const CorePort& port : ports.in) {
      if (port.color == input.color) return port.queue;
    }
    const bool weights = is_stream(input.color, c);
    const unsigned depth = weights ? stream_ : sums_in_;
    const LinkId link = links_.add(shapes_.ramp_down(depth), router(r, c), ports.unit);
    (weights ? ports.weights : ports.ring_in) = link;
    ports.in.push_back({input.color, link, kNoLink});
    return link;
  }

  LinkId onward(const RouterInput& input, unsigned port, std::size_t r, std::size_t c) {
    const UnitId there = neighbour(r, c, port);
    if (there != kNoUnit) {
      for (const RouterInput& next : plan_.inputs[there / 2]) {
        if (next.color == input.color && next.from == opposite(port)) return next.link;
      }
    }
    for (std::size_t k = 0; k < program_.outlets.size() && there == kNoUnit; ++k) {
      const Outlet& outlet = program_.outlets[k];
      if (outlet.row != r || outlet.column != c || outlet.port != port) continue;
      if (outlet.color != input.color) continue;
      const auto unit = static_cast<UnitId>(router(program_.rows, 0) + program_.columns + k);
      plan_.outlets[k] = links_.add(link_from(router(r, c), port, input.color), router(r, c), unit);
      return plan_.outlets[k];
    }
    throw InternalError(fmt::format("router ({}, {}) sends color {} {}, where nothing takes it", c,
                                    r, static_cast<unsigned>(input.color), port_name(port)));
  }

  const QueueShapes shapes_;
  const unsigned stream_;  // depths of queues
  const unsigned sums_in_;
  const unsigned sums_out_;
  const Program& program_;
  LinkArray& links_;
  MeshPlan plan_;
};

}  // namespace

MeshPlan build_mesh(const HardwareParams& params, const Program& program, LinkArray& links) {
  return Builder(params, program, links).build();
}

}  // namespace lacuna::wse
