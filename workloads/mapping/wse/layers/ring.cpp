// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/ring.hpp"

#include <algorithm>

#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {

CoreRing::CoreRing(std::uint32_t cores, CoreLine::Direction direction)
    : ring_(ring_order(cores)), positions_(ring_positions(ring_)) {
  const bool columns = direction == CoreLine::Direction::columns;
  first_color_ = columns ? 0 : 4;
  first_thread_ = columns ? 1 : 3;
  queue_ = columns ? 0 : 1;
  ahead_ = columns ? kEast : kSouth;
  behind_ = columns ? kWest : kNorth;
}

bool CoreRing::goes_ahead(std::uint32_t position) const {
  return ring_[(position + 1) % ring_.size()] > ring_[position];
}

/// Of the link from a position to the next.
Color CoreRing::color(std::uint32_t position) const {
  const unsigned way = goes_ahead(position) ? 0 : 2;
  return Color{static_cast<std::uint8_t>(first_color_ + way + position % 2)};
}

Color CoreRing::out(std::uint32_t core) const { return color(positions_[core]); }

Color CoreRing::in(std::uint32_t core) const {
  return color((positions_[core] + cores() - 1) % cores());
}

std::uint32_t CoreRing::kind(std::uint32_t core) const {
  return static_cast<std::uint32_t>(in(core)) * kColors + static_cast<std::uint32_t>(out(core));
}

void CoreRing::add_routes(std::uint32_t core, SwitchedRouter& router) const {
  if (cores() == 1) return;
  const auto add = [&](Color color, Port from, Port to) {
    SwitchedRoute route;
    route.color = color;
    route.from = from;
    route.to = bit(to);
    router.routes.push_back(route);
  };
  const std::uint32_t here = positions_[core];
  const std::uint32_t before = (here + cores() - 1) % cores();
  add(out(core), kRamp, goes_ahead(here) ? ahead_ : behind_);
  add(in(core), goes_ahead(before) ? behind_ : ahead_, kRamp);
  // What passes through on its way between neighbours on the ring.
  for (std::uint32_t p = 0; p < cores(); ++p) {
    const std::uint32_t from = ring_[p];
    const std::uint32_t to = ring_[(p + 1) % cores()];
    if (core <= std::min(from, to) || core >= std::max(from, to)) continue;
    add(color(p), from < to ? behind_ : ahead_, from < to ? ahead_ : behind_);
  }
}

void CoreRing::use_queues(std::uint32_t core, CoreProgram& program) const {
  if (cores() == 1) return;
  program.in.push_back({in(core), queue_});
  program.out.push_back({out(core), static_cast<std::uint8_t>(queue_ + 2)});
}

void CoreRing::send(std::uint32_t core, Element element, const Operand& block, std::uint64_t length,
                    CoreCode& code) const {
  code.beside(first_thread_, element, on_fabric(out(core)), block, length);
}

void CoreRing::take(std::uint32_t core, Element element, const Operand& block, std::uint64_t length,
                    CoreCode& code) const {
  code.beside(static_cast<std::uint8_t>(first_thread_ + 1), element, block, on_fabric(in(core)),
              length);
}

void CoreRing::wait(CoreCode& code) const {
  wait_sent(code);
  wait_taken(code);
}

void CoreRing::wait_sent(CoreCode& code) const { code.wait_for(first_thread_); }

void CoreRing::wait_taken(CoreCode& code) const {
  code.wait_for(static_cast<std::uint8_t>(first_thread_ + 1));
}

}  // namespace lacuna::wse
