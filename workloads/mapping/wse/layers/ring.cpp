// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/ring.hpp"

#include <algorithm>

namespace lacuna::wse {

CoreRing::CoreRing(std::uint32_t cores, Direction direction)
    : RingLine(cores, direction == Direction::columns ? 0 : 4),
      direction_(direction),
      sender_(direction == Direction::columns ? 1 : 3),
      taker_(direction == Direction::columns ? 2 : 4),
      slot_(direction == Direction::columns ? 0 : 1) {}

std::uint32_t CoreRing::kind(std::uint32_t core) const {
  if (cores() == 1) return 0;
  return static_cast<std::uint32_t>(in(core)) * kColors + static_cast<std::uint32_t>(out(core));
}

void CoreRing::route(TaskBuilder& builder, std::size_t place, std::uint32_t core) const {
  if (cores() == 1) return;
  const std::uint32_t at = core % cores();
  const Port ahead = ahead_of(direction_);
  const Port behind = behind_of(direction_);
  for (std::uint32_t p = 0; p < cores(); ++p) {
    const std::uint32_t from = core_at(p);
    const std::uint32_t to = core_at(p + 1);
    // what passes through on its way between neighbours on the ring, begins or ends here
    if (at < std::min(from, to) || at > std::max(from, to)) continue;
    const Port comes = at == from ? kRamp : from < to ? behind : ahead;
    const Port goes = at == to ? kRamp : from < to ? ahead : behind;
    builder.route(place, color(p), comes, bit(goes));
  }
}

void CoreRing::send(CoreCode& code, std::uint32_t core, Element element, const Operand& block,
                    std::uint64_t length) const {
  if (cores() == 1) return;
  code.send(out(core), slot_);
  code.beside(sender_, element, on_fabric(out(core)), block, length);
}

void CoreRing::take(CoreCode& code, std::uint32_t core, Element element, const Operand& block,
                    std::uint64_t length) const {
  if (cores() == 1) return;
  code.take(in(core), slot_);
  code.beside(taker_, element, block, on_fabric(in(core)), length);
}

void CoreRing::shift(CoreCode& code, std::uint32_t core, std::uint32_t from, std::uint32_t to,
                     std::uint32_t halves) const {
  send(code, core, Element::fp16, in_memory(from), halves);
  take(code, core, Element::fp16, in_memory(to), halves);
}

void CoreRing::wait(CoreCode& code) const {
  wait_sent(code);
  wait_taken(code);
}

void CoreRing::wait_sent(CoreCode& code) const {
  if (cores() != 1) code.wait_for(sender_);
}

void CoreRing::wait_taken(CoreCode& code) const {
  if (cores() != 1) code.wait_for(taker_);
}

}  // namespace lacuna::wse
