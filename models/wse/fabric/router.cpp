// SPDX-License-Identifier: Apache-2.0
#include "models/wse/fabric/router.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace lacuna::wse {
namespace {

/// The first of several, as bits.
std::uint32_t first_of(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__builtin_ctz(bits));
}

bool is_multicast(PortSet ports) { return (ports & (ports - 1U)) != 0; }

}  // namespace

const char* port_name(unsigned port) {
  static constexpr std::array<const char*, kPorts> kNames{"north", "east", "south", "west", "ramp"};
  return kNames.at(port);
}

void RouterArray::add(UnitId unit, const std::vector<RouterInput>& inputs) {
  Router router;
  router.unit = unit;
  router.first = static_cast<std::uint32_t>(inputs_.size());
  router.count = static_cast<std::uint32_t>(inputs.size());
  router.set = links_.add_set();
  assert(router.count <= 32);
  for (const RouterInput& input : inputs) {
    links_.put_in_set(input.link, router.set, static_cast<unsigned>(&input - inputs.data()));
    inputs_.push_back(input);
  }
  routers_.push_back(router);
}

Cycle RouterArray::step(std::size_t index, Cycle now) {
  Router& router = routers_[index];
  if (router.accounted > now) return kNever;
  account(index, now);
  router.accounted = now + 1;
  const std::uint32_t heads = find_heads(router, now);
  if (heads == 0) return next_reopening(router, now);
  const bool granted = params_.multicast == Multicast::lockstep ? grant_heads(router, heads, now)
                                                                : grant_ports(router, heads, now);
  const bool left = finish(router, heads, now);
  if ((granted || left) && has_words(router, now + 1)) return now + 1;
  const bool pauses = link_rule_.on_links() || !RampRule::always_open();
  const Cycle opens = pauses ? next_opening(router, heads, now) : kNever;
  return std::min(next_reopening(router, now), opens);
}

/// When the first of the colors opens that a teardown has closed.
Cycle RouterArray::next_reopening(const Router& router, Cycle now) const {
  Cycle next = kNever;
  if (router.reopen <= now) return next;
  for (std::uint32_t i = router.first; i < router.first + router.count; ++i) {
    const ColorSwitch& of = inputs_[i].color_switch;
    if (!of.passes(now)) next = std::min(next, of.reopen);
  }
  return next;
}

/// When the first of the links and ramps opens that are shut and for which a head waits.
Cycle RouterArray::next_opening(const Router& router, std::uint32_t heads, Cycle now) const {
  Cycle next = kNever;
  for (std::uint32_t left = heads; left != 0; left &= left - 1) {
    const RouterInput& input = inputs_[router.first + first_of(left)];
    for (unsigned port = 0; port < kRamp; ++port) {
      const Cycle opens = router.meters.at(port).opens();
      if (input.wants(port) && opens > now) next = std::min(next, opens);
    }
    const Cycle ramp = RampRule::down(now);
    if (input.wants(kRamp) && ramp > now) next = std::min(next, ramp);
  }
  return next;
}

/// Whether a word is there in cycle `at`, of those that have been sent: others wake the router.
bool RouterArray::has_words(const Router& router, Cycle at) const {
  for (std::uint32_t left = filled(router); left != 0; left &= left - 1) {
    if (links_.can_pop(inputs_[router.first + first_of(left)].link, at)) return true;
  }
  return false;
}

void RouterArray::account(std::size_t index, Cycle now) {
  Router& router = routers_[index];
  if (router.accounted >= now) return;
  const Cycle since = std::exchange(router.accounted, now);
  const Cycle slept = now - since;
  for (std::uint32_t left = filled(router); left != 0; left &= left - 1) {
    RouterInput& input = inputs_[router.first + first_of(left)];
    if (!input.waiting) continue;
    count(router, input, false, since, slept);
    if (input.closed) router.counters.closures += slept;
  }
}

/// Counts a head in `now`, and in so many cycles that are like it.
inline void RouterArray::count(Router& router, RouterInput& input, bool leaves, Cycle now,
                               Cycle cycles) {
  using Flag = Lanes<std::int64_t>;
  const auto arrived = [&] {
    unsigned words = 1;
    while (links_.has(input.link, now, words + 1)) ++words;
    return all_lanes<std::int64_t>(words);
  };
  input.counts.cycle(~Flag{}, leaves ? ~Flag{} : Flag{}, arrived);
  for (int i = 0; i < kBufferCounts; ++i) {
    const Flag counted = std::exchange(input.counts.statistic(i), Flag{});
    router.counters.statistic(i)[static_cast<unsigned>(input.color)] +=
        static_cast<std::uint64_t>(counted[0]) * cycles;
  }
}

/// Returns the buffers with a head, as bits, and notes which of them find a row closed.
std::uint32_t RouterArray::find_heads(Router& router, Cycle now) {
  std::uint32_t heads = 0;
  for (std::uint32_t left = filled(router); left != 0; left &= left - 1) {
    const std::uint32_t i = first_of(left);
    RouterInput& input = inputs_[router.first + i];
    if (!links_.can_pop(input.link, now)) continue;
    if (input.need.ports == 0 && input.color_switch.passes(now)) input.need.ports = input.to;
    if (input.need.ports == 0) {  // the switch lets nothing through here
      input.waiting = true;
      count(router, input, false, now);
      continue;
    }
    heads |= 1U << i;
    const bool closed = finds_closed(router, input, now);
    if (closed) {
      ++router.counters.closures;
      if (!input.closed) {
        log_.record(now, router.unit, kClosure, static_cast<std::uint64_t>(input.color));
      }
    }
    input.closed = closed;
  }
  return heads;
}

bool RouterArray::finds_closed(const Router& router, const RouterInput& input, Cycle now) const {
  if (!is_multicast(input.to)) return false;
  const auto wants = static_cast<PortSet>(input.copies.wants(input.need).ports & ways_);
  PortSet open = 0;
  for (const unsigned port : {kSouth, kNorth}) {
    const bool goes = (wants & bit(port)) != 0 && can_send(router, input, port, now);
    if (goes) open = static_cast<PortSet>(open | bit(port));
  }
  return found_closed(input.need.ports, wants, open) != 0;
}

/// Of the candidates, the one with the least key.
std::uint32_t RouterArray::pick(const Router& router, std::uint32_t candidates,
                                std::uint8_t next) const {
  auto best = first_of(candidates);
  if ((candidates & (candidates - 1)) == 0) return best;
  Cycle least = kNever;
  for (std::uint32_t left = candidates; left != 0; left &= left - 1) {
    const auto i = first_of(left);
    const RouterInput& input = inputs_[router.first + i];
    const Cycle key = rule_.key(input.color, next, links_.front_ready(input.link));
    if (key >= least) continue;
    best = i;
    least = key;
  }
  return best;
}

/// Independent copies: each output port chooses by itself.
bool RouterArray::grant_ports(Router& router, std::uint32_t heads, Cycle now) {
  std::array<std::uint32_t, kPorts> candidates{};
  for (std::uint32_t left = heads; left != 0; left &= left - 1) {
    const RouterInput& input = inputs_[router.first + first_of(left)];
    const PortSet wants = input.copies.wants(input.need).ports;
    for (std::uint32_t ports = wants; ports != 0; ports &= ports - 1) {
      const unsigned port = first_of(ports);
      if (can_send(router, input, port, now)) candidates.at(port) |= left & -left;
    }
  }
  bool granted = false;
  for (unsigned port = 0; port < kPorts; ++port) {
    if (candidates.at(port) == 0) continue;
    RouterInput& winner =
        inputs_[router.first + pick(router, candidates.at(port), router.next[port])];
    send(router, winner, port, now);
    router.next[port] = rule_.next(winner.color, router.next[port]);
    granted = true;
  }
  return granted;
}

/// Lockstep: a head moves if all its ports are unused in this cycle and open.
bool RouterArray::grant_heads(Router& router, std::uint32_t heads, Cycle now) {
  PortSet used = 0;
  const std::uint8_t next = router.next_head;
  bool granted = false;
  for (std::uint32_t left = heads; left != 0;) {
    const std::uint32_t i = pick(router, left, next);
    RouterInput& input = inputs_[router.first + i];
    // In turn from `next`, wrapping round: those at or after it go first, then those before it.
    left &= ~(1U << i);
    const PortSet wants = input.copies.wants(input.need).ports;
    bool open = (used & wants) == 0;
    for (unsigned port = 0; open && port < kPorts; ++port) {
      open = !input.wants(port) || can_send(router, input, port, now);
    }
    if (!open) continue;
    used = static_cast<PortSet>(used | wants);
    for (unsigned port = 0; port < kPorts; ++port) {
      if (input.wants(port)) send(router, input, port, now);
    }
    if (!granted) router.next_head = rule_.next(input.color, router.next_head);
    granted = true;
  }
  return granted;
}

void RouterArray::send(Router& router, RouterInput& input, unsigned port, Cycle now) {
  Wavelet word = links_.front(input.link);
  word.switches = input.color_switch.passed_on(word.switches);
  input.copies.make({bit(port)});
  ++router.counters.sent[port];
  router.counters.end = now + 1;
  if (port != kRamp && link_rule_.on_links()) router.meters.at(port).sent(link_rule_, now);
  const auto color = static_cast<std::uint64_t>(input.color);
  log_.record(now, router.unit, kWordOut, color << 8U | port);
  if (log_.keeps(kWordPass)) {
    const std::uint64_t from = input.from;
    log_.record(now, router.unit, kWordPass,
                (now - links_.front_sent(input.link)) << 24U | from << 16U | color << 8U | port);
  }
  if (port == kRamp && !filter_of(router, input.color).passes(word)) {
    ++router.counters.filtered;
    return;
  }
  const Cycle ready = links_.push(input.out[port], now, word, shapes_.turn(input.from, port));
  if (port == kRamp) log_.record(ready, router.unit + 1, kQueuePush, color);
}

/// The one filter that all words of a color pass, by whatever port they came in.
WaveletFilter& RouterArray::filter_of(const Router& router, Color color) {
  std::uint32_t i = router.first;
  while (inputs_[i].color != color) ++i;
  return inputs_[i].filter;
}

/// Lets the heads go that have made all their copies. Returns true if one did.
bool RouterArray::finish(Router& router, std::uint32_t heads, Cycle now) {
  bool left = false;
  for (std::uint32_t those = heads; those != 0; those &= those - 1) {
    RouterInput& input = inputs_[router.first + first_of(those)];
    input.waiting = !input.copies.leave(true, input.need);
    count(router, input, !input.waiting, now);
    if (!input.waiting) {
      const Wavelet word = links_.pop(input.link, now);
      if (word.switches != 0) obey(router, input, word, now);
      input.need = PortWays{};
      input.closed = false;
      left = true;
    }
  }
  return left;
}

/// Moves the switch of the color of `word`, which came in at `from`; this holds from `now` + 1.
void RouterArray::obey(Router& router, const RouterInput& from, const Wavelet& word, Cycle now) {
  const SwitchCommand command = ColorSwitch::command_for(word.switches, from.from);
  if (command == SwitchCommand::none) return;
  for (std::uint32_t i = router.first; i < router.first + router.count; ++i) {
    RouterInput& input = inputs_[i];
    if (input.color != word.color) continue;
    ColorSwitch& moved = input.color_switch;
    moved.obey(command, now, params_.reconfig);
    if (moved.rules.positions > 1) input.to = input.to_at[moved.position];
    router.reopen = std::max(router.reopen, moved.reopen);
  }
}

std::string RouterArray::blocked(std::size_t index, const std::string& name) const {
  const Router& router = routers_[index];
  std::string text;
  for (std::uint32_t i = router.first; i < router.first + router.count; ++i) {
    const RouterInput& input = inputs_[i];
    if (!input.waiting) continue;
    text += fmt::format("{}{}: color {} from {} waits for", text.empty() ? "" : "\n", name,
                        static_cast<unsigned>(input.color), port_name(input.from));
    if (input.need.ports == 0) text += " its switch";
    for (unsigned port = 0; port < kPorts; ++port) {
      if (input.wants(port)) text += fmt::format(" {}", port_name(port));
    }
  }
  return text;
}

}  // namespace lacuna::wse
