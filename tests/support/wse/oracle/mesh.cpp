// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/mesh.hpp"

#include <algorithm>
#include <tuple>

#include "sim/base/error.hpp"

namespace lacuna::wse::oracle {

Mesh::Mesh(const RouterParams& params, const Fabric& fabric) : params_(params), fabric_(fabric) {}

void Mesh::build() {
  for (std::size_t place = 0; place < fabric_.size(); ++place) {
    routers_.emplace_back(params_, static_cast<std::uint32_t>(2 * place));
  }
  for (std::size_t place = 0; place < fabric_.size(); ++place) make_buffers(place);
  for (std::size_t place = 0; place < fabric_.size(); ++place) connect(place);
}

Queue* Mesh::add(unsigned capacity, Cycle latency) {
  queues_.emplace_back(capacity, latency);
  return &queues_.back();
}

/// A link of latency L into a buffer of B words holds B + L - 1, those under way included.
Queue* Mesh::add_link(unsigned entries, Cycle latency) {
  return add(entries + static_cast<unsigned>(latency) - 1, latency);
}

Cycle Mesh::hop(Color /*color*/) const { return params_.hop; }

void Mesh::make_buffers(std::size_t place) {
  Router& router = routers_[place];
  const RouterProgram& what = fabric_.router(place);
  for (const Route& route : what.routes) {
    ColorState& color = router.colors[route.color];
    color.positions = std::max(color.positions, route.position + 1U);
    auto buffer =
        std::find_if(router.buffers.begin(), router.buffers.end(), [&](const Buffer& other) {
          return other.color == route.color && other.from == route.from;
        });
    if (buffer == router.buffers.end()) {
      Buffer made;
      made.color = route.color;
      made.from = route.from;
      made.words = words_of(place, route);
      buffer = router.buffers.insert(router.buffers.end(), made);
    }
    buffer->to.at(route.position) = route.to;
  }
  for (const RouterProgram::Rule& rule : what.rules) {
    router.colors[rule.color].ring = rule.ring;
    router.colors[rule.color].pop = rule.pop;
  }
  for (const RouterProgram::Filter& filter : what.filters) {
    router.colors[filter.color].settings = filter.filter;
  }
  std::sort(router.buffers.begin(), router.buffers.end(), [](const Buffer& a, const Buffer& b) {
    return std::tie(a.color, a.from) < std::tie(b.color, b.from);
  });
}

Queue* Mesh::words_of(std::size_t place, const Route& route) {
  if (route.from == kRamp) {
    Queue* const ramp = add_link(params_.entries, params_.ramp);
    add_output(place, route.color, ramp);
    return ramp;
  }
  Queue** const from_outside = entry(place, route);
  if (from_outside == nullptr) return add_link(params_.entries, hop(route.color));
  *from_outside = add_link(params_.entries, 1);
  return *from_outside;
}

void Mesh::connect(std::size_t place) {
  for (Buffer& buffer : routers_[place].buffers) {
    for (const PortSet to : buffer.to) {
      for (unsigned port = 0; port < kPorts; ++port) {
        if ((to >> port & 1U) == 0 || buffer.out.at(port) != nullptr) continue;
        buffer.out.at(port) =
            port == kRamp ? input_queue(place, buffer.color) : onward(place, port, buffer.color);
        if (turns(buffer.from, port)) buffer.out.at(port)->lengthen(params_.turn);
      }
    }
  }
}

/// Each color that comes down has a queue of its own.
Queue* Mesh::input_queue(std::size_t place, Color color) {
  Queue*& queue = inputs_[{place, color}];
  if (queue != nullptr) return queue;
  queue = add_link(in_depth(place, color), params_.ramp + params_.ramp_in);
  add_input(place, color, queue);
  return queue;
}

/// The buffer at the other end of the link at `port`.
Queue* Mesh::onward(std::size_t place, unsigned port, Color color) {
  if (Queue** const outside = exit(place, port, color)) {
    *outside = add_link(params_.entries, hop(color));
    return *outside;
  }
  const std::size_t there = port == kNorth   ? place - fabric_.columns
                            : port == kSouth ? place + fabric_.columns
                            : port == kEast  ? place + 1
                                             : place - 1;
  for (const Buffer& buffer : routers_.at(there).buffers) {
    if (buffer.color == color && buffer.from == opposite(port)) return buffer.words;
  }
  throw InternalError("a route leads nowhere");
}

bool Mesh::is_empty() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.empty(); });
}

void Mesh::route(Cycle now) {
  for (Router& router : routers_) router.cycle(now, events_);
}

void Mesh::end_cycle() {
  for (Queue& queue : queues_) queue.end_cycle();
}

}  // namespace lacuna::wse::oracle
